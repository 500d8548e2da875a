#include "models/image/load_feature_extractor.h"

#include <filesystem>

#include "models/image/resnet20.h"
#include "models/image/torchscript_features.h"

namespace lfiw::models {

std::unique_ptr<FeatureExtractor> LoadFeatureExtractor(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".npz") {
    return std::make_unique<ResNet20>(ResNet20::Load(path));
  }
  return TorchScriptFeatures::Load(path);
}

}  // namespace lfiw::models
