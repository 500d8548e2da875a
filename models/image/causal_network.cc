#include "models/image/causal_network.h"

#include <torch/torch.h>

#include <utility>

#include "core/error.h"

namespace lfiw::models {
namespace {

constexpr double kDirectionScale = 0.05;  // the published initial deviation of v

bool HasFilter(const CausalNode& node) {
  return node.operation == CausalOperation::kConv || node.operation == CausalOperation::kTransposed;
}

at::Tensor ConcatElu(const at::Tensor& x) { return at::elu(at::cat({x, -x}, 1)); }

// All of a node's inputs along channels.
at::Tensor Together(const CausalNode& node, const std::vector<at::Tensor>& values) {
  if (node.inputs.size() == 1) return values[node.inputs[0]];
  std::vector<at::Tensor> parts;
  for (const std::size_t input : node.inputs) parts.push_back(values[input]);
  return at::cat(parts, 1);
}

}  // namespace

CausalNetwork::CausalNetwork(CausalGraph graph, NetworkLayout& layout) : graph_(std::move(graph)) {
  for (const CausalNode& node : graph_.nodes) {
    if (!HasFilter(node)) continue;
    std::int64_t first = node.channels, second = graph_.InputChannels(node);
    if (node.operation == CausalOperation::kTransposed) std::swap(first, second);
    const auto [height, width, row, column, stride] = node.kernel;
    filters_.push_back(
        {.direction = layout.parameters.Add({first, second, height, width},
                                            Initializer::Normal(kDirectionScale)),
         .scale = layout.parameters.Add({node.channels}, Initializer::Constant(1.0)),
         .bias = layout.parameters.Add({node.channels}, Initializer::Constant(0.0))});
  }
}

at::Tensor CausalNetwork::Weight(const Pass& pass, const CausalNode& node) const {
  const at::Tensor& direction = pass.parameters[FilterOf(node).direction];
  const bool transposed = node.operation == CausalOperation::kTransposed;
  const std::vector<std::int64_t> others = {transposed ? 0 : 1, 2, 3};
  std::vector<std::int64_t> shape = {1, 1, 1, 1};
  shape[transposed ? 1 : 0] = node.channels;
  const at::Tensor scale = pass.parameters[FilterOf(node).scale].view(shape);
  return direction * (scale / (direction.pow(2).sum(others, true) + 1e-12).sqrt());
}

at::Tensor CausalNetwork::Bias(const Pass& pass, const CausalNode& node) const {
  return pass.parameters[FilterOf(node).bias];
}

at::Tensor CausalNetwork::Convolve(const Pass& pass, const CausalNode& node,
                                   const at::Tensor& x) const {
  const auto [height, width, row, column, stride] = node.kernel;
  const at::Tensor weight = Weight(pass, node), bias = Bias(pass, node);
  if (node.operation == CausalOperation::kTransposed) {
    const at::Tensor doubled = at::conv_transpose2d(x, weight, bias, stride);
    return doubled.narrow(2, -row, 2 * x.size(2)).narrow(3, -column, 2 * x.size(3));
  }
  if (height == 1 && width == 1) return at::conv2d(x, weight, bias);
  // a negative pad drops what the kernel must not reach
  const at::Tensor padded =
      at::constant_pad_nd(x, {-column, column + width - 1, -row, row + height - 1}, 0.0);
  return at::conv2d(padded, weight, bias, stride);
}

at::Tensor CausalNetwork::Evaluate(Pass& pass, const CausalNode& node,
                                   const std::vector<at::Tensor>& values,
                                   const at::Tensor& images) const {
  const auto input = [&](std::size_t i) { return values[node.inputs[i]]; };
  switch (node.operation) {
    case CausalOperation::kInput:
      return at::cat({images, at::ones_like(images.narrow(1, 0, 1))}, 1);
    case CausalOperation::kConv:
    case CausalOperation::kTransposed:
      return Convolve(pass, node, Together(node, values));
    case CausalOperation::kConcatElu:
      return Dropout(pass, ConcatElu(input(0)), node.dropout);
    case CausalOperation::kElu:
      return at::elu(input(0));
    case CausalOperation::kAdd:
      return input(0) + input(1);
    case CausalOperation::kGate:
      return input(1) + at::glu(input(0), 1);
  }
  LFIW_ASSERT(false);
  return {};
}

at::Tensor CausalNetwork::operator()(Pass& pass, const at::Tensor& images) const {
  std::vector<at::Tensor> values;
  values.reserve(graph_.nodes.size());
  for (const CausalNode& node : graph_.nodes) {
    values.push_back(Evaluate(pass, node, values, images));
  }
  return values.back();
}

void CausalNetwork::Initialize(Pass& pass, const at::Tensor& images) const {
  const c10::InferenceMode inference;
  std::vector<at::Tensor> values;
  for (const CausalNode& node : graph_.nodes) {
    at::Tensor value = Evaluate(pass, node, values, images);
    if (HasFilter(node)) {
      // so far g = 1 and the bias is 0
      const at::Tensor mean = value.mean({0, 2, 3}), variance = value.var({0, 2, 3}, false);
      const at::Tensor scale = node.initial_scale / (variance + 1e-10).sqrt();
      pass.parameters[FilterOf(node).scale].copy_(scale);
      pass.parameters[FilterOf(node).bias].copy_(-mean * scale);
      value = Evaluate(pass, node, values, images);
    }
    values.push_back(value);
  }
}

std::vector<CausalFilter> FiltersForSampling(const CausalNetwork& network, const Pass& pass) {
  const c10::InferenceMode inference;
  std::vector<CausalFilter> filters;
  for (const CausalNode& node : network.graph().nodes) {
    if (!HasFilter(node)) continue;
    at::Tensor weight = network.Weight(pass, node);
    if (node.operation == CausalOperation::kConv) weight = weight.transpose(0, 1);
    // [in, out, height, width] -> [height * width, in, out]
    weight = weight.permute({2, 3, 0, 1}).contiguous().flatten(0, 1);
    CausalFilter filter;
    for (std::int64_t tap = 0; tap < weight.size(0); ++tap) {
      const at::Tensor matrix = weight[tap];
      filter.taps.emplace_back(
          Eigen::Map<const MatrixF>(matrix.data_ptr<float>(), matrix.size(0), matrix.size(1)));
    }
    const at::Tensor bias = network.Bias(pass, node);
    filter.bias = Eigen::Map<const Eigen::RowVectorXf>(bias.data_ptr<float>(), node.channels);
    filters.push_back(std::move(filter));
  }
  return filters;
}

}  // namespace lfiw::models
