#ifndef LFIW_OPE_JUDGEMENT_DIAGNOSTICS_H_
#define LFIW_OPE_JUDGEMENT_DIAGNOSTICS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {

// The mean of the weights w_t of one step over all rollouts. Exact ratios have mean 1 at every
// step, whatever the states; a drift says that the classifiers extrapolate.
struct MeanWeight {
  std::int64_t step = 0;
  bool supported = false;  // some weight of this step is above zero
  double log_mean = 0.0;   // log of the mean weight
  std::optional<double> log_stderr =
      std::nullopt;  // standard error of log_mean (that of the mean, / mean)

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("step", step);
    v.Field("supported", supported);
    v.Field("log_mean", log_mean);
    v.Field("log_stderr", log_stderr);
  }
};

// Takes the mean of exp(log_weights), at least one value, in log space; the step is left at 0.
MeanWeight LogMeanWeight(std::span<const double> log_weights);

// Takes the mean weight of every step, [T], from log-weights [R, C, n, T]. Repetitions and episodes
// are independent, classifiers on the same rollout are not: their weights are averaged first.
std::vector<MeanWeight> MeanWeights(const Array<double, 4>& log_weights);

// Returns the step whose mean weight is furthest from 1 beyond its own noise: largest |log_mean| -
// 2 log_stderr. None without a supported step.
std::optional<MeanWeight> WorstMeanWeight(std::span<const MeanWeight> steps);

// Returns the largest H such that the k-hat of every H' in 1 .. H is below KhatThreshold(n), or
// absent because the weights are equal; 0 when there is none.
std::int64_t LargestReliableHorizon(const LfiwResult& result);

// A necessary condition for the weights to bring the model closer to the data (proposition 1 of the
// paper, with the sign corrected): E_data[log w] >= log E_model[w].
struct ImprovementCheck {
  bool holds = false;
  double margin = 0.0;  // E_data[log w] - log E_model[w], in nats
  std::optional<double> standard_error =
      std::nullopt;         // of the margin; needs two values on each side
  std::string reason = {};  // why there is no margin: a side is empty or has zeros

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("holds", holds);
    v.Field("margin", margin);
    v.Field("standard_error", standard_error);
    v.Field("reason", reason);
  }
};

// Checks the condition on data [any], model [any]: log-weights of held-out real and of model-made
// transitions, all taken for independent.
ImprovementCheck CheckImprovement(std::span<const double> data, std::span<const double> model);

// The same for data [n], model [n] whose rows i come from episode episodes[i], [n]: only episodes
// are independent, so that the standard error is that of a sum over episodes (cluster-robust, by
// the influence of each on the margin). An episode may occur for several classifiers.
ImprovementCheck CheckImprovement(std::span<const double> data, std::span<const double> model,
                                  std::span<const std::int64_t> episodes);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_DIAGNOSTICS_H_
