#include "models/image/dagan_networks.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>

namespace lfiw::models {
namespace {

constexpr double kSlope = 0.2;  // of the leaky ReLU
// Channels of the noise in the first stages of the way up.
constexpr std::array<std::int64_t, 3> kNoiseChannels = {8, 8, 4};

Initializer Glorot(std::int64_t fan_in, std::int64_t fan_out) {
  return Initializer::Glorot(static_cast<double>(fan_in), static_cast<double>(fan_out), 1.0);
}

std::int64_t NoiseChannels(std::size_t stage) {
  return stage < kNoiseChannels.size() ? kNoiseChannels[stage] : 0;
}

at::Tensor EverySecond(const at::Tensor& x) {
  return x.slice(2, 0, c10::nullopt, 2).slice(3, 0, c10::nullopt, 2);
}

at::Tensor Resized(const at::Tensor& x, std::int64_t side) {
  return at::upsample_nearest2d(x, {side, side});
}

}  // namespace

template <class Norm>
NormedConv<Norm>::NormedConv(NetworkLayout& layout, std::int64_t in, std::int64_t out,
                             std::int64_t stride)
    : conv_(layout, {in, out, 3, stride, 1}, Glorot(9 * in, 9 * out)), norm_(layout, out) {}

template <class Norm>
at::Tensor NormedConv<Norm>::operator()(Pass& pass, const at::Tensor& x) const {
  return norm_(pass, at::leaky_relu(conv_(pass, x), kSlope));
}

template <class Norm>
DenseStage<Norm>::DenseStage(NetworkLayout& layout, const DenseStageSize& size)
    : all_channels_(size.in + size.inner * size.width),
      last_channels_(size.inner == 0 ? size.in : size.width) {
  if (size.skip > 0 && size.inner > 0) {
    skip_.emplace(layout, ConvShape{size.skip, size.skip, 1, 1, 0}, Glorot(size.skip, size.skip));
  }
  for (std::int64_t j = 0; j < size.inner; ++j) {
    const std::int64_t in = size.in + j * size.width + (j == 0 ? size.skip : 0);
    inner_.emplace_back(layout, in, size.width, 1);
  }
}

template <class Norm>
typename DenseStage<Norm>::Output DenseStage<Norm>::operator()(Pass& pass, const at::Tensor& x,
                                                               const at::Tensor& skip) const {
  Output output{x, x};
  for (std::size_t j = 0; j < inner_.size(); ++j) {
    const bool with_skip = j == 0 && skip_.has_value();
    output.last =
        inner_[j](pass, with_skip ? at::cat({output.all, (*skip_)(pass, skip)}, 1) : output.all);
    output.all = at::cat({output.all, output.last}, 1);
  }
  return output;
}

template <class Norm>
DaganEncoder<Norm>::DaganEncoder(NetworkLayout& layout, const DaganOptions& options,
                                 std::int64_t channels, std::int64_t inner)
    : dropout_(options.dropout), first_(layout, channels, options.widths[0], 2) {
  std::int64_t skip = channels;
  for (std::size_t i = 1; i < options.widths.size(); ++i) {
    const std::int64_t width = options.widths[i];
    stages_.emplace_back(layout, DenseStageSize{options.widths[i - 1], skip, width, inner});
    skip = stages_.back().last_channels();
    halvings_.emplace_back(layout, stages_.back().all_channels(), width, 2);
  }
}

template <class Norm>
std::vector<at::Tensor> DaganEncoder<Norm>::operator()(Pass& pass, const at::Tensor& x) const {
  std::vector<at::Tensor> outputs = {first_(pass, x)};
  at::Tensor skip = x;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const auto stage = stages_[i](pass, outputs.back(), EverySecond(skip));
    skip = stage.last;
    outputs.push_back(Dropout(pass, halvings_[i](pass, stage.all), dropout_));
  }
  return outputs;
}

std::vector<std::int64_t> DaganSides(const DaganOptions& options, std::int64_t side) {
  std::vector<std::int64_t> sides = {side};
  for (std::size_t i = 0; i < options.widths.size(); ++i) sides.push_back((sides.back() + 1) / 2);
  return sides;
}

