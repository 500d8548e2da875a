#include "models/image/sngan_networks.h"

#include <torch/torch.h>

#include <numbers>
#include <optional>

namespace lfiw::models {
namespace {

// Both architectures begin at 1/8 of the image's side.
constexpr std::int64_t kReduction = 8;
constexpr double kSlope = 0.1;  // of the leaky ReLU in the plain discriminator

// The residual networks' initial weights: Glorot, doubled in variance before a ReLU.
Initializer Residual(const ConvShape& shape) {
  return Initializer::Glorot(shape.fan_in(), shape.fan_out(), std::numbers::sqrt2);
}
Initializer Shortcut(const ConvShape& shape) {
  return Initializer::Glorot(shape.fan_in(), shape.fan_out(), 1.0);
}
// The plain networks'.
Initializer Plain() { return Initializer::Normal(0.02); }

ConvShape Conv3(std::int64_t in, std::int64_t out) { return {in, out, 3, 1, 1}; }
ConvShape Conv1(std::int64_t in, std::int64_t out) { return {in, out, 1, 1, 0}; }
// half the side, or as a transposed convolution twice
ConvShape Strided(std::int64_t in, std::int64_t out) { return {in, out, 4, 2, 1}; }

// x -> conv(relu(bn(conv(up(relu(bn(x))))))) + conv1(up(x))
class UpBlock {
 public:
  UpBlock(NetworkLayout& layout, std::int64_t in, std::int64_t out)
      : norm1_(layout, in),
        norm2_(layout, out),
        conv1_(layout, Conv3(in, out), Residual(Conv3(in, out))),
        conv2_(layout, Conv3(out, out), Residual(Conv3(out, out))),
        shortcut_(layout, Conv1(in, out), Shortcut(Conv1(in, out))) {}

  at::Tensor operator()(Pass& pass, const at::Tensor& x) const {
    at::Tensor h = conv1_(pass, Upsample(at::relu(norm1_(pass, x))));
    h = conv2_(pass, at::relu(norm2_(pass, h)));
    // a 1 x 1 convolution and nearest-neighbor doubling commute
    return h + Upsample(shortcut_(pass, x));
  }

 private:
  BatchNorm norm1_, norm2_;
  Conv conv1_, conv2_, shortcut_;
};

class ResnetGenerator : public SnganGenerator {
 public:
  ResnetGenerator(const SnganOptions& options, const SnganSize& size, NetworkLayout& layout)
      : bottom_(size.side / kReduction),
        width_(options.generator_width),
        dense_(layout, options.noise_dim, bottom_ * bottom_ * width_,
               Initializer::Glorot(static_cast<double>(options.noise_dim),
                                   static_cast<double>(bottom_ * bottom_ * width_), 1.0)),
        block1_(layout, width_, width_),
        block2_(layout, width_, width_),
        block3_(layout, width_, width_),
        norm_(layout, width_),
        out_(layout, Conv3(width_, size.channels), Shortcut(Conv3(width_, size.channels))) {}

  at::Tensor operator()(Pass& pass, const at::Tensor& noise) const override {
    at::Tensor h = dense_(pass, noise).view({-1, width_, bottom_, bottom_});
    h = block3_(pass, block2_(pass, block1_(pass, h)));
    return at::tanh(out_(pass, at::relu(norm_(pass, h))));
  }

 private:
  std::int64_t bottom_, width_;
  Dense dense_;
  UpBlock block1_, block2_, block3_;
  BatchNorm norm_;
  Conv out_;
};

class PlainGenerator : public SnganGenerator {
 public:
  PlainGenerator(const SnganOptions& options, const SnganSize& size, NetworkLayout& layout)
      : bottom_(size.side / kReduction),
        width_(options.generator_width),
        dense_(layout, options.noise_dim, bottom_ * bottom_ * 8 * width_, Plain()),
        norm0_(layout, 8 * width_),
        norm1_(layout, 4 * width_),
        norm2_(layout, 2 * width_),
        norm3_(layout, width_),
        up1_(layout, Strided(8 * width_, 4 * width_), Plain()),
        up2_(layout, Strided(4 * width_, 2 * width_), Plain()),
        up3_(layout, Strided(2 * width_, width_), Plain()),
        out_(layout, Conv3(width_, size.channels), Plain()) {}

  at::Tensor operator()(Pass& pass, const at::Tensor& noise) const override {
    at::Tensor h = dense_(pass, noise).view({-1, 8 * width_, bottom_, bottom_});
    h = up1_(pass, at::relu(norm0_(pass, h)));
    h = up2_(pass, at::relu(norm1_(pass, h)));
    h = up3_(pass, at::relu(norm2_(pass, h)));
    return at::tanh(out_(pass, at::relu(norm3_(pass, h))));
  }

