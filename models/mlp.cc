#include "models/mlp.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/bfloat16_product.h"
#include "core/error.h"
#include "core/matrix_product.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kChunkRows = 1000;
// Bounds on sizes read from a file, far above any real network.
constexpr std::int64_t kMaxWidth = 1 << 16;
constexpr std::int64_t kMaxLayers = 64;

using Values = Eigen::Map<Eigen::ArrayXf>;

// Activations work on pieces that stay in the first cache.
template <class Body>
void ForEachPiece(std::int64_t count, const Body& body) {
  constexpr std::int64_t kPiece = 1024;
  for (std::int64_t begin = 0; begin < count; begin += kPiece) {
    body(begin, std::min(kPiece, count - begin));
  }
}

void ActivateAll(Activation activation, float* x, std::int64_t count) {
  ForEachPiece(count, [&](std::int64_t begin, std::int64_t size) {
    Activate(activation, Values(x + begin, size));
  });
}

// y = activation(x), and in place of x its derivative there.
void ActivateAllKeepingSlope(Activation activation, MatrixF& x_slope, MatrixF& y) {
  thread_local Eigen::ArrayXf scratch;
  ForEachPiece(y.size(), [&](std::int64_t begin, std::int64_t size) {
    ActivateKeepingSlope(activation, Values(x_slope.data() + begin, size),
                         Values(y.data() + begin, size), scratch);
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

// Where the weights [in, out] and biases [out] of a layer lie in the flat buffer.
struct LayerPlace {
  std::int64_t in, out, weight, bias;
};

std::vector<LayerPlace> LayerPlaces(const std::vector<std::int64_t>& sizes) {
  std::vector<LayerPlace> places;
  std::int64_t at = 0;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const std::int64_t in = sizes[l], out = sizes[l + 1];
    places.push_back({in, out, at, at + in * out});
    at += (in + 1) * out;
  }
  return places;
}

// Writes the biases to every row of y [rows, out], whose rows begin `y_stride` values apart.
void FillRows(const LayerPlace& layer, const VectorF& parameters, std::int64_t rows, float* y,
              std::int64_t y_stride) {
  const float* bias = parameters.data() + layer.bias;
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(bias, layer.out, y + i * y_stride);
}

// y [rows, out] = x [rows, in] W + b, rows of x and y `x_stride` and `y_stride` values apart.
void Affine(const LayerPlace& layer, const VectorF& parameters, std::int64_t rows, const float* x,
            std::int64_t x_stride, float* y, std::int64_t y_stride) {
  FillRows(layer, parameters, rows, y, y_stride);
  MatrixProduct(rows, layer.in, layer.out, {x, x_stride},
                {parameters.data() + layer.weight, layer.out}, y, y_stride, true);
}

// Whether training steps multiply in bfloat16 on this CPU. For narrow layers it takes as long to
// round as to multiply.
bool TrainsInBFloat16(const MlpOptions& options) {
  constexpr std::int64_t kWorthRounding = 128;  // units
  if (options.precision == Precision::kAuto) {
    return options.width >= kWorthRounding && HasFastBFloat16Products();
  }
  if (options.precision == Precision::kFloat) return false;
  if (!HasBFloat16Products()) {
    Throw<ConfigError>("this CPU has no bfloat16 products; set precision to auto or float");
  }
  return true;
}

// What one training pass keeps for its backward pass, allocated once per batch size.
struct TrainingPass {
  void Reserve(std::int64_t rows, const std::vector<std::int64_t>& sizes) {
    if (outputs.rows() == rows && outputs.size() > 0) return;
    const std::size_t hidden = sizes.size() - 2;
    for (auto* buffers : {&slopes, &active, &gradients}) {
      buffers->resize(hidden);
      for (std::size_t l = 0; l < hidden; ++l) (*buffers)[l].resize(rows, sizes[l + 1]);
    }
    outputs.resize(rows, sizes.back());
    rounded_inputs.resize(hidden + 1);
    rounded_weights.resize(hidden + 1);
  }
  const MatrixF* inputs = nullptr;
  bool rounded = false;  // to bfloat16
  MatrixF outputs;
  // of every hidden layer: x W + b, then the derivative of the activation there; the activations;
  // and in the backward pass the gradient of the loss by x W + b
  std::vector<MatrixF> slopes, active, gradients;
  // in bfloat16, rounded once and used twice: the inputs and weights of every layer
  std::vector<BFloat16Matrix> rounded_inputs, rounded_weights;
  BFloat16Matrix rounded_gradient;
};

}  // namespace

struct Mlp::Impl {
  Impl(std::int64_t input, std::int64_t output, const MlpOptions& network)
      : options(network),
        sizes(LayerSizes(input, output, network)),
        layers(LayerPlaces(sizes)),
        parameters(VectorF::Zero(CountParameters(sizes))) {}

  MlpOptions options;
  std::vector<std::int64_t> sizes;
  std::vector<LayerPlace> layers;
  VectorF parameters;
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
  const std::int64_t width = options().hidden_layers > 0 ? options().width : 0;
  const Eigen::Index most = std::min<Eigen::Index>(kChunkRows, inputs.rows());
  VectorF first(most * width), second(most * width);
  for (Eigen::Index begin = 0; begin < inputs.rows(); begin += kChunkRows) {
    const Eigen::Index rows = std::min<Eigen::Index>(kChunkRows, inputs.rows() - begin);
    const float* x = inputs.data() + begin * inputs.outerStride();
    std::int64_t x_stride = inputs.outerStride();
    float *to = first.data(), *other = second.data();
    for (std::size_t l = 0; l + 1 < impl_->layers.size(); ++l) {
      Affine(impl_->layers[l], parameters(), rows, x, x_stride, to, width);
      ActivateAll(options().activation, to, rows * width);
      x = to;
      x_stride = width;
      std::swap(to, other);
    }
    Affine(impl_->layers.back(), parameters(), rows, x, x_stride,
           outputs.data() + begin * outputs.outerStride(), outputs.outerStride());
  }
}

Eigen::Map<const MatrixF> Mlp::ForwardTraining(const MatrixF& inputs) {
  LFIW_ASSERT(inputs.cols() == input_dim());
  TrainingPass& pass = impl_->pass;
  pass.Reserve(inputs.rows(), impl_->sizes);
  pass.inputs = &inputs;
  pass.rounded = TrainsInBFloat16(options());
  const std::size_t last = impl_->layers.size() - 1;
  for (std::size_t l = 0; l <= last; ++l) {
    const LayerPlace& layer = impl_->layers[l];
    const MatrixF& x = l == 0 ? inputs : pass.active[l - 1];
    MatrixF& y = l == last ? pass.outputs : pass.slopes[l];
    if (pass.rounded) {
      FillRows(layer, parameters(), y.rows(), y.data(), y.cols());
      BFloat16Matrix &left = pass.rounded_inputs[l], &weights = pass.rounded_weights[l];
      left.Round(x.rows(), layer.in, x.data(), x.cols());
      weights.Round(layer.in, layer.out, parameters().data() + layer.weight, layer.out);
      BFloat16Product({left}, {weights}, y.data(), y.cols(), true);
    } else {
      Affine(layer, parameters(), x.rows(), x.data(), x.cols(), y.data(), y.cols());
    }
    if (l < last) ActivateAllKeepingSlope(options().activation, pass.slopes[l], pass.active[l]);
  }
  return {pass.outputs.data(), inputs.rows(), output_dim()};
}

void Mlp::Backward(const MatrixF& output_gradient, VectorF& gradient) {
  LFIW_ASSERT(gradient.size() == parameters().size());
  TrainingPass& pass = impl_->pass;
  const std::int64_t rows = output_gradient.rows();
  const MatrixF* dy = &output_gradient;
  for (std::size_t l = impl_->layers.size(); l-- > 0;) {
    // from the gradient of x W + b: to the parameters, then through x to the layer before
    const auto& [in, out, weight, bias] = impl_->layers[l];
    const MatrixF& x = l == 0 ? *pass.inputs : pass.active[l - 1];
    float* const dw = gradient.data() + weight;
    if (pass.rounded) {
      pass.rounded_gradient.Round(rows, out, dy->data(), out);
      BFloat16Product({pass.rounded_inputs[l], true}, {pass.rounded_gradient}, dw, out);
    } else {
      MatrixProduct(in, rows, out, {x.data(), in, true}, {dy->data(), out}, dw, out);
    }
    gradient.segment(bias, out) = dy->colwise().sum().transpose();
    if (l == 0) break;
    MatrixF& dx = pass.gradients[l - 1];
    if (pass.rounded) {
      BFloat16Product({pass.rounded_gradient}, {pass.rounded_weights[l], true}, dx.data(), in);
    } else {
      MatrixProduct(rows, out, in, {dy->data(), out}, {parameters().data() + weight, out, true},
                    dx.data(), in);
    }
    dx.array() *= pass.slopes[l - 1].array();
    dy = &dx;
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
  MlpOptions options;
  options.hidden_layers = shape[2];
  options.width = shape[3];
  options.activation = static_cast<Activation>(shape[4]);
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
