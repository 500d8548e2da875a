#include "models/image/feature_extractor.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw::models {
namespace {

constexpr std::int64_t kBatch = 50;

void RequireFinite(const MatrixF& values, std::int64_t begin, const char* what) {
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    if (values.row(i).allFinite()) continue;
    Throw<NumericError>("image {}: a {} is not finite", begin + i, what);
  }
}

}  // namespace

ImageFeatures ExtractFeatures(const FeatureExtractor& extractor, const ImageBatch& images,
                              Progress* progress) {
  const std::int64_t batches = (images.count + kBatch - 1) / kBatch;
  std::vector<ImageFeatures> parts(static_cast<std::size_t>(batches));
  ParallelFor(batches, [&](std::int64_t b) {
    if (InterruptRequested()) throw Interrupted();
    const std::int64_t begin = b * kBatch;
    const std::int64_t count = std::min(kBatch, images.count - begin);
    ImageFeatures& part = parts[static_cast<std::size_t>(b)];
    part = extractor.Extract(images, begin, count);
    RequireFinite(part.features, begin, "feature");
    RequireFinite(part.logits, begin, "logit");
    if (progress != nullptr) progress->Advance(count);
  });
  ImageFeatures all;
  if (batches == 0) return all;
  all.features.resize(images.count, parts[0].features.cols());
  all.logits.resize(images.count, parts[0].logits.cols());
  for (std::int64_t b = 0; b < batches; ++b) {
    const ImageFeatures& part = parts[static_cast<std::size_t>(b)];
    all.features.middleRows(b * kBatch, part.features.rows()) = part.features;
    all.logits.middleRows(b * kBatch, part.logits.rows()) = part.logits;
  }
  return all;
}

}  // namespace lfiw::models
