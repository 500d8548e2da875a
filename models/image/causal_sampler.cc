#include "models/image/causal_sampler.h"

#include <algorithm>

#include "core/error.h"

namespace lfiw::models {
namespace {

// No value is needed when the one three rows below is computed.
constexpr std::int64_t kRows = 3;

using Rows = Eigen::Map<MatrixF>;
using ConstRows = Eigen::Map<const MatrixF>;

// The last rows of a node's values, [kRows, columns + 2, batch, channels], zero beyond the image.
class Values {
 public:
  Values(std::int64_t batch, std::int64_t columns, std::int64_t channels)
      : batch_(batch),
        columns_(columns),
        channels_(channels),
        data_(static_cast<std::size_t>(kRows * (columns + 2) * batch * channels), 0.0f) {}

  std::int64_t columns() const { return columns_; }
  std::int64_t batch() const { return batch_; }
  std::int64_t channels() const { return channels_; }

  // The values of `count` places of a row as a matrix [count * batch, channels]; columns from -1 to
  // `columns` exist, and rows from -2 on.
  Rows At(std::int64_t row, std::int64_t column, std::int64_t count) {
    return {Pointer(row, column), count * batch_, channels_};
  }
  ConstRows At(std::int64_t row, std::int64_t column, std::int64_t count) const {
    return {const_cast<Values*>(this)->Pointer(row, column), count * batch_, channels_};
  }

 private:
  float* Pointer(std::int64_t row, std::int64_t column) {
    LFIW_ASSERT(row >= -2 && column >= -1 && column <= columns_);
    const std::int64_t place = ((row + kRows) % kRows) * (columns_ + 2) + column + 1;
    return data_.data() + place * batch_ * channels_;
  }

  std::int64_t batch_, columns_, channels_;
  std::vector<float> data_;
};

// Places of one row to compute.
struct Span {
  std::int64_t row, column, count;
};

// Images that are computed together: the products of fewer, and of a number that is no multiple of
// 4, round otherwise.
std::int64_t PaddedBatch(std::int64_t count) {
  return std::max<std::int64_t>((count + 3) / 4 * 4, 20);
}

using Packet = Eigen::Array<float, 1, 8>;

// `count` values, zero beyond them.
Packet Load(const float* from, Eigen::Index count) {
  if (count == Packet::SizeAtCompileTime) return Eigen::Map<const Packet>(from);
  Packet packet = Packet::Zero();
  std::copy_n(from, count, packet.data());
  return packet;
}

// y = f(x...) element by element, [rows, columns] each. Eigen computes the ends of an array, which
// depend on where it lies in memory, apart from the rest and rounds exp otherwise there; in whole
// packets one argument has one value.
template <class F, class... X>
void Apply(const F& f, Eigen::Ref<MatrixF> y, const X&... x) {
  for (Eigen::Index row = 0; row < y.rows(); ++row) {
    for (Eigen::Index first = 0; first < y.cols(); first += Packet::SizeAtCompileTime) {
      const auto count = std::min<Eigen::Index>(Packet::SizeAtCompileTime, y.cols() - first);
      const Packet values = f(Load(&x.coeffRef(row, first), count)...);
      if (count == Packet::SizeAtCompileTime) {
        Eigen::Map<Packet>(&y.coeffRef(row, first)) = values;
      } else {
        std::copy_n(values.data(), count, &y.coeffRef(row, first));
      }
    }
  }
}

Packet Elu(const Packet& x) { return x.max(0.0f) + x.min(0.0f).exp() - 1.0f; }

class Evaluator {
 public:
  Evaluator(const CausalGraph& graph, const std::vector<CausalFilter>& filters,
            const ImageBatch& images)
      : graph_(graph), filters_(filters), count_(images.count) {
    const std::int64_t batch = PaddedBatch(images.count);
    for (const CausalNode& node : graph.nodes) {
      values_.emplace_back(batch, images.width >> node.level, node.channels);
    }
  }

  // Computes all that the pixel's output needs and that is not there yet.
  void Advance(std::int64_t row, std::int64_t column) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const CausalNode& node = graph_.nodes[i];
      const std::int64_t mask = (std::int64_t{1} << node.level) - 1;
      if (node.operation == CausalOperation::kInput || (row & mask) != 0) continue;
      const std::int64_t r = row >> node.level, c = column >> node.level;
      if (node.stream == CausalStream::kCorner) {
        if ((column & mask) == 0) Compute(i, {r, c, 1});
      } else if (column == 0) {
        Compute(i, {r, 0, values_[i].columns()});
      }
    }
  }

  // [count, outputs]
  ConstRows Output(std::int64_t row, std::int64_t column) const {
    const ConstRows padded = values_.back().At(row, column, 1);
    return {padded.data(), count_, padded.cols()};
  }

