#include "models/tanh_mlp.h"

#include <Eigen/QR>
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "models/tiled_product.h"

namespace lfiw::models {
namespace {

using ConstRows = Eigen::Map<const MatrixF, Eigen::Aligned64>;
using Rows = Eigen::Map<MatrixF, Eigen::Aligned64>;
using FloatArray = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;
using ConstFloatArray = Eigen::Map<const Eigen::ArrayXf, Eigen::Aligned64>;

// A matrix with orthonormal columns (or rows, if there are fewer), uniformly distributed: Q of a
// Gaussian matrix, with the signs that make R's diagonal positive (Mezzadri 2007).
MatrixD RandomOrthogonal(std::int64_t rows, std::int64_t columns, Stream stream) {
  const std::int64_t tall = std::max(rows, columns), thin = std::min(rows, columns);
  Eigen::MatrixXd normal(tall, thin);
  stream.FillNormal(std::span<double>(normal.data(), static_cast<std::size_t>(normal.size())));
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(normal);
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(tall, thin);
  for (Eigen::Index j = 0; j < thin; ++j) {
    if (qr.matrixQR()(j, j) < 0.0) q.col(j) = -q.col(j);
  }
  if (rows >= columns) return q;
  return q.transpose();
}

}  // namespace

TanhMlp::TanhMlp(std::vector<std::int64_t> sizes) : sizes_(std::move(sizes)) {
  LFIW_ASSERT(sizes_.size() >= 2);
  for (std::size_t l = 0; l + 1 < sizes_.size(); ++l) {
    LFIW_ASSERT(sizes_[l] >= 1 && sizes_[l + 1] >= 1);
    const std::int64_t width = PadToLane(sizes_[l + 1]);
    const std::int64_t weights = sizes_[l] * width;
    layers_.push_back(
        {sizes_[l], sizes_[l + 1], width, parameter_count_, parameter_count_ + weights});
    parameter_count_ += weights + width;
  }
}

MatrixF TanhMlp::Weight(const float* parameters, std::size_t layer) const {
  const Layer& l = layers_[layer];
  return ConstRows(parameters + l.weight_offset, l.inputs, l.width).leftCols(l.outputs);
}

VectorF TanhMlp::Bias(const float* parameters, std::size_t layer) const {
  const Layer& l = layers_[layer];
  return Eigen::Map<const VectorF>(parameters + l.bias_offset, l.outputs);
}

void TanhMlp::SetWeight(const MatrixF& weight, std::size_t layer, float* parameters) const {
  const Layer& l = layers_[layer];
  LFIW_ASSERT(weight.rows() == l.inputs && weight.cols() == l.outputs);
  Rows target(parameters + l.weight_offset, l.inputs, l.width);
  target.setZero();
  target.leftCols(l.outputs) = weight;
}

void TanhMlp::SetBias(const VectorF& bias, std::size_t layer, float* parameters) const {
  const Layer& l = layers_[layer];
  LFIW_ASSERT(bias.size() == l.outputs);
  FloatArray target(parameters + l.bias_offset, l.width);
  target.setZero();
  target.head(l.outputs) = bias.array();
}

void TanhMlp::Initialize(const Stream& stream, double hidden_gain, double output_gain,
                         float* parameters) const {
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const double gain = l + 1 == layers_.size() ? output_gain : hidden_gain;
    const MatrixD weight =
        gain * RandomOrthogonal(layers_[l].inputs, layers_[l].outputs, stream.Child(l));
    SetWeight(weight.cast<float>(), l, parameters);
    SetBias(VectorF::Zero(layers_[l].outputs), l, parameters);
  }
}

TanhMlp::Workspace::Workspace(const TanhMlp& mlp, std::int64_t capacity) {
  std::int64_t largest = 0;
  for (const Layer& layer : mlp.layers()) {
    activations.push_back(VectorF::Zero(capacity * layer.width));
    deltas.push_back(VectorF::Zero(capacity * layer.width));
    largest = std::max(largest, layer.outputs * PadToLane(layer.inputs));
  }
  transposed = VectorF::Zero(largest);
}

void TanhMlp::Forward(const float* parameters, std::int64_t rows, const float* input,
                      std::int64_t input_stride, Workspace& workspace) const {
  StridedMatrix in{input, input_stride, 1};
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    float* out = workspace.activations[l].data();
    TiledProduct(rows, layer.inputs, layer.width, in, parameters + layer.weight_offset,
                 parameters + layer.bias_offset, out);
    if (l + 1 < layers_.size()) {
      FloatArray hidden(out, rows * layer.width);
      hidden = hidden.tanh();
    }
    in = {out, layer.width, 1};
  }
}

void TanhMlp::Backward(const float* parameters, std::int64_t rows, const float* input,
                       std::int64_t input_stride, Workspace& workspace, float* gradient) const {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const float* delta = workspace.deltas[l].data();
    // d loss / d W = in^T delta, d loss / d b = column sums of delta
    const StridedMatrix in_transposed =
        l == 0 ? StridedMatrix{input, 1, input_stride}
               : StridedMatrix{workspace.activations[l - 1].data(), 1, layers_[l - 1].width};
    TiledProduct(layer.inputs, rows, layer.width, in_transposed, delta, nullptr,
                 gradient + layer.weight_offset);
    FloatArray bias_gradient(gradient + layer.bias_offset, layer.width);
    bias_gradient.setZero();
    for (std::int64_t i = 0; i < rows; ++i) {
      bias_gradient += ConstFloatArray(delta + i * layer.width, layer.width);
    }
    if (l == 0) break;

    // delta of the layer below = (delta W^T) (1 - tanh^2)
    const std::int64_t below = layers_[l - 1].width;
    Rows transposed(workspace.transposed.data(), layer.outputs, below);
    transposed.leftCols(layer.inputs) =
        ConstRows(parameters + layer.weight_offset, layer.inputs, layer.width)
            .leftCols(layer.outputs)
            .transpose();
    transposed.rightCols(below - layer.inputs).setZero();
    TiledProduct(rows, layer.outputs, below, {delta, layer.width, 1}, transposed.data(), nullptr,
                 workspace.deltas[l - 1].data());
    const ConstFloatArray hidden(workspace.activations[l - 1].data(), rows * below);
    FloatArray(workspace.deltas[l - 1].data(), rows * below) *= 1.0f - hidden.square();
  }
}

}  // namespace lfiw::models
