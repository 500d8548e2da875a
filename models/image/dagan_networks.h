#ifndef LFIW_MODELS_IMAGE_DAGAN_NETWORKS_H_
#define LFIW_MODELS_IMAGE_DAGAN_NETWORKS_H_

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/layers.h"
#include "models/image/dagan_options.h"
#include "models/image/layers.h"

namespace lfiw::models {

// Convolution 3 x 3, leaky ReLU, and a norm.
template <class Norm>
class NormedConv {
 public:
  NormedConv(NetworkLayout& layout, std::int64_t in, std::int64_t out, std::int64_t stride);
  at::Tensor operator()(Pass& pass, const at::Tensor& x) const;

 private:
  Conv conv_;
  Norm norm_;
};

// Sizes of a stage: `in` channels, and `skip` more (0: none) of an earlier layer, which the first
// convolution sees through a 1 x 1 one.
struct DenseStageSize {
  std::int64_t in, skip, width, inner;
};

// Convolutions that each see the stage's input and all outputs before.
template <class Norm>
class DenseStage {
 public:
  struct Output {
    at::Tensor all;   // input and all outputs, along channels
    at::Tensor last;  // of the last convolution; the input if there is none
  };
  DenseStage(NetworkLayout& layout, const DenseStageSize& size);
  // `skip` has the resolution of x.
  Output operator()(Pass& pass, const at::Tensor& x, const at::Tensor& skip) const;
  std::int64_t all_channels() const { return all_channels_; }
  std::int64_t last_channels() const { return last_channels_; }

 private:
  std::optional<Conv> skip_;
  std::vector<NormedConv<Norm>> inner_;
  std::int64_t all_channels_, last_channels_;
};

// What generator and critic have in common: a halving, then stages with a halving after each.
template <class Norm>
class DaganEncoder {
 public:
  DaganEncoder(NetworkLayout& layout, const DaganOptions& options, std::int64_t channels,
               std::int64_t inner);
  // The output of every halving.
  std::vector<at::Tensor> operator()(Pass& pass, const at::Tensor& x) const;

 private:
  double dropout_;
  NormedConv<Norm> first_;
  std::vector<DenseStage<Norm>> stages_;
  std::vector<NormedConv<Norm>> halvings_;
};

// Sides of an image and of the encoder's outputs.
std::vector<std::int64_t> DaganSides(const DaganOptions& options, std::int64_t side);

// (images [n, channels, side, side], noise [n, noise_dim]) -> images in (-1, 1)
class DaganGenerator {
 public:
  DaganGenerator(NetworkLayout& layout, const DaganOptions& options, std::int64_t channels,
                 std::int64_t side);
  at::Tensor operator()(Pass& pass, const at::Tensor& images, const at::Tensor& noise) const;

 private:
  double dropout_;
  std::vector<std::int64_t> sides_;
  DaganEncoder<BatchNorm> encoder_;
  std::vector<Dense> noises_;  // of the first stages
  std::vector<DenseStage<BatchNorm>> stages_;
  std::vector<NormedConv<BatchNorm>> doublings_;
  std::vector<NormedConv<BatchNorm>> last_;
  std::vector<Conv> out_;
};

// Pairs of images -> scores [n, 1], large for two real ones of a class.
class DaganCritic {
 public:
  DaganCritic(NetworkLayout& layout, const DaganOptions& options, std::int64_t channels,
              std::int64_t side);
  at::Tensor operator()(Pass& pass, const at::Tensor& conditions, const at::Tensor& images) const;

 private:
  DaganEncoder<LayerNorm> encoder_;
  Dense out_;
};

// The mean over images of (|d critic / d image| - 1)^2, differentiable by the critic's parameters
// (Gulrajani et al. 2017).
at::Tensor GradientPenalty(const DaganCritic& critic, Pass& pass, const at::Tensor& conditions,
                           const at::Tensor& images);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_DAGAN_NETWORKS_H_
