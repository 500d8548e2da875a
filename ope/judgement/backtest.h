#ifndef LFIW_OPE_JUDGEMENT_BACKTEST_H_
#define LFIW_OPE_JUDGEMENT_BACKTEST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "ope/value.h"

namespace lfiw::ope {

// The method's answer for the policy that wrote the log, beside what the log itself says of it. Any
// difference beyond noise is the method's error.
struct Backtest {
  double estimate = 0.0;
  std::optional<double> estimate_stderr = std::nullopt;
  double logged = 0.0;  // mean return of the log, in the estimand's scale
  std::optional<double> logged_stderr = std::nullopt;  // its standard error; of one episode none
  double spread = 0.0;                                 // standard deviation of one episode's return

  double Gap() const { return estimate - logged; }
  // Returns the standard error of Gap.
  double Noise() const;
  // Returns |Gap| beyond two standard errors, as a share of the size of a return: the larger of
  // |logged| and spread. 0 within noise.
  double ExcessShare() const;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("estimate", estimate);
    v.Field("estimate_stderr", estimate_stderr);
    v.Field("logged", logged);
    v.Field("logged_stderr", logged_stderr);
    v.Field("spread", spread);
  }
};

// Gives each episode's contribution to the mean return of the first `horizon` steps, [episodes]:
// their mean is the value that the log states. Where a time limit cuts episodes, step t is the mean
// reward of those that still run times the share that has not ended (Kaplan and Meier 1958): a cut
// one is neither left out, which would keep those that ended early, nor counted as ended. Without
// cuts a contribution is the episode's return. Empty where a step is reached by none.
std::vector<double> LoggedReturns(const EpisodeBatch& log, const ValueOptions& value,
                                  std::int64_t horizon);
// Gives the sum of the rewards that each episode holds within the horizon, [episodes], whether or
// not a limit cut it.
std::vector<double> RecordedReturns(const EpisodeBatch& log, const ValueOptions& value,
                                    std::int64_t horizon);
// Takes the fields `logged`, `logged_stderr` and `spread` from LoggedReturns. Nothing when there
// are none.
std::optional<Backtest> LoggedValue(const EpisodeBatch& log, const ValueOptions& value,
                                    std::int64_t horizon);

// The share of the squared deviations from their mean that the farthest value makes up: near 1, it
// alone decides the mean. Nothing for few or equal values.
std::optional<double> LargestInfluence(std::span<const double> values);

// The returns that rewards within the range of the log's can add up to.
struct ReturnRange {
  double low = 0.0;
  double high = 0.0;
};
// Whether episodes may end before the horizon, which leaves fewer rewards to add up.
enum class EpisodeEnd { kAtHorizon, kMayBeEarlier };
ReturnRange PossibleReturns(const EpisodeBatch& log, const ValueOptions& value,
                            std::int64_t horizon, EpisodeEnd end);

// The range of the returns of the episodes that terminated or reached the horizon. Nothing for
// fewer than 20 of them.
std::optional<ReturnRange> LoggedRange(const EpisodeBatch& log, const ValueOptions& value,
                                       std::int64_t horizon);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_BACKTEST_H_
