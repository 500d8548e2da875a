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

// The learning curves of all folds as lines of metrics.jsonl, series "PREFIX fold K".
std::string FoldLines(std::span<const FitHistory> histories, const std::string& prefix);

// Runs FitByFolds as the stage "gof_weights", whose inputs are hashes of all that the features come
// from.
FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_
