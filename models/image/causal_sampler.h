#ifndef LFIW_MODELS_IMAGE_CAUSAL_SAMPLER_H_
#define LFIW_MODELS_IMAGE_CAUSAL_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "models/image/causal_graph.h"

namespace lfiw::models {

// The filters of a causal graph as matrices: taps[i * width + j] is [in, out].
struct CausalFilter {
  std::vector<MatrixF> taps;
  Eigen::RowVectorXf bias;
};

// Draws a pixel of every image from the network's outputs there: outputs [count, outputs] -> bytes
// [count, channels].
using CausalPixelSource =
    std::function<void(const ConstMatrixRef& outputs, std::span<std::uint8_t> bytes)>;

// Fills `images` [count, height, width, channels] pixel by pixel, computing every value of the
// graph once and keeping it while something depends on it (Ramachandran et al. 2017): the cost is
// that of one forward pass. What an image's outputs are does not depend on the others, to the
// last bit. `filters` are those of the graph's convolutions. Sides are multiples of
// 2^(levels - 1). Runs on the calling thread.
void SampleCausally(const CausalGraph& graph, const std::vector<CausalFilter>& filters,
                    const CausalPixelSource& source, ImageBatch& images);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_CAUSAL_SAMPLER_H_
