#ifndef LFIW_MODELS_CALIBRATION_H_
#define LFIW_MODELS_CALIBRATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"

namespace lfiw::models {

// Quality of a binary classifier's logits on labeled data (label 1: real, 0: generated).

// One of the equal-width bins of predicted probability.
struct ReliabilityBin {
  std::int64_t count = 0;
  double mean_probability = 0.0;   // 0 in an empty bin
  double positive_fraction = 0.0;  // 0 in an empty bin
};

struct Calibration {
  std::vector<ReliabilityBin> bins;
  // Count-weighted mean over bins of |mean probability - positive fraction| (expected calibration
  // error) and of its square.
  double ece = 0.0;
  double squared_error = 0.0;
  double brier = 0.0;     // mean squared error of the probability
  double nll = 0.0;       // cross-entropy, nats per row
  double accuracy = 0.0;  // at probability 1/2; a logit of exactly 0 counts half
  double auc = 0.0;       // exact, ties count half
};

// logits, labels [n], n >= 1. Throws DataError when a logit is not finite or one class is absent.
Calibration MeasureCalibration(std::span<const double> logits, std::span<const std::uint8_t> labels,
                               std::int64_t bins = 10);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_CALIBRATION_H_
