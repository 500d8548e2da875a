#include "models/mlp.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "models/torch_threads.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kChunkRows = 1000;
// Bounds on sizes read from a file, far above any real network.
constexpr std::int64_t kMaxWidth = 1 << 16;
constexpr std::int64_t kMaxLayers = 64;

// A tensor that is a view of rows owned elsewhere; inference and training only read it.
template <class Rows>
at::Tensor View(const Rows& rows) {
  return at::from_blob(const_cast<float*>(rows.data()), {rows.rows(), rows.cols()},
                       {rows.outerStride(), 1}, at::kFloat);
}

using Values = Eigen::Map<Eigen::ArrayXf>;

// LibTorch's own activations use half of an AVX-512 register and several passes; these work on
// pieces that stay in the first cache.
template <class Body>
void ForEachPiece(std::int64_t count, const Body& body) {
  constexpr std::int64_t kPiece = 1024;
  for (std::int64_t begin = 0; begin < count; begin += kPiece) {
    body(begin, std::min(kPiece, count - begin));
  }
}

// x = activation(x)
void ActivateTensor(Activation activation, at::Tensor& tensor) {
  ForEachPiece(tensor.numel(), [&](std::int64_t begin, std::int64_t count) {
    Activate(activation, Values(tensor.data_ptr<float>() + begin, count));
  });
}

// y = activation(x), and in place of x its derivative there.
void ActivateTensorKeepingSlope(Activation activation, at::Tensor& x_slope, at::Tensor& result) {
  Eigen::ArrayXf scratch;
  ForEachPiece(result.numel(), [&](std::int64_t begin, std::int64_t count) {
    ActivateKeepingSlope(activation, Values(x_slope.data_ptr<float>() + begin, count),
                         Values(result.data_ptr<float>() + begin, count), scratch);
  });
}

std::vector<std::int64_t> LayerSizes(std::int64_t input, std::int64_t output,
                                     const MlpOptions& options) {
  std::vector<std::int64_t> sizes = {input};
  sizes.insert(sizes.end(), static_cast<std::size_t>(options.hidden_layers), options.width);
  sizes.push_back(output);
  return sizes;
}

std::int64_t CountParameters(const std::vector<std::int64_t>& sizes) {
  std::int64_t count = 0;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) count += (sizes[l] + 1) * sizes[l + 1];
  return count;
}

// Standard normal draws, those beyond two deviations drawn anew.
void FillTruncatedNormal(Stream& stream, std::span<float> out) {
  stream.FillNormal(out);
  for (float& z : out) {
    while (std::abs(z) > 2.0f) z = static_cast<float>(stream.Normal());
  }
}

// Tensors that view the weights [in, out] and biases [out] of a flat buffer.
struct Layers {
  Layers(float* flat, const std::vector<std::int64_t>& sizes) {
    for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
      const std::int64_t in = sizes[l], out = sizes[l + 1];
      weights.push_back(at::from_blob(flat, {in, out}, at::kFloat));
      biases.push_back(at::from_blob(flat + in * out, {out}, at::kFloat));
      flat += (in + 1) * out;
    }
  }
  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
};

// What one training pass keeps for its backward pass, allocated once per batch size.
struct TrainingPass {
  void Reserve(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
    if (outputs.defined() && outputs.size(0) == rows) return;
    slopes.clear();
    active.clear();
    gradients.clear();
    for (std::size_t l = 1; l + 1 < sizes.size(); ++l) {
      for (auto* buffers : {&slopes, &active, &gradients}) {
        buffers->push_back(at::empty({rows, sizes[l]}, at::kFloat));
      }
    }
    outputs = at::empty({rows, sizes.back()}, at::kFloat);
  }
  at::Tensor inputs, outputs;
  // of every hidden layer: x W + b, then the derivative of the activation there; the activations;
  // and in the backward pass the gradient of the loss by x W + b
  std::vector<at::Tensor> slopes, active, gradients;
};

}  // namespace

struct Mlp::Impl {
  Impl(std::int64_t input, std::int64_t output, const MlpOptions& network)
      : options(network),
        sizes(LayerSizes(input, output, network)),
        parameters(VectorF::Zero(CountParameters(sizes))),
        layers(parameters.data(), sizes) {
    PinTorchToOneThread();
  }

  MlpOptions options;
  std::vector<std::int64_t> sizes;
  VectorF parameters;
  Layers layers;
  TrainingPass pass;
};

Mlp::Mlp(std::int64_t input_dim, std::int64_t output_dim, const MlpOptions& options, Stream stream)
    : impl_(std::make_unique<Impl>(input_dim, output_dim, options)) {
  float* at = impl_->parameters.data();
  for (std::size_t l = 0; l + 1 < impl_->sizes.size(); ++l) {
    const std::int64_t in = impl_->sizes[l], out = impl_->sizes[l + 1];
    const std::span<float> weights(at, static_cast<std::size_t>(in * out));
    FillTruncatedNormal(stream, weights);
    for (float& weight : weights) weight *= 0.5f / std::sqrt(static_cast<float>(in));
    at += (in + 1) * out;
  }
}

