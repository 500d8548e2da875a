#ifndef LFIW_EXPERIMENTS_EVALUATION_POLICY_DIFFERENCES_H_
#define LFIW_EXPERIMENTS_EVALUATION_POLICY_DIFFERENCES_H_

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/policy_evaluation.h"
#include "ope/judgement/backtest.h"

namespace lfiw::experiments {

// How far apart policies are that were evaluated from one log. Their estimates share models, start
// states and random numbers, so a difference is known better than either value: what a model gets
// wrong for both policies cancels.

// What the error of a difference is made from.
enum class DifferenceMethod {
  // The difference of both policies in every model of the family, calibrated as a value is: what is
  // stated of each policy is linear in its values in the family.
  kCalibrated,
  // The difference in each member of the ensemble: their standard deviation.
  kMembers,
  // The sum of both standard errors, the most that it can be whatever they have in common.
  kBound,
};
constexpr auto EnumNames(DifferenceMethod /*kind*/) {
  return std::to_array<std::string_view>({"calibrated", "members", "bound"});
}

// The value stated of one policy less that of another.
struct PolicyDifference {
  double value = 0.0;
  double low = 0.0, high = 0.0;  // an interval for this pair alone, at the level of the others
  DifferenceMethod method = DifferenceMethod::kBound;

  bool tells_apart() const { return low > 0.0 || high < 0.0; }
};

// Returns a - b; nothing where one of them has no value or no error.
std::optional<PolicyDifference> DifferenceOf(const PolicyEvaluation& a, const PolicyEvaluation& b,
                                             const std::optional<Backtest>& logged, double level);

// Returns the first, which is ranked best, less each of the others; nothing in its own place.
std::vector<std::optional<PolicyDifference>> DifferencesFromBest(
    std::span<const PolicyEvaluation> evaluations, const std::optional<Backtest>& logged,
    double level);

// Says in a sentence which policies the log does not tell apart from the best one.
std::string BestText(std::span<const PolicyEvaluation> evaluations,
                     std::span<const std::optional<PolicyDifference>> from_best, double level);

// Writes all pairs as CSV, the better ranked one of each first.
std::string PairsCsv(std::span<const PolicyEvaluation> evaluations,
                     const std::optional<Backtest>& logged, double level);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_POLICY_DIFFERENCES_H_
