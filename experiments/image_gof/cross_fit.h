#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_CROSS_FIT_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_CROSS_FIT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/run/progress.h"
#include "experiments/image_gof/gof_config.h"
#include "models/fit.h"
#include "models/image/feature_classifier.h"

namespace lfiw::experiments {

// Log-weights of all samples, each by a classifier that was trained without it.
struct CrossFit {
  std::vector<double> real;                         // [n]
  std::vector<double> generated;                    // [m]
  std::vector<FitSummary> fits;                     // [folds]
  std::vector<FeatureClassifier> classifiers = {};  // [folds]
};

// Gradient steps of all folds together, for a progress bar.
std::int64_t CrossFitSteps(std::int64_t n, std::int64_t m, const GofClassifierOptions& options);

// Deals both sets to the folds at random and trains one classifier for each on the rows of the
// others, as parallel tasks. Checkpoints go to run.folder. Throws as FitFeatureClassifier.
CrossFit FitByFolds(ConstMatrixRef real, ConstMatrixRef generated,
                    const GofClassifierOptions& options, std::uint64_t seed, const FitRun& run);

// Log-weights of samples that no classifier saw, features [n, d]. Averaged: of the mean weight over
// classifiers, whose mean over the model is what the mean of cross-fitted weights estimates. Dealt:
// each sample by one classifier, drawn at random, as cross-fitted samples are.
std::vector<double> AveragedLogWeights(std::span<const FeatureClassifier> classifiers,
                                       ConstMatrixRef features);
std::vector<double> DealtLogWeights(std::span<const FeatureClassifier> classifiers,
                                    ConstMatrixRef features, std::uint64_t seed);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_CROSS_FIT_H_
