#include "models/image/layers.h"

#include <torch/torch.h>

#include <cmath>
#include <span>
#include <utility>

#include "core/error.h"

namespace lfiw::models {
namespace {

std::int64_t Product(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t size : shape) product *= size;
  return product;
}

void Fill(const Initializer& initializer, Stream stream, std::span<float> out) {
  switch (initializer.kind) {
    case Initializer::Kind::kConstant:
      for (float& x : out) x = static_cast<float>(initializer.scale);
      return;
    case Initializer::Kind::kNormal:
      stream.FillNormal(out);
      for (float& x : out) x *= static_cast<float>(initializer.scale);
      return;
    case Initializer::Kind::kUniform:
      stream.FillUniform(out);
      for (float& x : out) x = (2.0f * x - 1.0f) * static_cast<float>(initializer.scale);
      return;
  }
}

at::Tensor Normalized(const at::Tensor& x) { return x / (x.norm() + 1e-12); }

std::vector<std::int64_t> ConvWeight(const ConvShape& shape) {
  return {shape.out, shape.in, shape.kernel, shape.kernel};
}

// [channels] along dimension 1 of x
at::Tensor PerChannel(const at::Tensor& values, const at::Tensor& x) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(x.dim()), 1);
  shape[1] = values.numel();
  return values.view(shape);
}

}  // namespace

Initializer Initializer::Glorot(double fan_in, double fan_out, double gain) {
  return {Kind::kUniform, gain * std::sqrt(6.0 / (fan_in + fan_out))};
}

Initializer Initializer::He(double fan_in) { return Normal(std::sqrt(2.0 / fan_in)); }

std::size_t TensorLayout::Add(std::vector<std::int64_t> shape, Initializer initializer) {
  const std::int64_t count = Product(shape);
  entries_.push_back({std::move(shape), size_, count, initializer});
  size_ += count;
  return entries_.size() - 1;
}

VectorF TensorLayout::Draw(const Stream& stream) const {
  VectorF values(size_);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& entry = entries_[i];
    Fill(entry.initializer, stream.Child(i),
         {values.data() + entry.offset, static_cast<std::size_t>(entry.count)});
  }
  return values;
}

std::vector<at::Tensor> TensorLayout::Views(float* flat) const {
  std::vector<at::Tensor> views;
  views.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    views.push_back(at::from_blob(flat + entry.offset, entry.shape, at::kFloat));
  }
  return views;
}

std::vector<at::Tensor> TensorLayout::Cut(const at::Tensor& flat) const {
  std::vector<at::Tensor> parts;
  parts.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    parts.push_back(flat.narrow(0, entry.offset, entry.count).view(entry.shape));
  }
  return parts;
}

Conv::Conv(NetworkLayout& layout, const ConvShape& shape, Initializer weight)
    : shape_(shape),
      weight_(layout.parameters.Add(ConvWeight(shape), weight)),
      bias_(layout.parameters.Add({shape.out}, Initializer::Constant(0.0))) {}

at::Tensor Conv::operator()(const Pass& pass, const at::Tensor& x) const {
  return at::conv2d(x, pass.parameters[weight_], pass.parameters[bias_], shape_.stride,
                    shape_.padding);
}

TransposedConv::TransposedConv(NetworkLayout& layout, const ConvShape& shape, Initializer weight)
    : shape_(shape),
      weight_(layout.parameters.Add({shape.in, shape.out, shape.kernel, shape.kernel}, weight)),
      bias_(layout.parameters.Add({shape.out}, Initializer::Constant(0.0))) {}

at::Tensor TransposedConv::operator()(const Pass& pass, const at::Tensor& x) const {
  return at::conv_transpose2d(x, pass.parameters[weight_], pass.parameters[bias_], shape_.stride,
                              shape_.padding);
}

Dense::Dense(NetworkLayout& layout, std::int64_t in, std::int64_t out, Initializer weight)
    : weight_(layout.parameters.Add({out, in}, weight)),
      bias_(layout.parameters.Add({out}, Initializer::Constant(0.0))) {}

at::Tensor Dense::operator()(const Pass& pass, const at::Tensor& x) const {
  return at::linear(x, pass.parameters[weight_], pass.parameters[bias_]);
}

SpectralWeight::SpectralWeight(NetworkLayout& layout, std::vector<std::int64_t> shape,
                               Initializer weight)
    : weight_(layout.parameters.Add(shape, weight)),
      left_(layout.state.Add({shape[0]}, Initializer::Normal(1.0))) {}

at::Tensor SpectralWeight::operator()(const Pass& pass) const {
  const at::Tensor& weight = pass.parameters[weight_];
  const at::Tensor matrix = weight.flatten(1);
  const at::Tensor left = Normalized(pass.state[left_]);
  const at::Tensor right = Normalized(matrix.detach().t().mv(left));
  return weight / left.dot(matrix.mv(right));
}

