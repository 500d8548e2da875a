#ifndef LFIW_MODELS_IMAGE_FEATURE_CLASSIFIER_H_
#define LFIW_MODELS_IMAGE_FEATURE_CLASSIFIER_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "models/scaler.h"

namespace lfiw::models {

struct FeatureClassifierOptions {
  // The paper's, on the features of images.
  MlpOptions network{.hidden_layers = 1, .width = 1000, .activation = Activation::kRelu};
  // Batch and rate are the paper's; steps are to be set from the number of rows.
  FitOptions fit{.steps = 6000, .batch = 64, .validate_every = 300, .adam = {}};
  // Standard deviation of the first layer's biases at the start. At 0 all units bend at the mean of
  // the data, which a network of one input hardly unlearns.
  double bias_deviation = 0.0;
  // Standard deviation of noise on the scaled features of both sets, in training and validation:
  // the odds are then the ratio of the smoothed densities.
  double input_noise = 0.0;
  ScalerOptions scaler;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("network", network, "network of the classifier");
    v.Field("fit", fit, "training; a batch is half real, half generated rows");
    v.Field("bias_deviation", bias_deviation,
            "standard deviation of the first layer's initial biases", AtLeast(0.0));
    v.Field("input_noise", input_noise,
            "standard deviation of noise on the scaled features of both sets, which smooths both "
            "densities",
            AtLeast(0.0));
    v.Field("scaler", scaler, "what counts as a constant feature");
  }
};

// Tells real from generated rows of features; its logit is the log of their density ratio, since
// it is trained on as many of the one as of the other.
class FeatureClassifier {
 public:
  // `network` maps scaler.active_dim() values to one logit.
  FeatureClassifier(Scaler scaler, Mlp network);

  std::int64_t dim() const { return scaler_.dim(); }

  // log w(x) for each row; features [n, dim], log_ratios [n]. Thread safe.
  void LogRatios(ConstMatrixRef features, std::span<double> log_ratios) const;

  // The mean log w over `draws` draws of noise of this standard deviation on the scaled features,
  // where a classifier that was trained with such noise knows the odds. draws >= 1.
  void SmoothedLogRatios(ConstMatrixRef features, double deviation, std::int64_t draws,
                         Stream stream, std::span<double> log_ratios) const;

  // One .npz file. Load throws DataError for a file that is no such classifier.
  void Save(const std::string& path) const;
  static FeatureClassifier Load(const std::string& path);

 private:
  // Calls use(begin, rows, scaled features) for some rows at a time, so that copies stay small.
  template <class Use>
  void ForScaledRows(ConstMatrixRef features, const Use& use) const;

  Scaler scaler_;
  Mlp network_;
};

// Rows of the two sets of features; rows may repeat, as in a bootstrap.
struct FeatureRows {
  std::span<const std::int64_t> real;
  std::span<const std::int64_t> generated;
};

// What a classifier is trained on. Without validation rows the last parameters are kept, else those
// of the least cross-entropy, in which both classes have the same weight.
struct FeatureClassifierData {
  ConstMatrixRef real;       // [n, dim]
  ConstMatrixRef generated;  // [m, dim]
  FeatureRows train;
  FeatureRows validation;
};

struct FeatureClassifierFit {
  FeatureClassifier classifier;
  FitSummary summary;
};

// Fits one classifier; every step draws half a batch of each set. `index` numbers the classifier,
// whose checkpoint is "feature_classifier_<index>.npz". Runs on the calling thread. Throws
// DataError when a set has no training rows, ConfigError for a batch of less than two rows, else as
// Fit.
FeatureClassifierFit FitFeatureClassifier(const FeatureClassifierData& data,
                                          const FeatureClassifierOptions& options,
                                          std::uint64_t seed, std::int64_t index,
                                          const FitRun& run = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_FEATURE_CLASSIFIER_H_
