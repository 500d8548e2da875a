#include "models/mlp.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw {
namespace {

constexpr std::int64_t kChunkRows = 1000;
// Bounds on sizes read from a file, far above any real network.
constexpr std::int64_t kMaxWidth = 1 << 16;
constexpr std::int64_t kMaxLayers = 64;

// LibTorch resets OpenMP to one thread per core on every thread that first uses it, unless its own
// global limit is set. Threads() makes core pin OpenBLAS likewise.
void PinTorchToOneThread() {
  static const int threads = [] {
    at::set_num_threads(1);
    return Threads();
  }();
  static_cast<void>(threads);
}

// A tensor that is a view of rows owned elsewhere; inference and training only read it.
template <class Rows>
at::Tensor View(const Rows& rows) {
  return at::from_blob(const_cast<float*>(rows.data()), {rows.rows(), rows.cols()},
                       {rows.outerStride(), 1}, at::kFloat);
}

void Activate(Activation activation, const at::Tensor& x, at::Tensor& y) {
  switch (activation) {
    case Activation::kSilu:
      at::silu_out(y, x);
      return;
    case Activation::kTanh:
      at::tanh_out(y, x);
      return;
    case Activation::kRelu:
      at::relu_out(y, x);
      return;
  }
}

// dx = dy * activation'(x), where y = activation(x).
void ActivateBackward(Activation activation, const at::Tensor& dy, const at::Tensor& x,
                      const at::Tensor& y, at::Tensor& dx) {
  switch (activation) {
    case Activation::kSilu:
      at::silu_backward_out(dx, dy, x);
      return;
    case Activation::kTanh:
      at::tanh_backward_out(dx, dy, y);
      return;
    case Activation::kRelu:
      at::threshold_backward_out(dx, dy, y, 0);
      return;
  }
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

float TruncatedNormal(Stream& stream) {
  while (true) {
    const double z = stream.Normal();
    if (std::abs(z) <= 2.0) return static_cast<float>(z);
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
    if (!linear.empty() && linear[0].size(0) == rows) return;
    linear.clear();
    active.clear();
    for (std::size_t l = 1; l < sizes.size(); ++l) {
      linear.push_back(at::empty({rows, sizes[l]}, at::kFloat));
      if (l + 1 < sizes.size()) active.push_back(at::empty({rows, sizes[l]}, at::kFloat));
    }
  }
  at::Tensor inputs;
  std::vector<at::Tensor> linear;  // x W + b of every layer; the last is the output
  std::vector<at::Tensor> active;  // activations of the hidden layers
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
    const float deviation = 0.5f / std::sqrt(static_cast<float>(in));
    std::generate_n(at, in * out, [&] { return deviation * TruncatedNormal(stream); });
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
      Activate(options().activation, y, y);
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
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const at::Tensor& x = l == 0 ? pass.inputs : pass.active[l - 1];
    at::addmm_out(pass.linear[l], biases[l], x, weights[l]);
    if (l + 1 < weights.size()) Activate(options().activation, pass.linear[l], pass.active[l]);
  }
  return {pass.linear.back().data_ptr<float>(), inputs.rows(), output_dim()};
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
    at::Tensor dx = at::mm(dy, impl_->layers.weights[l].t());
    ActivateBackward(options().activation, dx, pass.linear[l - 1], x, dx);
    dy = dx;
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
      !within(shape[4], 0, std::ssize(EnumNames<Activation>::names) - 1)) {
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

}  // namespace lfiw
