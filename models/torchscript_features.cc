#include "models/torchscript_features.h"

#include <torch/script.h>
#include <torch/version.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "models/image_tensor.h"
#include "models/torch_threads.h"

namespace lfiw {
namespace {

// The useful line of LibTorch's messages, which carry a stack trace; the cause comes last.
std::string Reason(const std::exception& error) {
  std::string text = error.what();
  constexpr std::string_view kMarker = "Error: ";
  if (const std::size_t at = text.rfind(kMarker); at != std::string::npos) {
    text = text.substr(at + kMarker.size());
  }
  return text.substr(0, text.find('\n')).substr(0, 300);
}

}  // namespace

struct TorchScriptFeatures::Impl {
  std::string path;
  torch::jit::Module module;

  at::Tensor Rows(const c10::IValue& value, const char* what, std::int64_t count) const {
    if (!value.isTensor()) {
      Throw<DataError>("{}: the module returns a {} as {}, expected a tensor", path,
                       value.tagKind(), what);
    }
    const at::Tensor tensor = value.toTensor();
    if (tensor.dim() != 2 || tensor.size(0) != count || tensor.size(1) < 1 ||
        !tensor.is_floating_point()) {
      Throw<DataError>(
          "{}: the module returns {} of shape [{}] for {} images, expected [{}, d] of "
          "floats",
          path, what, fmt::join(tensor.sizes(), ", "), count, count);
    }
    return tensor;
  }

  c10::IValue Call(const at::Tensor& inputs) const {
    // no profiling runs, whose outcome could differ from later ones
    const torch::jit::GraphOptimizerEnabledGuard plain(false);
    try {
      // a copy shares the weights; calling is no const operation
      torch::jit::Module callee = module;
      return callee.forward({inputs});
    } catch (const std::exception& error) {
      Throw<DataError>("{}: the module fails on images [{}] in [0, 1]: {}", path,
                       fmt::join(inputs.sizes(), ", "), Reason(error));
    }
  }
};

TorchScriptFeatures::TorchScriptFeatures(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchScriptFeatures::~TorchScriptFeatures() = default;

std::unique_ptr<TorchScriptFeatures> TorchScriptFeatures::Load(const std::string& path) {
  PinTorchToOneThread();
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  try {
    impl->module = torch::jit::load(path, at::kCPU);
    impl->module.eval();
  } catch (const std::exception& error) {
    Throw<DataError>(
        "{}: LibTorch {} cannot load the module on the CPU: {}; export it again, on the CPU, with "
        "a version of PyTorch that is not newer",
        path, TORCH_VERSION, Reason(error));
  }
  return std::unique_ptr<TorchScriptFeatures>(new TorchScriptFeatures(std::move(impl)));
}

std::string TorchScriptFeatures::Description() const {
  return "TorchScript module " + std::filesystem::path(impl_->path).filename().string();
}

ImageFeatures TorchScriptFeatures::Extract(const ImageBatch& images, std::int64_t begin,
                                           std::int64_t count) const {
  const c10::InferenceMode inference;
  const c10::IValue result = impl_->Call(ImageTensor(images, begin, count));
  if (result.isTensor()) {
    return {ToMatrix(impl_->Rows(result, "features", count)), MatrixF(count, 0)};
  }
  if (!result.isTuple() || result.toTupleRef().elements().size() != 2) {
    Throw<DataError>(
        "{}: the module returns a {}, expected features or the pair (features, "
        "logits)",
        impl_->path, result.tagKind());
  }
  const auto& parts = result.toTupleRef().elements();
  return {ToMatrix(impl_->Rows(parts[0], "features", count)),
          ToMatrix(impl_->Rows(parts[1], "logits", count))};
}

}  // namespace lfiw
