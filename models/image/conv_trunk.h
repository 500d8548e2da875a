#ifndef LFIW_MODELS_IMAGE_CONV_TRUNK_H_
#define LFIW_MODELS_IMAGE_CONV_TRUNK_H_

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "models/image/layers.h"

namespace lfiw::models {

struct ConvTrunkSize {
  std::int64_t channels, height, width;  // of the images
  std::int64_t filters, blocks, outputs;
};

// blocks x [convolution 3 x 3, batch norm, ReLU, maximum over 2 x 2], then a linear layer.
class ConvTrunk {
 public:
  ConvTrunk(NetworkLayout& layout, const ConvTrunkSize& size)
      : out_(Blocks(layout, size, convs_, norms_)) {}

  // images [n, channels, height, width] -> [n, outputs]
  at::Tensor operator()(Pass& pass, const at::Tensor& images) const {
    at::Tensor h = images;
    for (std::size_t b = 0; b < convs_.size(); ++b) {
      h = at::max_pool2d(at::relu(norms_[b](pass, convs_[b](pass, h))), 2);
    }
    return out_(pass, h.flatten(1));
  }

 private:
  // Claims the blocks' tensors, then those of the last layer.
  static Dense Blocks(NetworkLayout& layout, const ConvTrunkSize& size, std::vector<Conv>& convs,
                      std::vector<BatchNorm>& norms) {
    for (std::int64_t b = 0; b < size.blocks; ++b) {
      const ConvShape shape{b == 0 ? size.channels : size.filters, size.filters, 3, 1, 1};
      convs.emplace_back(layout, shape, Initializer::He(shape.fan_in()));
      norms.emplace_back(layout, size.filters);
    }
    const std::int64_t features =
        size.filters * (size.height >> size.blocks) * (size.width >> size.blocks);
    return {
        layout, features, size.outputs,
        Initializer::Glorot(static_cast<double>(features), static_cast<double>(size.outputs), 1.0)};
  }

  std::vector<Conv> convs_;
  std::vector<BatchNorm> norms_;
  Dense out_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_CONV_TRUNK_H_
