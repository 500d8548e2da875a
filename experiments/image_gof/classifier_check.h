#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_CLASSIFIER_CHECK_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_CLASSIFIER_CHECK_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/layers.h"
#include "core/matrix.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/image_gof/sample_set.h"
#include "models/calibration.h"

namespace lfiw::experiments {

// Checks on real images that no classifier was trained with.

// How often the network that features come from names the right class.
struct ExtractorCheck {
  std::string extractor;
  std::int64_t images = 0;
  std::optional<double> accuracy = std::nullopt;
  std::optional<double> standard_error = std::nullopt;  // binomial
  std::string reason = {};                              // why there is no accuracy
};
// Needs labels of all images and as many logits as there are classes among them.
ExtractorCheck CheckExtractor(const std::string& extractor, const SampleSet& images);

// "ResNet-20 ...: 91.5 % of 1,000 labeled images right (standard error 0.9 %)".
std::string ExtractorLine(const ExtractorCheck& check);

// How well the classifiers of a generator tell its samples from real images.
struct ClassifierCheck {
  std::string model;
  std::string images;  // which real ones, in words
  std::int64_t n = 0;  // real
  std::int64_t m = 0;  // generated
  Calibration calibration = {};
};

// Of new real images, features [n, d], against as many samples, drawn at random, by their
// cross-fitted weights: every row is judged by one classifier that did not see it, as in
// cross-fitting.
ClassifierCheck CheckOnNewImages(const std::string& model, const CrossFit& fit,
                                 ConstMatrixRef features, std::uint64_t seed);

// RFC 4180: a line per check.
std::string ChecksCsv(std::span<const ClassifierCheck> checks);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_CLASSIFIER_CHECK_H_
