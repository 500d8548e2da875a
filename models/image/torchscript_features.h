#ifndef LFIW_MODELS_IMAGE_TORCHSCRIPT_FEATURES_H_
#define LFIW_MODELS_IMAGE_TORCHSCRIPT_FEATURES_H_

#include <memory>
#include <string>

#include "core/layers.h"
#include "models/image/feature_extractor.h"

namespace lfiw::models {

// A TorchScript module that maps images [n, channels, height, width], floats in [0, 1], to features
// [n, d] or to the pair (features, logits [n, classes]); resizing and normalizing is its own job.
// It runs on the CPU, without gradients and on one thread per call.
//
// TorchScript is code: loading and calling a module runs what its author wrote. Name only files
// that are trusted.
class TorchScriptFeatures final : public FeatureExtractor {
 public:
  // Throws DataError naming the file when it cannot be loaded.
  static std::unique_ptr<TorchScriptFeatures> Load(const std::string& path);
  ~TorchScriptFeatures() override;

  std::string Description() const override;
  // Also throws DataError when the module fails or returns anything else.
  ImageFeatures Extract(const ImageBatch& images, std::int64_t begin,
                        std::int64_t count) const override;
  bool saw_cifar10_training_images() const override { return false; }

 private:
  struct Impl;
  explicit TorchScriptFeatures(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_TORCHSCRIPT_FEATURES_H_
