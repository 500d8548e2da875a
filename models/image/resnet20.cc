#include "models/image/resnet20.h"

#include <ATen/ATen.h>

#include <array>
#include <utility>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "models/image/image_tensor.h"
#include "models/torch_threads.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kSide = 32;
constexpr double kBatchNormEpsilon = 1e-5;
constexpr std::array<std::int64_t, 3> kWidths = {16, 32, 64};
constexpr std::int64_t kBlocks = 3;  // of each width
// of the ImageNet images that the public model's inputs are normalized by
constexpr std::array<double, 3> kMean = {0.485, 0.456, 0.406};
constexpr std::array<double, 3> kDeviation = {0.229, 0.224, 0.225};

// A convolution of 3 x 3 with the normalization behind it.
struct Convolution {
  at::Tensor weight;  // [out, in, 3, 3]
  at::Tensor bias;    // [out]

  at::Tensor operator()(const at::Tensor& x, std::int64_t stride) const {
    return at::conv2d(x, weight, bias, stride, 1);
  }
};

struct Block {
  Convolution first, second;
  std::int64_t stride = 1;

  at::Tensor operator()(const at::Tensor& x) const {
    at::Tensor y = first(x, stride).relu_();
    y = second(y, 1);
    if (stride == 1) return y.add_(x).relu_();
    // the shortcut drops every other pixel and fills the new channels with zeros, on both sides
    const std::int64_t added = y.size(1) - x.size(1);
    const at::Tensor half = x.slice(2, 0, x.size(2), 2).slice(3, 0, x.size(3), 2);
    y.narrow(1, added / 2, x.size(1)).add_(half);
    return y.relu_();
  }
};

class TensorFile {
 public:
  explicit TensorFile(const std::string& path) : path_(path), file_(NpzFile::Read(path)) {}

  at::Tensor Get(const std::string& name, const std::vector<std::int64_t>& shape) const {
    const std::vector<float> values = file_.GetFloats(name);
    const std::vector<std::int64_t>& found = file_.arrays().at(name).shape;
    if (found != shape) {
      Throw<DataError>("{}: array '{}' has shape [{}], expected [{}] of a ResNet-20", path_, name,
                       fmt::join(found, ", "), fmt::join(shape, ", "));
    }
    return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat).clone();
  }

  // A convolution and the batch normalization that follows it: "layer1.0.conv1" and "layer1.0.bn1".
  Convolution GetConvolution(const std::string& conv, const std::string& norm, std::int64_t in,
                             std::int64_t out) const {
    const at::Tensor weight = Get(conv + ".weight", {out, in, 3, 3});
    const at::Tensor variance = Get(norm + ".running_var", {out});
    const at::Tensor scale = Get(norm + ".weight", {out}) / (variance + kBatchNormEpsilon).sqrt();
    const at::Tensor bias = Get(norm + ".bias", {out}) - Get(norm + ".running_mean", {out}) * scale;
    return {(weight * scale.view({out, 1, 1, 1})).contiguous(), bias};
  }

 private:
  std::string path_;
  NpzFile file_;
};

std::vector<Block> GetBlocks(const TensorFile& file) {
  std::vector<Block> blocks;
  std::int64_t in = kWidths[0];
  for (std::size_t layer = 0; layer < kWidths.size(); ++layer) {
    const std::int64_t out = kWidths[layer];
    for (std::int64_t b = 0; b < kBlocks; ++b) {
      const std::string name = fmt::format("layer{}.{}", layer + 1, b);
      blocks.push_back({file.GetConvolution(name + ".conv1", name + ".bn1", in, out),
                        file.GetConvolution(name + ".conv2", name + ".bn2", out, out),
                        in == out ? 1 : 2});
      in = out;
    }
  }
  return blocks;
}

at::Tensor ChannelConstants(const std::array<double, 3>& values) {
  return at::tensor(at::ArrayRef<double>(values.data(), values.size()), at::kFloat)
      .view({1, 3, 1, 1});
}

}  // namespace

struct ResNet20::Impl {
  at::Tensor mean, deviation;
  Convolution entry;
  std::vector<Block> blocks;
  at::Tensor weight, bias;  // [10, 64], [10]
};

ResNet20::ResNet20(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResNet20::ResNet20(ResNet20&&) noexcept = default;
ResNet20::~ResNet20() = default;

ResNet20 ResNet20::Load(const std::string& path) {
  PinTorchToOneThread();
  const c10::InferenceMode inference;
  const TensorFile file(path);
  auto impl = std::make_unique<Impl>();
  impl->mean = ChannelConstants(kMean);
  impl->deviation = ChannelConstants(kDeviation);
  impl->entry = file.GetConvolution("conv1", "bn1", 3, kWidths[0]);
  impl->blocks = GetBlocks(file);
  impl->weight = file.Get("linear.weight", {10, kWidths.back()});
  impl->bias = file.Get("linear.bias", {10});
  return ResNet20(std::move(impl));
}

std::string ResNet20::Description() const {
  return "ResNet-20 trained on CIFAR-10, 64 features, 10 logits";
}

ImageFeatures ResNet20::Extract(const ImageBatch& images, std::int64_t begin,
                                std::int64_t count) const {
  if (images.height != kSide || images.width != kSide || images.channels != 3) {
    Throw<DataError>("images are {} x {} with {} channels, the ResNet-20 takes 32 x 32 with 3",
                     images.height, images.width, images.channels);
  }
  const c10::InferenceMode inference;
  at::Tensor x = ImageTensor(images, begin, count).sub_(impl_->mean).div_(impl_->deviation);
  x = impl_->entry(x, 1).relu_();
  for (const Block& block : impl_->blocks) x = block(x);
  const at::Tensor features = x.mean({2, 3});
  return {ToMatrix(features), ToMatrix(at::addmm(impl_->bias, features, impl_->weight.t()))};
}

}  // namespace lfiw::models