Mlp::Mlp(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Mlp::~Mlp() = default;
Mlp::Mlp(Mlp&&) noexcept = default;
Mlp& Mlp::operator=(Mlp&&) noexcept = default;

std::int64_t Mlp::input_dim() const { return impl_->sizes.front(); }
std::int64_t Mlp::output_dim() const { return impl_->sizes.back(); }
const MlpOptions& Mlp::options() const { return impl_->options; }
VectorF& Mlp::parameters() { return impl_->parameters; }
const VectorF& Mlp::parameters() const { return impl_->parameters; }

void Mlp::Forward(ConstMatrixRef inputs, MatrixRef outputs) const {
  LFIW_ASSERT(inputs.cols() == input_dim() && outputs.cols() == output_dim());
  LFIW_ASSERT(inputs.rows() == outputs.rows());
  const c10::InferenceMode inference;
  const auto& [weights, biases] = impl_->layers;
  const std::size_t last = weights.size() - 1;
  std::vector<at::Tensor> hidden(last);
  for (Eigen::Index begin = 0; begin < inputs.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min<Eigen::Index>(kChunkRows, inputs.rows() - begin);
    at::Tensor x = View(inputs.middleRows(begin, rows));
    for (std::size_t l = 0; l < last; ++l) {
      if (begin == 0) hidden[l] = at::empty({rows, biases[l].size(0)}, at::kFloat);
      at::Tensor y = hidden[l].narrow(0, 0, rows);
      at::addmm_out(y, biases[l], x, weights[l]);
      ActivateTensor(options().activation, y);
      x = y;
    }
    at::Tensor y = View(outputs.middleRows(begin, rows));
    at::addmm_out(y, biases[last], x, weights[last]);
  }
}

Eigen::Map<const MatrixF> Mlp::ForwardTraining(const MatrixF& inputs) {
  LFIW_ASSERT(inputs.cols() == input_dim());
  const c10::InferenceMode inference;
  const auto& [weights, biases] = impl_->layers;
  TrainingPass& pass = impl_->pass;
  pass.Reserve(inputs.rows(), impl_->sizes);
  pass.inputs = View(inputs);
  const std::size_t last = weights.size() - 1;
  for (std::size_t l = 0; l <= last; ++l) {
    const at::Tensor& x = l == 0 ? pass.inputs : pass.active[l - 1];
    at::addmm_out(l == last ? pass.outputs : pass.slopes[l], biases[l], x, weights[l]);
    if (l < last) {
      ActivateTensorKeepingSlope(options().activation, pass.slopes[l], pass.active[l]);
    }
  }
  return {pass.outputs.data_ptr<float>(), inputs.rows(), output_dim()};
}

void Mlp::Backward(const MatrixF& output_gradient, VectorF& gradient) {
  LFIW_ASSERT(gradient.size() == parameters().size());
  const c10::InferenceMode inference;
  TrainingPass& pass = impl_->pass;
  Layers into(gradient.data(), impl_->sizes);
  at::Tensor dy = View(output_gradient);
  for (std::size_t l = into.weights.size(); l-- > 0;) {
    // from the gradient of x W + b: to the parameters, then through x to the layer before
    const at::Tensor& x = l == 0 ? pass.inputs : pass.active[l - 1];
    at::mm_out(into.weights[l], x.t(), dy);
    at::sum_out(into.biases[l], dy, 0);
    if (l == 0) break;
    at::mm_out(pass.gradients[l - 1], dy, impl_->layers.weights[l].t());
    dy = pass.gradients[l - 1].mul_(pass.slopes[l - 1]);
  }
}

void Mlp::Save(const std::string& prefix, NpzFile& file) const {
  file.Put(
      prefix + ".shape",
      std::vector<std::int64_t>{input_dim(), output_dim(), options().hidden_layers, options().width,
                                static_cast<std::int64_t>(options().activation)});
  file.Put(prefix + ".parameters", parameters());
}

Mlp Mlp::Load(const NpzFile& file, const std::string& prefix) {
  const auto shape = file.GetIntegers(prefix + ".shape");
  const auto within = [](std::int64_t value, std::int64_t low, std::int64_t high) {
    return value >= low && value <= high;
  };
  if (shape.size() != 5 || !within(shape[0], 0, kMaxWidth) || !within(shape[1], 1, kMaxWidth) ||
      !within(shape[2], 0, kMaxLayers) || !within(shape[3], 1, kMaxWidth) ||
      !within(shape[4], 0, std::ssize(EnumNames(Activation{})) - 1)) {
    Throw<DataError>(
        "array {}.shape is not [input, output, layers, width, activation] of a network", prefix);
  }
  const MlpOptions options{shape[2], shape[3], static_cast<Activation>(shape[4])};
  const VectorF parameters = file.GetVector(prefix + ".parameters");
  const std::int64_t count = CountParameters(LayerSizes(shape[0], shape[1], options));
  if (parameters.size() != count) {
    Throw<DataError>("array {}.parameters has {} values, expected {}", prefix, parameters.size(),
                     count);
  }
  Mlp mlp(std::make_unique<Impl>(shape[0], shape[1], options));
  mlp.parameters() = parameters;
  return mlp;
}

}  // namespace lfiw::models
