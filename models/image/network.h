#ifndef LFIW_MODELS_IMAGE_NETWORK_H_
#define LFIW_MODELS_IMAGE_NETWORK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/run/progress.h"
#include "models/image/device.h"
#include "models/image/layers.h"

namespace lfiw::models {

// The numbers of a network beside their layout. They stay on the host; a pass on another device
// works on a copy.
struct Network {
  NetworkLayout layout;
  VectorF parameters;
  VectorF state;

  // Initial values; call when all layers have claimed their tensors.
  void Draw(const Stream& stream);
  // A pass that reads these numbers, without gradients by them.
  Pass MakePass(PassMode mode, at::Device device) const;

  // Arrays "<prefix>.parameters", ".state" (left out when there is none). Load throws DataError
  // when their sizes are not this network's.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);
};

// What the body of a step returns for its chunk of the batch: its part of the loss (a scalar; the
// loss is the sum over chunks) and of any figures to report, summed likewise.
struct ChunkLoss {
  at::Tensor loss;
  std::vector<double> figures;
};

struct StepGradient {
  VectorF gradient;
  std::vector<double> figures;
};

// The gradient of a loss by the parameters of `network`, whose state moves to the mean over chunks
// of what they observed. Every chunk is one task; sums run in the order of the chunks, so the
// threads do not show in the result. body(chunk, pass) must not change anything shared.
StepGradient ChunkedGradient(Network& network, at::Device device, std::int64_t chunks,
                             const std::function<ChunkLoss(std::int64_t, Pass&)>& body);

// Lets the running moments of batch norm follow the parameters as they are now, by passes in
// training mode one after another: apply(pass number, pass) applies the network to a batch. They
// then hold what such batches show, and nearly nothing (2e-5) of what was before.
void SettleState(Network& network, at::Device device,
                 const std::function<void(std::int64_t, Pass&)>& apply);

// The part of `count` things that falls to a chunk: [begin, end).
std::pair<std::int64_t, std::int64_t> ChunkRange(std::int64_t count, std::int64_t chunks,
                                                 std::int64_t chunk);

at::Device TorchDevice(Device resolved);

// Makes images in parallel: body(begin, end) for blocks of [0, count). `progress` may be null.
// Throws Interrupted when the user interrupts.
void SampleBlocks(std::int64_t count, std::int64_t block, Progress* progress,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

// `n` indices below `count`, drawn with replacement.
std::vector<std::int64_t> DrawIndices(Stream stream, std::int64_t n, std::int64_t count);

// Images as float [n, channels, height, width]; 0 .. 255 becomes -1 .. 1.
at::Tensor ImageTensor(const ImageBatch& images, std::span<const std::int64_t> indices);
// Standard normal noise [n, dim]; row i is from the stream's child indices[i].
at::Tensor NoiseTensor(const Stream& stream, std::span<const std::int64_t> indices,
                       std::int64_t dim);
// Writes images in [-1, 1] from `first` on, rounded to bytes.
void StoreImages(const at::Tensor& tensor, std::int64_t first, ImageBatch& images);
// A batch of black images.
ImageBatch EmptyImages(std::int64_t count, std::int64_t height, std::int64_t width,
                       std::int64_t channels);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_NETWORK_H_
