#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/run/stage.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/image_gof/sample_weights.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// Cross-fitted weights of real and generated features.
struct GofWeightsStage {
  static constexpr StageInfo kInfo{
      .name = "gof_weights", .version = 3, .layer = Layer::kExperiments};
  struct Key {
    GofClassifierOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "classifiers and folds");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const ConstMatrixRef& real;              // [n, d]
    const ConstMatrixRef& generated;         // [m, d]
    const std::vector<std::string>& hashes;  // of all that both come from
    std::vector<std::string> Hashes() const { return hashes; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);
};

// Cross-fitted weights as a stage leaves them.
struct FittedWeights {
  CrossFit fit;                       // without its summaries
  std::vector<FitHistory> histories;  // [folds]
  std::string hash;                   // of the artifact
};

// Weights of smoothed features. Where noise is 0, the plain weights are worth enough.
struct SmoothedWeights {
  std::vector<double> generated;  // log-weights [m]; empty where none are wanted
  double noise = 0.0;             // standard deviation, in scaled features
  double share = 0.1;             // of the samples that they shall be worth
  std::string hash;               // of the artifact

  // What results depend on.
  std::string Identity() const;
};

// The log-weights of both, for metrics. They refer to their arguments.
SampleRatios RatiosOf(const FittedWeights& plain, const SmoothedWeights& smoothed);

// The learning curves of all folds as lines of metrics.jsonl, series "PREFIX fold K".
std::string FoldLines(std::span<const FitHistory> histories, const std::string& prefix);

// Runs FitByFolds as the stage "gof_weights", whose inputs are hashes of all that the features come
// from.
FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run);

// Returns the plain weights where they are worth options.share of the samples, else those of
// classifiers that were trained with noise, as another stage "gof_weights".
SmoothedWeights FitSmoothedWeights(const SmoothingOptions& options,
                                   const GofClassifierOptions& classifier, std::uint64_t seed,
                                   ConstMatrixRef real, ConstMatrixRef generated,
                                   const std::vector<std::string>& inputs,
                                   const FittedWeights& plain, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_
