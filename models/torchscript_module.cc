#include "models/torchscript_module.h"

#include <torch/version.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "models/torch_threads.h"

namespace lfiw::models {
namespace {

// Names that recurrent networks keep their state under.
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

// What to do about a failed call, beyond its reason.
std::string_view Cure(std::string_view reason) {
  const bool gpu = reason.find("CUDA") != std::string_view::npos ||
                   reason.find("cuda") != std::string_view::npos;
  return gpu ? " (its code names a GPU: move the model to the CPU before exporting it)" : "";
}

}  // namespace

TorchScriptModule TorchScriptModule::Load(const std::string& path) {
  PinTorchToOneThread();
  TorchScriptModule loaded;
  loaded.path_ = path;
  try {
    loaded.module_ = torch::jit::load(path, at::kCPU);
    loaded.module_.eval();
  } catch (const std::exception& error) {
    Throw<DataError>(
        "{}: LibTorch {} cannot load the module on the CPU: {}; export it again, on the CPU, with "
        "a version of PyTorch that is not newer",
        path, TORCH_VERSION, Reason(error));
  }
  return loaded;
}

c10::IValue TorchScriptModule::Call(std::vector<c10::IValue> inputs,
                                    const std::string& what) const {
  const c10::InferenceMode inference;
  // no profiling runs, whose outcome could differ from later ones
  const torch::jit::GraphOptimizerEnabledGuard plain(false);
  try {
    // a copy shares the weights; calling is no const operation
    torch::jit::Module callee = module_;
    return callee.forward(std::move(inputs));
  } catch (const std::exception& error) {
    const std::string reason = Reason(error);
    Throw<DataError>("{}: the module fails on {}{}: {}", path_, what, Cure(reason), reason);
  }
}

std::vector<at::Tensor> TorchScriptModule::Tensors() const {
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& parameter : module_.parameters()) tensors.push_back(parameter);
  for (const at::Tensor& buffer : module_.buffers()) tensors.push_back(buffer);
  return tensors;
}

std::vector<std::string> TorchScriptModule::StateAttributes() const {
  std::vector<std::string> found;
  for (const auto& attribute : module_.named_attributes()) {
    const std::string_view name = LastPart(attribute.name);
    if (std::ranges::find(kStateNames, name) != kStateNames.end()) found.push_back(attribute.name);
  }
  return found;
}

std::vector<at::Tensor> CopiesOf(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.clone());
  return copies;
}

bool AllEqual(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::ranges::equal(a, b, [](const at::Tensor& x, const at::Tensor& y) {
    return x.sizes() == y.sizes() && at::equal(x, y);
  });
}

}  // namespace lfiw::models
