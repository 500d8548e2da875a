#include "ope/judgement/intervals.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// One estimate in each tail of a 95 % interval.
constexpr std::size_t kMinPercentileReplicates = 40;

void Check(std::span<const double> estimates, IntervalMethod method, double level) {
  if (!(level > 0.0 && level < 1.0)) {
    Throw<ConfigError>("{} interval: level {} is not in (0, 1)", EnumName(method), level);
  }
  for (std::size_t k = 0; k < estimates.size(); ++k) {
    if (!std::isfinite(estimates[k])) {
      Throw<DataError>("{} interval: estimate {} is {}, not finite", EnumName(method), k,
                       estimates[k]);
    }
  }
}

std::string Covers(IntervalMethod method) {
  switch (method) {
    case IntervalMethod::kMonteCarlo:
      return "the randomness of rollouts and classifiers, given the fitted model and the log";
    case IntervalMethod::kClassifierBootstrap:
      return "the data of the classifiers and the rollouts, given the fitted model";
    case IntervalMethod::kPipelineBootstrap:
      return "the logged episodes, with model, classifiers and rollouts made anew";
    case IntervalMethod::kBacktest:
      return "also the error seen on the policy that wrote the log, taken as typical (a heuristic)";
    case IntervalMethod::kMembers:
      return "what the log leaves open about the model, as far as its members disagree";
    case IntervalMethod::kCorrection:
      return "the logged episodes that correct the model, what weights at full power would still "
             "move, and what the model's members disagree about where the log cannot tell (a "
             "heuristic)";
  }
  return "";
}

Interval Unbounded(IntervalMethod method, double level) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {-kInfinity, kInfinity, method, level, "nothing: fewer than 2 estimates"};
}

Interval StudentInterval(std::span<const double> estimates, double scale, IntervalMethod method,
                         double level) {
  const double freedom = static_cast<double>(estimates.size()) - 1.0;
  const double half = StudentTQuantile(0.5 + level / 2.0, freedom) * scale;
  const double mean = Mean(estimates);
  return {mean - half, mean + half, method, level, Covers(method)};
}

// Widens [low, high] about `value` by an independent normal error of that deviation.
Interval Widened(double low, double high, double value, double deviation, IntervalMethod method,
                 double level) {
  const double spread = NormalQuantile(0.5 + level / 2.0) * deviation;
  return {value - std::hypot(value - low, spread), value + std::hypot(high - value, spread), method,
          level, Covers(method)};
}

}  // namespace

Interval MonteCarloInterval(std::span<const double> repetitions, double level) {
  constexpr IntervalMethod kMethod = IntervalMethod::kMonteCarlo;
  Check(repetitions, kMethod, level);
  if (repetitions.size() < 2) return Unbounded(kMethod, level);
  return StudentInterval(repetitions, StandardError(repetitions), kMethod, level);
}

Interval SpreadInterval(double value, double standard_error, double degrees,
                        const std::string& covers, double level) {
  constexpr IntervalMethod kMethod = IntervalMethod::kMonteCarlo;
  const std::array numbers = {value, standard_error};
  Check(numbers, kMethod, level);
  const double half = StudentTQuantile(0.5 + level / 2.0, degrees) * standard_error;
  return {value - half, value + half, kMethod, level, covers};
}

Interval BootstrapInterval(std::span<const double> estimates, IntervalMethod method, double level) {
  Check(estimates, method, level);
  if (estimates.size() < 2) return Unbounded(method, level);
  if (estimates.size() < kMinPercentileReplicates) {
    return StudentInterval(estimates, StandardDeviation(estimates), method, level);
  }
  const double tail = (1.0 - level) / 2.0;
  return {Quantile(estimates, tail), Quantile(estimates, 1.0 - tail), method, level,
          Covers(method)};
}

Interval BacktestInterval(const Interval& interval, double value, const Backtest& test) {
  return Widened(interval.low, interval.high, value, std::hypot(test.Gap(), test.Noise()),
                 IntervalMethod::kBacktest, interval.level);
}

Interval MemberInterval(double value, std::span<const double> members, double level) {
  constexpr IntervalMethod kMethod = IntervalMethod::kMembers;
  Check(members, kMethod, level);
  if (members.size() < 2) return Unbounded(kMethod, level);
  const double freedom = static_cast<double>(members.size()) - 1.0;
  const double half = StudentTQuantile(0.5 + level / 2.0, freedom) * StandardDeviation(members);
  return {value - half, value + half, kMethod, level, Covers(kMethod)};
}

Interval CorrectionInterval(double low, double high, double value, const RemainingError& remaining,
                            double level) {
  return Widened(low, high, value, std::hypot(0.5 * remaining.path, remaining.members),
                 IntervalMethod::kCorrection, level);
}

}  // namespace lfiw::ope
