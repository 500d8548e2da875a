#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// Cross-fitted weights as a stage leaves them.
struct FittedWeights {
  CrossFit fit;              // without its summaries
  nlohmann::json histories;  // [folds] of {step, train, validation}
  std::string hash;          // of the artifact
};

// The learning curves of all folds as lines of metrics.jsonl, series "PREFIX fold K".
std::string FoldLines(const nlohmann::json& histories, const std::string& prefix);

// Runs FitByFolds as the stage "gof_weights", whose inputs are hashes of all that the features come
// from.
FittedWeights FitWeights(const GofClassifierOptions& options, std::uint64_t seed,
                         ConstMatrixRef real, ConstMatrixRef generated,
                         const std::vector<std::string>& inputs, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_FITTED_WEIGHTS_H_
