#ifndef LFIW_MODELS_IMAGE_RESNET20_H_
#define LFIW_MODELS_IMAGE_RESNET20_H_

#include <memory>
#include <string>

#include "core/layers.h"
#include "models/image/feature_extractor.h"

namespace lfiw::models {

// The ResNet-20 for CIFAR-10 of He et al. (2016), with parameter-free shortcuts: 64 features (after
// the mean over pixels) and 10 logits of 32 x 32 color images.
class ResNet20 final : public FeatureExtractor {
 public:
  // An .npz file with the tensors of the public PyTorch model (akamaster/pytorch_resnet_cifar10) by
  // their names. Batch normalization is folded into the convolutions. Throws DataError naming the
  // tensor that is missing or of another shape.
  static ResNet20 Load(const std::string& path);

  ResNet20(ResNet20&&) noexcept;
  ~ResNet20() override;

  std::string Description() const override;
  ImageFeatures Extract(const ImageBatch& images, std::int64_t begin,
                        std::int64_t count) const override;
  bool saw_cifar10_training_images() const override { return true; }

 private:
  struct Impl;
  explicit ResNet20(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_RESNET20_H_
