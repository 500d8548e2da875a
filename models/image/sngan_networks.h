#ifndef LFIW_MODELS_IMAGE_SNGAN_NETWORKS_H_
#define LFIW_MODELS_IMAGE_SNGAN_NETWORKS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/layers.h"
#include "models/image/layers.h"
#include "models/image/sngan_options.h"

namespace lfiw::models {

// noise [n, noise_dim] -> images [n, channels, side, side] in (-1, 1)
class SnganGenerator {
 public:
  virtual ~SnganGenerator() = default;
  virtual at::Tensor operator()(Pass& pass, const at::Tensor& noise) const = 0;
};

// images -> scores [n, 1], large where they look real
class SnganDiscriminator {
 public:
  virtual ~SnganDiscriminator() = default;
  virtual at::Tensor operator()(const Pass& pass, const at::Tensor& images) const = 0;
  // One power iteration of every weight.
  void Iterate(const std::vector<at::Tensor>& parameters, std::vector<at::Tensor>& state) const {
    for (const SpectralWeight& weight : weights_) weight.Iterate(parameters, state);
  }

 protected:
  std::vector<SpectralWeight> weights_;
};

// Sizes of the images.
struct SnganSize {
  std::int64_t channels, side;
};

std::unique_ptr<SnganGenerator> MakeSnganGenerator(const SnganOptions& options,
                                                   const SnganSize& size, NetworkLayout& layout);
std::unique_ptr<SnganDiscriminator> MakeSnganDiscriminator(const SnganOptions& options,
                                                           const SnganSize& size,
                                                           NetworkLayout& layout);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_SNGAN_NETWORKS_H_
