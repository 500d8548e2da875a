#ifndef LFIW_MODELS_IMAGE_PIXEL_CNN_H_
#define LFIW_MODELS_IMAGE_PIXEL_CNN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/fit.h"
#include "models/image/training.h"

namespace lfiw::models {

// The defaults are the published ones for CIFAR-10 (openai/pixel-cnn).
struct PixelCnnOptions {
  std::int64_t filters = 160;    // channels of every layer
  std::int64_t blocks = 5;       // gated residual blocks of a resolution
  std::int64_t levels = 3;       // resolutions, each half of the one before
  std::int64_t components = 10;  // logistics of a mixture
  double dropout = 0.5;
  double rate_decay = 0.999995;     // factor of the learning rate per step
  double average_decay = 0.9995;    // of the running mean of parameters, which is what samples
  std::int64_t initial_batch = 64;  // images that set the first scales and biases
  ImageTrainingOptions training = {
      .steps = 1'200'000,
      .batch = 128,
      .chunks = 1,
      .adam = {.learning_rate = 1e-3, .beta1 = 0.95, .beta2 = 0.9995},
  };

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("filters", filters, "channels of every layer", AtLeast(1));
    v.Field("blocks", blocks, "gated residual blocks of a resolution", AtLeast(1));
    v.Field("levels", levels, "resolutions, each half of the one before", Between(1, 5));
    v.Field("components", components, "logistics of a mixture", AtLeast(1));
    v.Field("dropout", dropout, "rate of dropout in residual blocks", Between(0.0, 0.99));
    v.Field("rate_decay", rate_decay, "factor of the learning rate per step", Between(0.0, 1.0));
    v.Field("average_decay", average_decay, "decay of the mean of parameters", Between(0.0, 1.0));
    v.Field("initial_batch", initial_batch, "images that set the first scales", AtLeast(2));
    v.Field("training", training, "steps, batch and optimizer");
  }
};

// PixelCNN++ (Salimans et al. 2017): pixel after pixel, a mixture of logistics given all pixels
// before it.
class PixelCnn {
 public:
  // An untrained one. Throws ConfigError unless channels are 1 or 3 and 2^(levels - 1) divides the
  // sides.
  PixelCnn(const PixelCnnOptions& options, std::int64_t channels, std::int64_t height,
           std::int64_t width, const Stream& stream);
  ~PixelCnn();
  PixelCnn(PixelCnn&&) noexcept;
  PixelCnn& operator=(PixelCnn&&) noexcept;

  // Log-probability in nats of every image [count]. Throws DataError for images of other sizes.
  std::vector<double> LogProbability(const ImageBatch& images) const;
  // The mean of -log2 probability per byte.
  double BitsPerDimension(const ImageBatch& images) const;

  // Images first .. first + count - 1 of a sequence without end: image i depends on the stream and
  // on i. `progress` advances by images and may be null. Throws Interrupted when the user
  // interrupts.
  ImageBatch Sample(const Stream& stream, std::int64_t first, std::int64_t count,
                    Progress* progress = nullptr) const;

  // The distribution of each pixel of an image given those before it: mixture parameters
  // [height * width, parameters] (models/image/logistic_mixture.h).
  MatrixF PixelDistributions(const ImageBatch& images, std::int64_t image) const;

  // Array "<prefix>.parameters". Load throws DataError unless the file is of a model with the same
  // options and sizes.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);

 private:
  friend class PixelCnnTraining;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct PixelCnnFit {
  PixelCnn model;           // with averaged parameters
  TrainingHistory history;  // bits_per_dimension, held_out_bits_per_dimension
};

// Trains on images; `held_out`, which may have none, is only measured, at every entry of the
// history, so a few hundred images do. Throws ConfigError for sizes that do not fit, and as Train.
PixelCnnFit TrainPixelCnn(const ImageBatch& images, const ImageBatch& held_out,
                          const PixelCnnOptions& options, std::uint64_t seed, const FitJob& job);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_PIXEL_CNN_H_
