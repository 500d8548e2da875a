#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_VERDICT_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_VERDICT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/image_gof/gof_config.h"
#include "experiments/image_gof/gof_metrics.h"
#include "models/calibration.h"
#include "ope/rollouts/importance_resampling.h"

namespace lfiw::experiments {

// How well the samples pass for real ones.
enum class Resemblance { kSame, kClose, kDifferent };
constexpr auto EnumNames(Resemblance /*kind*/) {
  return std::to_array<std::string_view>({"no difference found", "close", "different"});
}

// Of the class probability that held-out log-weights imply, in 10 bins, among as many real and
// generated samples as there are.
Calibration CalibrateWeights(const CrossFit& fit);

// What the held-out log-weights say of classifier and weights.
struct WeightEvidence {
  std::int64_t n = 0;            // real samples
  std::int64_t m = 0;            // generated samples
  Calibration calibration = {};  // of CalibrateWeights
  // AUC - 1/2 over its standard deviation for equal distributions, sqrt((n + m + 1) / (12 n m)).
  double auc_z = 0.0;
  double ess = 0.0;
  double max_weight = 0.0;
  std::optional<double> khat = std::nullopt;
  double khat_threshold = 0.0;
  LogPartition partition = {};
  ResamplingConditions conditions = {};
};
WeightEvidence GatherEvidence(const CrossFit& fit);

// Why rows with these weights should not be relied on; empty when they may.
std::vector<std::string> WeightDoubts(const WeightEvidence& evidence,
                                      const GofVerdictOptions& options);

struct GofJudgement {
  Resemblance resemblance = Resemblance::kSame;
  std::vector<std::string> reasons;  // plain sentences
  std::vector<std::string> doubts;   // of WeightDoubts
};
// Sets are different when the classifier tells held-out samples apart, or the unweighted KID is
// above 0, beyond the noise of equal sets. kid_block: of the metrics' options.
GofJudgement JudgeFit(const WeightEvidence& evidence, std::span<const GofRow> rows,
                      const GofVerdictOptions& options, std::int64_t kid_block);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_VERDICT_H_
