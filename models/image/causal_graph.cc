#include "models/image/causal_graph.h"

#include <utility>

namespace lfiw::models {
namespace {

// Of a gated block's second convolution: it starts near the identity.
constexpr double kGateScale = 0.1;

constexpr CausalKernel kVerticalKernel = {2, 3, -1, -1, 1};
constexpr CausalKernel kCornerKernel = {2, 2, -1, -1, 1};
constexpr CausalKernel kPoint = {1, 1, 0, 0, 1};

CausalKernel KernelOf(CausalStream stream) {
  return stream == CausalStream::kVertical ? kVerticalKernel : kCornerKernel;
}

class Builder {
 public:
  explicit Builder(const CausalGraphOptions& options) : options_(options) {}

  std::size_t Input() {
    return Add({.operation = CausalOperation::kInput,
                .inputs = {},
                .stream = CausalStream::kVertical,
                .channels = options_.channels + 1,
                .level = 0});
  }

  std::size_t Conv(std::vector<std::size_t> inputs, CausalStream stream, const CausalKernel& kernel,
                   std::int64_t channels, double initial_scale = 1.0) {
    const std::int64_t level = Node(inputs[0]).level + (kernel.stride == 2 ? 1 : 0);
    return Add({.operation = CausalOperation::kConv,
                .inputs = std::move(inputs),
                .stream = stream,
                .channels = channels,
                .level = level,
                .kernel = kernel,
                .filter = graph_.filters++,
                .initial_scale = initial_scale});
  }

  std::size_t Transposed(std::size_t x) {
    const CausalNode& from = Node(x);
    CausalKernel kernel = KernelOf(from.stream);
    kernel.row = 0;
    kernel.column = from.stream == CausalStream::kVertical ? -1 : 0;
    kernel.stride = 2;
    return Add({.operation = CausalOperation::kTransposed,
                .inputs = {x},
                .stream = from.stream,
                .channels = options_.filters,
                .level = from.level - 1,
                .kernel = kernel,
                .filter = graph_.filters++,
                .initial_scale = 1.0});
  }

  std::size_t Pointwise(CausalOperation operation, std::vector<std::size_t> inputs,
                        double dropout = 0.0) {
    const CausalNode first = Node(inputs[0]);
    std::int64_t channels = first.channels;
    if (operation == CausalOperation::kConcatElu) channels *= 2;
    if (operation == CausalOperation::kGate) channels /= 2;
    return Add({.operation = operation,
                .inputs = std::move(inputs),
                .stream = first.stream,
                .channels = channels,
                .level = first.level,
                .dropout = dropout});
  }

  // A gated residual block of the stream of x, with shortcuts from other nodes.
  std::size_t Block(std::size_t x, const std::vector<std::size_t>& shortcuts) {
    const CausalStream stream = Node(x).stream;
    const CausalKernel kernel = KernelOf(stream);
    std::size_t h = Conv({ConcatElu(x)}, stream, kernel, options_.filters);
    if (!shortcuts.empty()) {
      std::vector<std::size_t> active;
      for (const std::size_t shortcut : shortcuts) active.push_back(ConcatElu(shortcut));
      const std::size_t through = Conv(std::move(active), stream, kPoint, options_.filters);
      h = Pointwise(CausalOperation::kAdd, {h, through});
    }
    h = Pointwise(CausalOperation::kConcatElu, {h}, options_.dropout);
    h = Conv({h}, stream, kernel, 2 * options_.filters, kGateScale);
    return Pointwise(CausalOperation::kGate, {h, x});
  }

  std::size_t ConcatElu(std::size_t x) { return Pointwise(CausalOperation::kConcatElu, {x}); }
  CausalGraph Take() { return std::move(graph_); }

 private:
  const CausalNode& Node(std::size_t i) const { return graph_.nodes[i]; }
  std::size_t Add(CausalNode node) {
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.size() - 1;
  }

  CausalGraphOptions options_;
  CausalGraph graph_;
};

// Both streams at one depth.
struct Pair {
  std::size_t vertical, corner;
};

// The first layer: the vertical stream sees rows above, the corner stream also pixels to the left.
Pair FirstLayer(Builder& builder, std::int64_t filters) {
  using enum CausalStream;
  const std::size_t image = builder.Input();
  const std::size_t vertical = builder.Conv({image}, kVertical, {2, 3, -2, -1, 1}, filters);
  const std::size_t above = builder.Conv({image}, kCorner, {1, 3, -1, -1, 1}, filters);
  const std::size_t left = builder.Conv({image}, kCorner, {2, 1, -1, -1, 1}, filters);
  return {vertical, builder.Pointwise(CausalOperation::kAdd, {above, left})};
}

Pair Halved(Builder& builder, const Pair& from, std::int64_t filters) {
  CausalKernel vertical = kVerticalKernel, corner = kCornerKernel;
  vertical.stride = corner.stride = 2;
  return {builder.Conv({from.vertical}, CausalStream::kVertical, vertical, filters),
          builder.Conv({from.corner}, CausalStream::kCorner, corner, filters)};
}

}  // namespace

std::int64_t CausalGraph::InputChannels(const CausalNode& node) const {
  std::int64_t channels = 0;
  for (const std::size_t input : node.inputs) channels += nodes[input].channels;
  return channels;
}

CausalGraph MakePixelCnnGraph(const CausalGraphOptions& options) {
  Builder builder(options);
  // up: to lower and lower resolutions, remembering every layer
  std::vector<Pair> layers = {FirstLayer(builder, options.filters)};
  for (std::int64_t level = 0; level < options.levels; ++level) {
    if (level > 0) layers.push_back(Halved(builder, layers.back(), options.filters));
    for (std::int64_t b = 0; b < options.blocks; ++b) {
      const Pair last = layers.back();
      const std::size_t vertical = builder.Block(last.vertical, {});
      layers.push_back({vertical, builder.Block(last.corner, {vertical})});
    }
  }
  // down: back to the full resolution, with shortcuts from the remembered layers
  Pair now = layers.back();
  layers.pop_back();
  for (std::int64_t level = options.levels - 1; level >= 0; --level) {
    const std::int64_t blocks = options.blocks + (level == options.levels - 1 ? 0 : 1);
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Pair shortcut = layers.back();
      layers.pop_back();
      now.vertical = builder.Block(now.vertical, {shortcut.vertical});
      now.corner = builder.Block(now.corner, {now.vertical, shortcut.corner});
    }
    if (level > 0) now = {builder.Transposed(now.vertical), builder.Transposed(now.corner)};
  }
  const std::size_t active = builder.Pointwise(CausalOperation::kElu, {now.corner});
  builder.Conv({active}, CausalStream::kCorner, kPoint, options.outputs);
  return builder.Take();
}

}  // namespace lfiw::models