DaganGenerator::DaganGenerator(NetworkLayout& layout, const DaganOptions& options,
                               std::int64_t channels, std::int64_t side)
    : dropout_(options.dropout),
      sides_(DaganSides(options, side)),
      encoder_(layout, options, channels, options.generator_inner) {
  const std::vector<std::int64_t>& widths = options.widths;
  const std::size_t depth = widths.size();
  std::int64_t in = widths.back(), skip = 0;
  for (std::size_t i = 0; i <= depth; ++i) {
    // stage i works at the resolution of the encoder's output depth - 1 - i, the last one at the
    // image's
    if (i < std::min(depth, kNoiseChannels.size())) {
      const std::int64_t area = sides_[depth - i] * sides_[depth - i];
      noises_.emplace_back(layout, options.noise_dim, area * NoiseChannels(i),
                           Glorot(options.noise_dim, area * NoiseChannels(i)));
      in += NoiseChannels(i);
    }
    const std::int64_t width = widths[i < depth ? depth - 1 - i : 0];
    stages_.emplace_back(layout, DenseStageSize{in, skip, width, options.generator_inner});
    skip = stages_.back().last_channels();
    if (i == depth) break;
    doublings_.emplace_back(layout, stages_.back().all_channels(), width, 1);
    in = width + (i + 1 < depth ? widths[depth - 2 - i] : channels);
  }
  last_.emplace_back(layout, skip, widths[0], 1);
  last_.emplace_back(layout, widths[0], widths[0], 1);
  out_.emplace_back(layout, ConvShape{widths[0], channels, 3, 1, 1},
                    Glorot(9 * widths[0], 9 * channels));
}

at::Tensor DaganGenerator::operator()(Pass& pass, const at::Tensor& images,
                                      const at::Tensor& noise) const {
  const std::vector<at::Tensor> encoded = encoder_(pass, images);
  const std::size_t depth = encoded.size();
  at::Tensor x = encoded.back(), skip;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (i < noises_.size()) {
      const std::int64_t side = x.size(2);
      x = at::cat({noises_[i](pass, noise).view({-1, NoiseChannels(i), side, side}), x}, 1);
    }
    const auto stage = stages_[i](pass, x, skip);
    if (i == depth) {
      x = stage.last;
      break;
    }
    const std::int64_t side = sides_[depth - 1 - i];
    x = Dropout(pass, doublings_[i](pass, Resized(stage.all, side)), dropout_);
    x = at::cat({x, i + 1 < depth ? encoded[depth - 2 - i] : images}, 1);
    skip = Resized(stage.last, side);
  }
  for (const auto& conv : last_) x = conv(pass, x);
  return at::tanh(out_[0](pass, x));
}

DaganCritic::DaganCritic(NetworkLayout& layout, const DaganOptions& options, std::int64_t channels,
                         std::int64_t side)
    : encoder_(layout, options, 2 * channels, options.critic_inner),
      out_(layout,
           options.widths.back() * DaganSides(options, side).back() *
               DaganSides(options, side).back(),
           1,
           Glorot(options.widths.back() * DaganSides(options, side).back() *
                      DaganSides(options, side).back(),
                  1)) {}

at::Tensor DaganCritic::operator()(Pass& pass, const at::Tensor& conditions,
                                   const at::Tensor& images) const {
  return out_(pass, encoder_(pass, at::cat({conditions, images}, 1)).back().flatten(1));
}

at::Tensor GradientPenalty(const DaganCritic& critic, Pass& pass, const at::Tensor& conditions,
                           const at::Tensor& images) {
  const at::Tensor x = images.detach().requires_grad_();
  const at::Tensor score = critic(pass, conditions, x).sum();
  const at::Tensor gradient = torch::autograd::grad({score}, {x}, {}, /*retain_graph=*/true,
                                                    /*create_graph=*/true)[0];
  // a root that has a derivative at zero
  const at::Tensor norm = (gradient.flatten(1).pow(2).sum(1) + 1e-12).sqrt();
  return (norm - 1.0).pow(2).mean();
}

template class DaganEncoder<BatchNorm>;
template class DaganEncoder<LayerNorm>;

}  // namespace lfiw::models
