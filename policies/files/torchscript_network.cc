#include "policies/files/torchscript_network.h"

#include <torch/script.h>

#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "models/torchscript_module.h"

namespace lfiw::policies {
namespace {

constexpr std::int64_t kProbeRows = 3;
// rows computed alone and in a batch differ by rounding
constexpr double kBatchTolerance = 1e-4;

[[noreturn]] void RefuseState(const std::string& path, const std::string& what) {
  Throw<PolicyError>(
      "{}: {}, so its action depends on more than the observation; expected a module without "
      "state between calls",
      path, what);
}

// What a call returns; its DataError as a PolicyError.
template <class Function>
auto AsPolicy(Function&& call) {
  try {
    return call();
  } catch (const DataError& error) {
    throw PolicyError(error.what());
  }
}

at::ScalarType TorchType(NetworkDtype dtype) {
  return dtype == NetworkDtype::kFloat32 ? at::kFloat : at::kDouble;
}

NetworkDtype OtherType(NetworkDtype dtype) {
  return dtype == NetworkDtype::kFloat32 ? NetworkDtype::kFloat64 : NetworkDtype::kFloat32;
}

}  // namespace

struct TorchScriptNetwork::Impl {
  TorchScriptModule module;
  Shape shape;

  // The module's outputs [n, outputs] of inputs [n, inputs] in the shape's dtype.
  at::Tensor Call(const at::Tensor& inputs) const {
    const std::string what = fmt::format("[{}] observations of {}, as its contract says",
                                         fmt::join(inputs.sizes(), ", "), EnumName(shape.dtype));
    return Join(AsPolicy([&] { return module.Call({inputs}, what); }));
  }

  at::Tensor Join(const c10::IValue& result) const {
    if (result.isTensor()) return result.toTensor();
    if (result.isTuple() && result.toTupleRef().elements().size() == 2) {
      const auto& parts = result.toTupleRef().elements();
      if (parts[0].isTensor() && parts[1].isTensor()) {
        const at::Tensor mean = parts[0].toTensor();
        return at::cat({mean, parts[1].toTensor().expand_as(mean)}, 1);
      }
    }
    Throw<PolicyError>("{}: the module returns a {}, expected a tensor or the pair (mean, log_std)",
                       module.path(), result.tagKind());
  }

  void CheckDtype() const {
    for (const at::Tensor& tensor : module.Tensors()) {
      if (tensor.scalar_type() != TorchType(OtherType(shape.dtype))) continue;
      Throw<PolicyError>(
          "{}: the module has {} weights, its contract says dtype: {}; write dtype: "
          "{}",
          module.path(), EnumName(OtherType(shape.dtype)), EnumName(shape.dtype),
          EnumName(OtherType(shape.dtype)));
    }
  }

  void CheckOutputs(const at::Tensor& outputs, std::int64_t rows) const {
    if (outputs.dim() == 2 && outputs.size(0) == rows && outputs.size(1) == shape.outputs) return;
    Throw<PolicyError>(
        "{}: the module returns shape [{}] for [{}, {}] observations, expected [{}, {}] as its "
        "contract says",
        module.path(), fmt::join(outputs.sizes(), ", "), rows, shape.inputs, rows, shape.outputs);
  }
};

TorchScriptNetwork::TorchScriptNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchScriptNetwork::~TorchScriptNetwork() = default;

std::unique_ptr<TorchScriptNetwork> TorchScriptNetwork::Load(const std::string& path) {
  auto impl = std::make_unique<Impl>(
      Impl{AsPolicy([&] { return TorchScriptModule::Load(path); }), Shape{}});
  if (const std::vector<std::string> state = impl->module.StateAttributes(); !state.empty()) {
    RefuseState(path, fmt::format("the module keeps a state ({})", fmt::join(state, ", ")));
  }
  return std::unique_ptr<TorchScriptNetwork>(new TorchScriptNetwork(std::move(impl)));
}

void TorchScriptNetwork::Bind(const Shape& shape) {
  Impl& impl = *impl_;
  impl.shape = shape;
  impl.CheckDtype();
  MatrixF probe(kProbeRows, shape.inputs);
  Stream(0, "probe of a module")
      .FillNormal(std::span(probe.data(), static_cast<std::size_t>(probe.size())));
  const at::Tensor inputs = at::from_blob(probe.data(), {probe.rows(), probe.cols()}, at::kFloat)
                                .to(TorchType(shape.dtype));

  const std::vector<at::Tensor> before = CopiesOf(impl.module.Tensors());
  const at::Tensor first = impl.Call(inputs.narrow(0, 0, 1)).clone();
  impl.CheckOutputs(first, 1);
  const at::Tensor again = impl.Call(inputs.narrow(0, 0, 1));
  // an undefined answer (NaN) is told where the policy is asked, with its observation
  if (!at::allclose(first, again, 0.0, 0.0, /*equal_nan=*/true) ||
      !AllEqual(before, impl.module.Tensors())) {
    RefuseState(impl.module.path(),
                "the module answers differently when asked twice (it keeps a state or draws "
                "random numbers)");
  }
  const at::Tensor batch = impl.Call(inputs);
  impl.CheckOutputs(batch, kProbeRows);
  if (!at::allclose(batch.narrow(0, 0, 1), first, kBatchTolerance, kBatchTolerance,
                    /*equal_nan=*/true)) {
    RefuseState(impl.module.path(), "the module mixes the rows of a batch");
  }
}

std::int64_t TorchScriptNetwork::inputs() const { return impl_->shape.inputs; }
std::int64_t TorchScriptNetwork::outputs() const { return impl_->shape.outputs; }

std::string TorchScriptNetwork::Description() const {
  return fmt::format("TorchScript module {}-...-{}", inputs(), outputs());
}

void TorchScriptNetwork::Forward(ConstMatrixRef inputs, MatrixRef outputs) const {
  const at::Tensor in =
      at::from_blob(const_cast<float*>(inputs.data()), {inputs.rows(), inputs.cols()},
                    {inputs.outerStride(), 1}, at::kFloat)
          .to(TorchType(impl_->shape.dtype));
  const at::Tensor out = impl_->Call(in);
  impl_->CheckOutputs(out, inputs.rows());
  at::from_blob(outputs.data(), {outputs.rows(), outputs.cols()}, {outputs.outerStride(), 1},
                at::kFloat)
      .copy_(out);
}

}  // namespace lfiw::policies
