#ifndef LFIW_MODELS_IMAGE_FEATURE_EXTRACTOR_H_
#define LFIW_MODELS_IMAGE_FEATURE_EXTRACTOR_H_

#include <cstdint>
#include <string>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/run/progress.h"

namespace lfiw::models {

// What a pretrained network says of images.
struct ImageFeatures {
  MatrixF features;  // [n, d], of the layer before the last
  MatrixF logits;    // [n, classes]; no columns where there are none
};

// A pretrained image classifier whose features metrics are measured in. Thread safe.
class FeatureExtractor {
 public:
  virtual ~FeatureExtractor() = default;

  // For reports: "ResNet-20 (CIFAR-10), 64 features, 10 logits".
  virtual std::string Description() const = 0;
  // The features of images [begin, begin + count) of a batch, on the calling thread. Throws
  // DataError for images of a size that the network does not take.
  virtual ImageFeatures Extract(const ImageBatch& images, std::int64_t begin,
                                std::int64_t count) const = 0;
  // Whether the network was trained on CIFAR-10's training images.
  virtual bool saw_cifar10_training_images() const = 0;
};

// The features of all images, batch by batch: batches of fixed size are parallel tasks, so the
// bytes do not depend on the number of threads. `progress` advances by images and may be null.
// Throws NumericError naming the image when a feature or logit is not finite, else as Extract.
ImageFeatures ExtractFeatures(const FeatureExtractor& extractor, const ImageBatch& images,
                              Progress* progress);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_FEATURE_EXTRACTOR_H_
