#include "models/image/torchscript_features.h"

#include <torch/script.h>

#include <filesystem>
#include <utility>

#include "core/error.h"
#include "models/image/image_tensor.h"
#include "models/torchscript_module.h"

namespace lfiw::models {

struct TorchScriptFeatures::Impl {
  TorchScriptModule module;

  at::Tensor Rows(const c10::IValue& value, const char* what, std::int64_t count) const {
    if (!value.isTensor()) {
      Throw<DataError>("{}: the module returns a {} as {}, expected a tensor", module.path(),
                       value.tagKind(), what);
    }
    const at::Tensor tensor = value.toTensor();
    if (tensor.dim() != 2 || tensor.size(0) != count || tensor.size(1) < 1 ||
        !tensor.is_floating_point()) {
      Throw<DataError>(
          "{}: the module returns {} of shape [{}] for {} images, expected [{}, d] of "
          "floats",
          module.path(), what, fmt::join(tensor.sizes(), ", "), count, count);
    }
    return tensor;
  }
};

TorchScriptFeatures::TorchScriptFeatures(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TorchScriptFeatures::~TorchScriptFeatures() = default;

std::unique_ptr<TorchScriptFeatures> TorchScriptFeatures::Load(const std::string& path) {
  auto impl = std::make_unique<Impl>(Impl{TorchScriptModule::Load(path)});
  return std::unique_ptr<TorchScriptFeatures>(new TorchScriptFeatures(std::move(impl)));
}

std::string TorchScriptFeatures::Description() const {
  return "TorchScript module " + std::filesystem::path(impl_->module.path()).filename().string();
}

ImageFeatures TorchScriptFeatures::Extract(const ImageBatch& images, std::int64_t begin,
                                           std::int64_t count) const {
  const c10::InferenceMode inference;
  const at::Tensor inputs = ImageTensor(images, begin, count);
  const c10::IValue result = impl_->module.Call(
      {inputs}, fmt::format("images [{}] in [0, 1]", fmt::join(inputs.sizes(), ", ")));
  if (result.isTensor()) {
    return {ToMatrix(impl_->Rows(result, "features", count)), MatrixF(count, 0)};
  }
  if (!result.isTuple() || result.toTupleRef().elements().size() != 2) {
    Throw<DataError>(
        "{}: the module returns a {}, expected features or the pair (features, "
        "logits)",
        impl_->module.path(), result.tagKind());
  }
  const auto& parts = result.toTupleRef().elements();
  return {ToMatrix(impl_->Rows(parts[0], "features", count)),
          ToMatrix(impl_->Rows(parts[1], "logits", count))};
}

}  // namespace lfiw::models
