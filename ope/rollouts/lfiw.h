#ifndef LFIW_OPE_ROLLOUTS_LFIW_H_
#define LFIW_OPE_ROLLOUTS_LFIW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "ope/rollouts/lfiw_options.h"
#include "ope/value.h"

namespace lfiw::ope {

// The estimate at one horizon. Numbers are finite; what does not apply is empty, with a reason.
struct LfiwEstimate {
  std::int64_t horizon = 0;
  std::optional<double> value;  // mean over repetitions and classifiers
  std::string reason;           // why there is no value
  // log10 |value| where the value leaves the range of double: with no value above, or beside the
  // value 0 below.
  std::optional<double> log10_value;

  // Standard deviation over repetitions of the mean over classifiers, / sqrt(R); needs R >= 2.
  std::optional<double> standard_error;
  // Of one estimate from its n episodes (linearised), root mean square over repetitions and
  // classifiers.
  std::optional<double> se_within;
  // Standard deviation over classifiers of the mean over repetitions, / sqrt(C); needs C >= 2
  // classifiers whose estimates are averaged.
  std::optional<double> se_between;

  // Effective number of episodes in [1, n], the mean over repetitions and classifiers; 0 counts
  // weights without support. Of rho_{H-1}; stepwise: the mean over t < H; stepwise_batch: of the
  // n H transitions, per step.
  double ess = 0.0;
  // Largest share of one sample in a normalizer.
  double max_weight = 0.0;
  // Largest k-hat; of rho_{H-1}, stepwise: over t < H, stepwise_batch: of all transitions.
  std::optional<double> khat;
  std::string khat_reason;  // why there is no k-hat
  // Weights raised to beta, and their share of all weights used.
  std::int64_t clipped = 0;
  double clip_rate = 0.0;

  // [R, C], or [R, 1] unless the estimates of classifiers are averaged; empty without a value.
  Array<double, 2> estimates;
};

struct LfiwResult {
  std::int64_t repetitions = 0;        // R
  std::int64_t classifiers = 0;        // C
  std::int64_t episodes = 0;           // n
  std::vector<LfiwEstimate> horizons;  // [T + 1], H = 0 .. T
};

// Estimates at every horizon from rewards [R, n, T] and log-weights per step [R, C, n, T]. After an
// episode has ended its rewards and log-weights are 0, and it stays in every denominator. A
// log-weight may be -inf. Throws DataError when shapes disagree, are empty or a number is not
// finite, ConfigError when an option is out of range or does not fit the shapes.
LfiwResult EstimateLfiw(const Array<double, 3>& rewards, const Array<double, 4>& log_weights,
                        const ValueOptions& value, const LfiwOptions& options);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_LFIW_H_