void SpectralWeight::Iterate(const std::vector<at::Tensor>& parameters,
                             std::vector<at::Tensor>& state) const {
  const at::Tensor matrix = parameters[weight_].flatten(1);
  const at::Tensor right = Normalized(matrix.t().mv(Normalized(state[left_])));
  state[left_].copy_(Normalized(matrix.mv(right)));
}

SpectralConv::SpectralConv(NetworkLayout& layout, const ConvShape& shape, Initializer weight)
    : shape_(shape),
      weight_(layout, ConvWeight(shape), weight),
      bias_(layout.parameters.Add({shape.out}, Initializer::Constant(0.0))) {}

at::Tensor SpectralConv::operator()(const Pass& pass, const at::Tensor& x) const {
  return at::conv2d(x, weight_(pass), pass.parameters[bias_], shape_.stride, shape_.padding);
}

SpectralDense::SpectralDense(NetworkLayout& layout, std::int64_t in, std::int64_t out,
                             Initializer weight)
    : weight_(layout, {out, in}, weight),
      bias_(layout.parameters.Add({out}, Initializer::Constant(0.0))) {}

at::Tensor SpectralDense::operator()(const Pass& pass, const at::Tensor& x) const {
  return at::linear(x, weight_(pass), pass.parameters[bias_]);
}

BatchNorm::BatchNorm(NetworkLayout& layout, std::int64_t channels, double momentum, double epsilon)
    : momentum_(momentum),
      epsilon_(epsilon),
      scale_(layout.parameters.Add({channels}, Initializer::Constant(1.0))),
      shift_(layout.parameters.Add({channels}, Initializer::Constant(0.0))),
      mean_(layout.state.Add({channels}, Initializer::Constant(0.0))),
      variance_(layout.state.Add({channels}, Initializer::Constant(1.0))) {}

at::Tensor BatchNorm::Moved(const at::Tensor& running, const at::Tensor& batch) const {
  return (running * (1.0 - momentum_) + batch.detach() * momentum_);
}

at::Tensor BatchNorm::operator()(Pass& pass, const at::Tensor& x) const {
  const at::Tensor& scale = pass.parameters[scale_];
  const at::Tensor& shift = pass.parameters[shift_];
  if (pass.mode == PassMode::kInference) {
    const auto normalized = at::native_batch_norm(x, scale, shift, pass.state[mean_],
                                                  pass.state[variance_], false, 0.0, epsilon_);
    return std::get<0>(normalized);
  }
  const auto [y, mean, inverse_deviation] =
      at::native_batch_norm(x, scale, shift, {}, {}, true, 0.0, epsilon_);
  const auto count = static_cast<double>(x.numel() / x.size(1));
  const at::Tensor variance =
      (inverse_deviation.pow(-2) - epsilon_) * (count / std::max(count - 1.0, 1.0));
  pass.observed.resize(pass.state.size());
  pass.observed[mean_] = Moved(pass.state[mean_], mean);
  pass.observed[variance_] = Moved(pass.state[variance_], variance);
  return y;
}

LayerNorm::LayerNorm(NetworkLayout& layout, std::int64_t channels, double epsilon)
    : epsilon_(epsilon),
      scale_(layout.parameters.Add({channels}, Initializer::Constant(1.0))),
      shift_(layout.parameters.Add({channels}, Initializer::Constant(0.0))) {}

at::Tensor LayerNorm::operator()(const Pass& pass, const at::Tensor& x) const {
  const at::Tensor y = at::layer_norm(x, x.sizes().slice(1), {}, {}, epsilon_);
  return y * PerChannel(pass.parameters[scale_], x) + PerChannel(pass.parameters[shift_], x);
}

at::Tensor Dropout(Pass& pass, const at::Tensor& x, double rate) {
  if (pass.mode == PassMode::kInference || rate <= 0.0) return x;
  at::Tensor mask = at::empty(x.sizes(), at::kFloat);
  const std::span values(mask.data_ptr<float>(), static_cast<std::size_t>(mask.numel()));
  pass.noise.FillUniform(values);
  const auto threshold = static_cast<float>(rate), kept = static_cast<float>(1.0 / (1.0 - rate));
  for (float& u : values) u = u < threshold ? 0.0f : kept;
  return x * mask.to(x.device());
}

at::Tensor Upsample(const at::Tensor& x) {
  return at::upsample_nearest2d(x, {2 * x.size(2), 2 * x.size(3)});
}

at::Tensor Downsample(const at::Tensor& x) { return at::avg_pool2d(x, 2); }

}  // namespace lfiw::models
