#include "policies/torchscript_network.h"

#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "models/torch_threads.h"

namespace lfiw {
namespace {

constexpr std::int64_t kProbeRows = 3;
// rows computed alone and in a batch differ by rounding
constexpr double kBatchTolerance = 1e-4;

// Names that recurrent policies keep their state under.
constexpr std::array<std::string_view, 6> kStateNames = {"hidden_state", "cell_state", "hidden",
                                                         "hx",           "cx",         "h0"};

// The useful line of LibTorch's messages, which carry a stack trace.
std::string Reason(const std::exception& error) {
  std::string text = error.what();
  // the interpreter puts the cause last
  for (const char* marker : {"RuntimeError: ", "Error: "}) {
    if (const std::size_t at = text.rfind(marker); at != std::string::npos) {
      text = text.substr(at + std::string_view(marker).size());
      break;
    }
  }
  text = text.substr(0, text.find('\n'));
  // the cause comes before advice to developers
  if (const std::size_t advice = text.find(". This could be"); advice != std::string::npos) {
    text.resize(advice);
  }
  return text.substr(0, 300);
}

// The last part of a dotted name.
std::string_view LastPart(const std::string& name) {
  return std::string_view(name).substr(name.rfind('.') + 1);
}

// The names of everything in a module that looks like the state of a recurrent policy.
std::vector<std::string> StateAttributes(const torch::jit::Module& module) {
  std::vector<std::string> found;
  const auto look = [&](const std::string& name) {
    if (std::ranges::find(kStateNames, LastPart(name)) != kStateNames.end()) found.push_back(name);
  };
  for (const auto& attribute : module.named_attributes()) look(attribute.name);
  return found;
}

// What to do about a failed call, beyond its reason.
std::string_view Cure(std::string_view reason) {
  const bool gpu = reason.find("CUDA") != std::string_view::npos ||
                   reason.find("cuda") != std::string_view::npos;
  return gpu ? " (its code names a GPU: move the model to the CPU before exporting it)" : "";
}

[[noreturn]] void RefuseState(const std::string& path, const std::string& what) {
  Throw<PolicyError>(
      "{}: {}, so its action depends on more than the observation; expected a module without "
      "state between calls",
      path, what);
}

at::ScalarType TorchType(NetworkDtype dtype) {
  return dtype == NetworkDtype::kFloat32 ? at::kFloat : at::kDouble;
}

NetworkDtype OtherType(NetworkDtype dtype) {
  return dtype == NetworkDtype::kFloat32 ? NetworkDtype::kFloat64 : NetworkDtype::kFloat32;
}

// All tensors of a module, copied.
std::vector<at::Tensor> Snapshot(const torch::jit::Module& module) {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& parameter : module.parameters()) tensors.push_back(parameter.clone());
  for (const at::Tensor& buffer : module.buffers()) tensors.push_back(buffer.clone());
  return tensors;
}

bool Equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](const at::Tensor& x, const at::Tensor& y) {
    return x.sizes() == y.sizes() && at::equal(x, y);
  });
}

}  // namespace

struct TorchScriptNetwork::Impl {
  std::string path;
  torch::jit::Module module;
  Shape shape;

  // The module's outputs [n, outputs] of inputs [n, inputs] in the shape's dtype.
  at::Tensor Call(const at::Tensor& inputs) const {
    const c10::InferenceMode inference;
    // no profiling runs, whose outcome could differ from later ones
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    try {
      // a copy shares the weights; calling is no const operation
      torch::jit::Module callee = module;
      return Join(callee.forward({inputs}));
    } catch (const PolicyError&) {
      throw;
    } catch (const std::exception& error) {
      const std::string reason = Reason(error);
      Throw<PolicyError>(
          "{}: the module fails on [{}] observations of {}, as its contract says{}: {}", path,
          fmt::join(inputs.sizes(), ", "), EnumName(shape.dtype), Cure(reason), reason);
    }
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
                       path, result.tagKind());
  }

  void CheckDtype() const {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& parameter : module.parameters()) tensors.push_back(parameter);
    for (const at::Tensor& buffer : module.buffers()) tensors.push_back(buffer);
    for (const at::Tensor& tensor : tensors) {
      if (tensor.scalar_type() != TorchType(OtherType(shape.dtype))) continue;
      Throw<PolicyError>(
          "{}: the module has {} weights, its contract says dtype: {}; write dtype: "
          "{}",
          path, EnumName(OtherType(shape.dtype)), EnumName(shape.dtype),
          EnumName(OtherType(shape.dtype)));
    }
  }

  void CheckOutputs(const at::Tensor& outputs, std::int64_t rows) const {
    if (outputs.dim() == 2 && outputs.size(0) == rows && outputs.size(1) == shape.outputs) return;
    Throw<PolicyError>(
        "{}: the module returns shape [{}] for [{}, {}] observations, expected [{}, {}] as its "
        "contract says",
        path, fmt::join(outputs.sizes(), ", "), rows, shape.inputs, rows, shape.outputs);
  }
};

TorchScriptNetwork::TorchScriptNetwork(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchScriptNetwork::~TorchScriptNetwork() = default;

std::unique_ptr<TorchScriptNetwork> TorchScriptNetwork::Load(const std::string& path) {
  PinTorchToOneThread();
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  try {
    impl->module = torch::jit::load(path, at::kCPU);
    impl->module.eval();
  } catch (const std::exception& error) {
    Throw<PolicyError>(
        "{}: LibTorch {} cannot load the module on the CPU: {}; export it again, on the CPU, with "
        "a version of PyTorch that is not newer",
        path, TORCH_VERSION, Reason(error));
  }
  if (const std::vector<std::string> state = StateAttributes(impl->module); !state.empty()) {
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

  const std::vector<at::Tensor> before = Snapshot(impl.module);
  const at::Tensor first = impl.Call(inputs.narrow(0, 0, 1)).clone();
  impl.CheckOutputs(first, 1);
  const at::Tensor again = impl.Call(inputs.narrow(0, 0, 1));
  if (!at::equal(first, again) || !Equal(before, Snapshot(impl.module))) {
    RefuseState(impl.path,
                "the module answers differently when asked twice (it keeps a state or draws "
                "random numbers)");
  }
  const at::Tensor batch = impl.Call(inputs);
  impl.CheckOutputs(batch, kProbeRows);
  if (!at::allclose(batch.narrow(0, 0, 1), first, kBatchTolerance, kBatchTolerance)) {
    RefuseState(impl.path, "the module mixes the rows of a batch");
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

}  // namespace lfiw
