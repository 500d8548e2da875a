#ifndef LFIW_OPE_JUDGEMENT_INTERVALS_H_
#define LFIW_OPE_JUDGEMENT_INTERVALS_H_

#include <array>
#include <span>
#include <string>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "ope/judgement/backtest.h"

namespace lfiw::ope {

// What an interval accounts for. The first three are of growing width: what is resampled. The
// others add an error that was seen: that of the same method on another policy, what the members of
// the model disagree about, and what the weights of the log have left of the model's error.
enum class IntervalMethod {
  kMonteCarlo,
  kClassifierBootstrap,
  kPipelineBootstrap,
  kBacktest,
  kMembers,
  kCorrection,
};
constexpr auto EnumNames(IntervalMethod /*kind*/) {
  return std::to_array<std::string_view>({"monte_carlo", "classifier_bootstrap",
                                          "pipeline_bootstrap", "back_test", "members",
                                          "correction"});
}

// A two-sided interval for the value. With too little data to say anything it is (-inf, inf), and
// `covers` says so.
struct Interval {
  double low = 0.0;
  double high = 0.0;
  IntervalMethod method = IntervalMethod::kMonteCarlo;
  double level = 0.95;
  std::string covers;  // in words: what varied, and what the interval leaves out
};

// Makes an interval from the estimates of R repetitions of the rollouts: mean +- t(R - 1) sd /
// sqrt(R). `level` is in (0, 1), else ConfigError; throws DataError when a value is not finite.
Interval MonteCarloInterval(std::span<const double> repetitions, double level = 0.95);

// Makes the interval value +- t(degrees) standard errors, for a spread that is no list of
// repetitions. `covers` says what varied. Throws as MonteCarloInterval does.
Interval SpreadInterval(double value, double standard_error, double degrees,
                        const std::string& covers, double level = 0.95);

// Makes an interval from B estimates, each made anew from resampled data (the paper's appendix A
// for kClassifierBootstrap). From B = 40 on it holds the percentiles of the estimates; fewer
// resolve no percentile of 95 %, so it is mean +- t(B - 1) sd. Needs B >= 2. Throws as
// MonteCarloInterval does.
Interval BootstrapInterval(std::span<const double> estimates, IntervalMethod method,
                           double level = 0.95);

// Widens `interval`, which is about `value`, by what the same method was off by on the policy that
// wrote the log. This is a heuristic: the method's error on the new policy is taken for a normal
// one of mean 0 whose deviation is that seen, sqrt(Gap^2 + Noise^2), independent of what `interval`
// covers; one error of one policy stands for all. It does not cover the larger error of a policy
// that leaves the log, which the verdict is for. As long as the mean return of the log is noisy,
// the interval is no narrower than that noise. About v(new) - v(logged) it is as wide: an error
// that both policies share would cancel from a difference of two estimates, but the log's own value
// is no estimate.
Interval BacktestInterval(const Interval& interval, double value, const Backtest& test);

// Makes the interval value +- t(K - 1) standard deviations of the values that K members of a model
// give one by one. They have learned from the same log and differ by what it leaves open, so their
// deviation stands for the error of a model; an error that all members share it does not see.
// Unbounded for fewer than two members. Throws as MonteCarloInterval does.
Interval MemberInterval(double value, std::span<const double> members, double level = 0.95);

// What a corrected estimate may still be off by, beside the noise of the logged episodes.
struct RemainingError {
  double path = 0.0;     // ChosenDoublyRobust::remaining: what full weights would still move it
  double members = 0.0;  // standard deviation of the members' values, times the share of the
                         // model's error that the correction has not seen
};

// Widens [low, high], over logged episodes, about a corrected `value` by the error that may remain,
// taken for a normal one whose deviations are `members` and half of `path`. This is a heuristic:
// how often the interval holds the truth is measured by verdict_calibration and bench.
Interval CorrectionInterval(double low, double high, double value, const RemainingError& remaining,
                            double level);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_JUDGEMENT_INTERVALS_H_