 private:
  std::int64_t bottom_, width_;
  Dense dense_;
  BatchNorm norm0_, norm1_, norm2_, norm3_;
  TransposedConv up1_, up2_, up3_;
  Conv out_;
};

enum class Resample { kNone, kHalve };
enum class Position { kFirst, kLater };

// Residual block: relu, conv, relu, conv, halve; the first one has no relu before and halves before
// its shortcut.
class DownBlock {
 public:
  struct Kind {
    std::int64_t in, out;
    Resample resample;
    Position position;
  };
  DownBlock(NetworkLayout& layout, const Kind& kind)
      : kind_(kind),
        // the first block's hidden layer is as wide as its output, later ones' as their input
        conv1_(layout, Conv3(kind.in, Hidden(kind)), Residual(Conv3(kind.in, Hidden(kind)))),
        conv2_(layout, Conv3(Hidden(kind), kind.out), Residual(Conv3(Hidden(kind), kind.out))) {
    if (kind.in != kind.out || kind.resample == Resample::kHalve) {
      shortcut_.emplace(layout, Conv1(kind.in, kind.out), Shortcut(Conv1(kind.in, kind.out)));
    }
  }

  at::Tensor operator()(const Pass& pass, const at::Tensor& x) const {
    at::Tensor h = conv1_(pass, kind_.position == Position::kFirst ? x : at::relu(x));
    h = conv2_(pass, at::relu(h));
    // halving commutes with the 1 x 1 convolution of the shortcut
    if (kind_.resample == Resample::kNone) return h + (shortcut_ ? (*shortcut_)(pass, x) : x);
    return Downsample(h) + (*shortcut_)(pass, Downsample(x));
  }

  void Collect(std::vector<SpectralWeight>& weights) const {
    weights.push_back(conv1_.weight());
    weights.push_back(conv2_.weight());
    if (shortcut_) weights.push_back(shortcut_->weight());
  }

 private:
  static std::int64_t Hidden(const Kind& kind) {
    return kind.position == Position::kFirst ? kind.out : kind.in;
  }

  Kind kind_;
  SpectralConv conv1_, conv2_;
  std::optional<SpectralConv> shortcut_;
};

class ResnetDiscriminator : public SnganDiscriminator {
 public:
  ResnetDiscriminator(const SnganOptions& options, const SnganSize& size, NetworkLayout& layout)
      : ResnetDiscriminator(options.discriminator_width, size, layout) {}

  at::Tensor operator()(const Pass& pass, const at::Tensor& images) const override {
    at::Tensor h = images;
    for (const DownBlock& block : blocks_) h = block(pass, h);
    return out_(pass, at::relu(h).sum({2, 3}));
  }

 private:
  ResnetDiscriminator(std::int64_t width, const SnganSize& size, NetworkLayout& layout)
      : blocks_{DownBlock(layout, {size.channels, width, Resample::kHalve, Position::kFirst}),
                DownBlock(layout, {width, width, Resample::kHalve, Position::kLater}),
                DownBlock(layout, {width, width, Resample::kNone, Position::kLater}),
                DownBlock(layout, {width, width, Resample::kNone, Position::kLater})},
        out_(layout, width, 1, Initializer::Glorot(static_cast<double>(width), 1.0, 1.0)) {
    for (const DownBlock& block : blocks_) block.Collect(weights_);
    weights_.push_back(out_.weight());
  }

  std::vector<DownBlock> blocks_;
  SpectralDense out_;
};

class PlainDiscriminator : public SnganDiscriminator {
 public:
  PlainDiscriminator(const SnganOptions& options, const SnganSize& size, NetworkLayout& layout)
      : convs_(Convs(layout, size.channels, options.discriminator_width)),
        out_(layout,
             8 * options.discriminator_width * (size.side / kReduction) * (size.side / kReduction),
             1, Plain()) {
    for (const SpectralConv& conv : convs_) weights_.push_back(conv.weight());
    weights_.push_back(out_.weight());
  }

  at::Tensor operator()(const Pass& pass, const at::Tensor& images) const override {
    at::Tensor h = images;
    for (const SpectralConv& conv : convs_) h = at::leaky_relu(conv(pass, h), kSlope);
    return out_(pass, h.flatten(1));
  }

 private:
  static std::vector<SpectralConv> Convs(NetworkLayout& layout, std::int64_t channels,
                                         std::int64_t width) {
    std::vector<SpectralConv> convs;
    std::int64_t in = channels;
    for (const std::int64_t out : {width, 2 * width, 4 * width}) {
      convs.emplace_back(layout, Conv3(in, out), Plain());
      convs.emplace_back(layout, Strided(out, out), Plain());
      in = out;
    }
    convs.emplace_back(layout, Conv3(in, 8 * width), Plain());
    return convs;
  }

  std::vector<SpectralConv> convs_;
  SpectralDense out_;
};

}  // namespace

std::unique_ptr<SnganGenerator> MakeSnganGenerator(const SnganOptions& options,
                                                   const SnganSize& size, NetworkLayout& layout) {
  if (options.architecture == SnganArchitecture::kResnet) {
    return std::make_unique<ResnetGenerator>(options, size, layout);
  }
  return std::make_unique<PlainGenerator>(options, size, layout);
}

std::unique_ptr<SnganDiscriminator> MakeSnganDiscriminator(const SnganOptions& options,
                                                           const SnganSize& size,
                                                           NetworkLayout& layout) {
  if (options.architecture == SnganArchitecture::kResnet) {
    return std::make_unique<ResnetDiscriminator>(options, size, layout);
  }
  return std::make_unique<PlainDiscriminator>(options, size, layout);
}

}  // namespace lfiw::models
