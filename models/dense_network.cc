#include "models/dense_network.h"

#include <utility>

#include "core/config/visitor.h"
#include "core/error.h"
#include "models/tiled_product.h"

namespace lfiw::models {
namespace {

using Values = Eigen::Map<Eigen::ArrayXf, Eigen::Aligned64>;

void CheckLayers(const std::vector<DenseLayer>& layers, const std::string& source) {
  if (layers.empty()) Throw<PolicyError>("{}: the network has no layer", source);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& [weight, bias] = layers[l];
    const Eigen::Index expected = l == 0 ? weight.rows() : layers[l - 1].weight.cols();
    if (weight.size() == 0 || weight.rows() != expected || bias.size() != weight.cols()) {
      Throw<PolicyError>(
          "{}: layer {} maps {} to {} values with {} biases, expected {} inputs (the outputs of "
          "the "
          "layer before) and as many biases as outputs, none of them 0",
          source, l, weight.rows(), weight.cols(), bias.size(), expected);
    }
    // a bias of -infinity at the output is the logit of an action that is never taken
    const bool sound =
        l + 1 < layers.size() ? bias.allFinite() : !bias.hasNaN() && bias.maxCoeff() < HUGE_VALF;
    if (!weight.allFinite() || !sound) {
      Throw<PolicyError>("{}: layer {} holds a number that is not finite", source, l);
    }
  }
}

DenseLayer Pad(const DenseLayer& layer) {
  const Eigen::Index columns = layer.weight.cols(), width = PadToLane(columns);
  DenseLayer padded{MatrixF::Zero(layer.weight.rows(), width), VectorF::Zero(width)};
  padded.weight.leftCols(columns) = layer.weight;
  padded.bias.head(columns) = layer.bias;
  return padded;
}

// Two buffers of one thread that layers are computed from and into, in turn.
std::pair<float*, float*> ThreadBuffers(Eigen::Index size) {
  thread_local VectorF first, second;
  if (first.size() < size) {
    first.resize(size);
    second.resize(size);
  }
  return {first.data(), second.data()};
}

}  // namespace

DenseNetwork::DenseNetwork(std::vector<DenseLayer> layers, Activation activation,
                           const std::string& source)
    : layers_(std::move(layers)), activation_(activation) {
  CheckLayers(layers_, source);
  for (const DenseLayer& layer : layers_) padded_.push_back(Pad(layer));
}

std::string DenseNetwork::Description() const {
  std::string text = fmt::format("{} MLP {}", EnumName(activation_), inputs());
  for (const DenseLayer& layer : layers_) text += fmt::format("-{}", layer.weight.cols());
  return text;
}

void DenseNetwork::Forward(ConstMatrixRef inputs, MatrixRef outputs) const {
  LFIW_ASSERT(inputs.cols() == this->inputs() && outputs.cols() == this->outputs());
  Eigen::Index widest = 0;
  for (const DenseLayer& layer : padded_) widest = std::max(widest, layer.weight.cols());
  auto [from, to] = ThreadBuffers(inputs.rows() * widest);
  StridedMatrix in{inputs.data(), inputs.outerStride(), 1};
  for (std::size_t l = 0; l < padded_.size(); ++l) {
    const auto& [weight, bias] = padded_[l];
    TiledProduct(inputs.rows(), weight.rows(), weight.cols(), in, weight.data(), bias.data(), to);
    if (l + 1 < padded_.size()) Activate(activation_, Values(to, inputs.rows() * weight.cols()));
    in = {to, weight.cols(), 1};
    std::swap(from, to);
  }
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    outputs.row(i) = Eigen::Map<const Eigen::RowVectorXf>(from + i * in.row_stride, outputs.cols());
  }
}

}  // namespace lfiw::models