  // bytes [count, channels]
  void SetPixel(std::int64_t row, std::int64_t column, const std::uint8_t* bytes) {
    Rows pixel = values_[0].At(row, column, 1);
    const Eigen::Index channels = pixel.cols() - 1;
    for (Eigen::Index b = 0; b < count_; ++b) {
      for (Eigen::Index c = 0; c < channels; ++c) {
        pixel(b, c) = static_cast<float>(*bytes++) / 127.5f - 1.0f;
      }
      pixel(b, channels) = 1.0f;
    }
  }

 private:
  ConstRows Input(const CausalNode& node, std::size_t i, const Span& at) const {
    return values_[node.inputs[i]].At(at.row, at.column, at.count);
  }

  void Compute(std::size_t index, const Span& at) {
    const CausalNode& node = graph_.nodes[index];
    Rows y = values_[index].At(at.row, at.column, at.count);
    switch (node.operation) {
      case CausalOperation::kInput:
        return;
      case CausalOperation::kConv:
        return Convolve(node, at, y);
      case CausalOperation::kTransposed:
        return Transpose(node, at, y);
      case CausalOperation::kConcatElu: {
        const ConstRows x = Input(node, 0, at);
        Apply(Elu, y.leftCols(x.cols()), x);
        Apply([](const Packet& v) -> Packet { return Elu(-v); }, y.rightCols(x.cols()), x);
        return;
      }
      case CausalOperation::kElu:
        return Apply(Elu, y, Input(node, 0, at));
      case CausalOperation::kAdd:
        y = Input(node, 0, at) + Input(node, 1, at);
        return;
      case CausalOperation::kGate: {
        const ConstRows gates = Input(node, 0, at);
        const auto gate = [](const Packet& x, const Packet& a, const Packet& b) -> Packet {
          return x + a * b.logistic();
        };
        return Apply(gate, y, Input(node, 1, at), gates.leftCols(y.cols()),
                     gates.rightCols(y.cols()));
      }
    }
  }

  // y += x W[tap] for the columns of W that belong to input `x`
  void AddTap(const CausalNode& node, std::int64_t tap, std::int64_t row, std::int64_t column,
              std::int64_t count, Eigen::Ref<MatrixF> y) const {
    const MatrixF& weight =
        filters_[static_cast<std::size_t>(node.filter)].taps[static_cast<std::size_t>(tap)];
    Eigen::Index first = 0;
    for (const std::size_t input : node.inputs) {
      const Values& values = values_[input];
      y.noalias() += values.At(row, column, count) * weight.middleRows(first, values.channels());
      first += values.channels();
    }
  }

  void Convolve(const CausalNode& node, const Span& at, Rows& y) const {
    const CausalKernel& kernel = node.kernel;
    const std::int64_t batch = values_[0].batch();
    y.rowwise() = filters_[static_cast<std::size_t>(node.filter)].bias;
    for (std::int64_t i = 0; i < kernel.height; ++i) {
      const std::int64_t row = kernel.stride * at.row + kernel.row + i;
      for (std::int64_t j = 0; j < kernel.width; ++j) {
        const std::int64_t tap = i * kernel.width + j, column = kernel.column + j;
        if (kernel.stride == 1) {
          AddTap(node, tap, row, at.column + column, at.count, y);
          continue;
        }
        for (std::int64_t c = 0; c < at.count; ++c) {
          AddTap(node, tap, row, kernel.stride * (at.column + c) + column, 1,
                 y.middleRows(c * batch, batch));
        }
      }
    }
  }

  void Transpose(const CausalNode& node, const Span& at, Rows& y) const {
    const CausalKernel& kernel = node.kernel;
    const std::int64_t batch = values_[0].batch();
    y.rowwise() = filters_[static_cast<std::size_t>(node.filter)].bias;
    // the kernel's rows do not overlap
    const std::int64_t row = at.row / 2, i = at.row % 2;
    for (std::int64_t c = 0; c < at.count; ++c) {
      for (std::int64_t j = 0; j < kernel.width; ++j) {
        const std::int64_t doubled = at.column + c - kernel.column - j;
        if (doubled % 2 != 0) continue;
        AddTap(node, i * kernel.width + j, row, doubled / 2, 1, y.middleRows(c * batch, batch));
      }
    }
  }

  const CausalGraph& graph_;
  const std::vector<CausalFilter>& filters_;
  std::int64_t count_;
  std::vector<Values> values_;
};

}  // namespace

void SampleCausally(const CausalGraph& graph, const std::vector<CausalFilter>& filters,
                    const CausalPixelSource& source, ImageBatch& images) {
  Evaluator evaluator(graph, filters, images);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(images.count * images.channels));
  for (std::int64_t row = 0; row < images.height; ++row) {
    for (std::int64_t column = 0; column < images.width; ++column) {
      evaluator.Advance(row, column);
      source(evaluator.Output(row, column), bytes);
      evaluator.SetPixel(row, column, bytes.data());
      // from [batch, channels] into [batch, height, width, channels]
      for (std::int64_t b = 0; b < images.count; ++b) {
        std::copy_n(bytes.begin() + b * images.channels, images.channels,
                    images.pixels.begin() + b * images.image_size() +
                        (row * images.width + column) * images.channels);
      }
    }
  }
}

}  // namespace lfiw::models
