#ifndef LFIW_MODELS_IMAGE_LOGISTIC_MIXTURE_H_
#define LFIW_MODELS_IMAGE_LOGISTIC_MIXTURE_H_

#include <torch/torch.h>

#include <cstdint>
#include <span>

#include "core/layers.h"
#include "core/rng.h"

namespace lfiw::models {

// A mixture of logistic distributions, discretized to the 256 values of a byte, for the channels of
// a pixel (Salimans et al. 2017). Channel c's mean moves linearly with the channels before it.
// Values 0 .. 255 are -1 .. 1; the bins at both ends take the tails.
//
// The parameters of a pixel with C channels and K components: K mixture logits; then for every
// channel K means, K log scales; then for every pair d < c, in order of c, K coefficients before
// their tanh.
struct LogisticMixture {
  std::int64_t channels = 3;
  std::int64_t components = 10;

  std::int64_t parameter_count() const {
    return components * (1 + 2 * channels + channels * (channels - 1) / 2);
  }

  // Log-probability in nats of every pixel [n, height, width] under parameters
  // [n, parameter_count, height, width]; images [n, channels, height, width] in -1 .. 1.
  at::Tensor LogProbability(const at::Tensor& parameters, const at::Tensor& images) const;

  // Draws one pixel: parameters [parameter_count]; writes bytes [channels].
  void Sample(std::span<const float> parameters, Stream& stream,
              std::span<std::uint8_t> pixel) const;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_LOGISTIC_MIXTURE_H_
