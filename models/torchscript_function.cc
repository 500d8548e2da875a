#include "models/torchscript_function.h"

#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "models/torchscript_module.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kProbeRows = 3;
// rows computed alone and in a batch differ by rounding
constexpr double kBatchTolerance = 1e-4;

// float64 if any weight is, else float32.
at::ScalarType TypeOf(const TorchScriptModule& module) {
  const std::vector<at::Tensor> tensors = module.Tensors();
  const bool wide = std::ranges::any_of(
      tensors, [](const at::Tensor& tensor) { return tensor.scalar_type() == at::kDouble; });
  return wide ? at::kDouble : at::kFloat;
}

at::Tensor TensorOf(ConstMatrixRef rows, at::ScalarType type) {
  return at::from_blob(const_cast<float*>(rows.data()), {rows.rows(), rows.cols()},
                       {rows.outerStride(), 1}, at::kFloat)
      .to(type);
}

MatrixF ProbeRows(std::int64_t columns, std::uint64_t part) {
  MatrixF rows(kProbeRows, columns);
  Stream(0, "probe of a function", {part})
      .FillNormal(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
  return rows;
}

}  // namespace

struct TorchScriptFunction::Impl {
  TorchScriptModule module;
  at::ScalarType type;

  // One double per row.
  at::Tensor Call(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states) const {
    const std::int64_t n = states.rows();
    const c10::IValue result =
        module.Call({TensorOf(states, type), TensorOf(actions, type), TensorOf(next_states, type)},
                    fmt::format("states [{0}, {1}], actions [{0}, {2}] and next states [{0}, {1}]",
                                n, states.cols(), actions.cols()));
    if (!result.isTensor()) {
      Throw<DataError>("{}: the module returns a {}, expected a tensor of one number per row",
                       module.path(), result.tagKind());
    }
    const at::Tensor values = result.toTensor();
    const bool column = values.dim() == 2 && values.size(1) == 1;
    if ((values.dim() != 1 && !column) || values.size(0) != n) {
      Throw<DataError>("{}: the module returns shape [{}] for {} rows, expected [{}] or [{}, 1]",
                       module.path(), fmt::join(values.sizes(), ", "), n, n, n);
    }
    return values.reshape({n}).to(at::kDouble);
  }
};

TorchScriptFunction::TorchScriptFunction(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchScriptFunction::~TorchScriptFunction() = default;

std::unique_ptr<TorchScriptFunction> TorchScriptFunction::Load(const std::string& path,
                                                               std::int64_t obs_dim,
                                                               std::int64_t action_dim) {
  TorchScriptModule module = TorchScriptModule::Load(path);
  const at::ScalarType type = TypeOf(module);
  auto impl = std::make_unique<Impl>(Impl{std::move(module), type});

  const MatrixF states = ProbeRows(obs_dim, 0), next_states = ProbeRows(obs_dim, 1);
  const MatrixF actions = ProbeRows(action_dim, 2);
  const std::vector<at::Tensor> before = CopiesOf(impl->module.Tensors());
  const at::Tensor first = impl->Call(states, actions, next_states).clone();
  const at::Tensor again = impl->Call(states, actions, next_states);
  // random rows may lie where a function is not defined
  if (!at::allclose(first, again, 0.0, 0.0, true) || !AllEqual(before, impl->module.Tensors())) {
    Throw<DataError>(
        "{}: the module answers differently when asked twice (it keeps a state or draws random "
        "numbers), expected a function of states, actions and next states",
        path);
  }
  const at::Tensor alone =
      impl->Call(states.topRows(1), actions.topRows(1), next_states.topRows(1));
  if (!at::allclose(first.narrow(0, 0, 1), alone, kBatchTolerance, kBatchTolerance, true)) {
    Throw<DataError>("{}: the module mixes the rows of a batch, expected one number for each row",
                     path);
  }
  return std::unique_ptr<TorchScriptFunction>(new TorchScriptFunction(std::move(impl)));
}

void TorchScriptFunction::Predict(ConstMatrixRef states, ConstMatrixRef actions,
                                  ConstMatrixRef next_states, std::span<double> values) const {
  for (std::int64_t row = 0; row < states.rows(); row += kChunkRows) {
    const std::int64_t n = std::min<std::int64_t>(kChunkRows, states.rows() - row);
    const at::Tensor predicted = impl_
                                     ->Call(states.middleRows(row, n), actions.middleRows(row, n),
                                            next_states.middleRows(row, n))
                                     .contiguous();
    const std::span<const double> part(predicted.data_ptr<double>(), static_cast<std::size_t>(n));
    const auto bad = std::ranges::find_if_not(part, [](double v) { return std::isfinite(v); });
    if (bad != part.end()) {
      Throw<NumericError>("{}: the module returns {}, expected a finite number for every row",
                          impl_->module.path(), *bad);
    }
    std::ranges::copy(part, values.begin() + row);
  }
}

}  // namespace lfiw::models
