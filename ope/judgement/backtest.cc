#include "ope/judgement/backtest.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// Among fewer values the largest share says little: a few of them always decide.
constexpr std::ptrdiff_t kFewestForInfluence = 10;
// Fewer returns do not show what returns there are.
constexpr std::int64_t kFewestForRange = 20;

// The sum of each episode's rewards, each times the weight of its step, [episodes].
std::vector<double> WeightedReturns(const EpisodeBatch& log, std::span<const double> weights) {
  std::vector<double> returns;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    double sum = 0.0;
    for (std::int64_t t = std::min(std::ssize(weights), log.Length(e)); t-- > 0;) {
      sum +=
          weights[static_cast<std::size_t>(t)] * log.rewards[static_cast<std::size_t>(first + t)];
    }
    returns.push_back(sum);
  }
  return returns;
}

}  // namespace

double Backtest::Noise() const {
  return std::hypot(estimate_stderr.value_or(0.0), logged_stderr.value_or(0.0));
}

double Backtest::ExcessShare() const {
  const double size = std::max(std::abs(logged), spread);
  const double excess = std::max(std::abs(Gap()) - 2.0 * Noise(), 0.0);
  return size > 0.0 ? excess / size : (excess > 0.0 ? HUGE_VAL : 0.0);
}

std::vector<double> LoggedReturns(const EpisodeBatch& log, const ValueOptions& value,
                                  std::int64_t horizon) {
  // at every step the episodes that take it, and those of them that the environment ends there
  const auto steps = static_cast<std::size_t>(horizon);
  std::vector<double> running(steps, 0.0), ended(steps, 0.0);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const auto length = static_cast<std::size_t>(std::min(horizon, log.Length(e)));
    for (std::size_t t = 0; t < length; ++t) running[t] += 1.0;
    const bool ends = log.terminated[static_cast<std::size_t>(e)] != 0;
    if (ends && log.Length(e) <= horizon && length > 0) ended[length - 1] += 1.0;
  }
  // the share that has not ended over the share that is seen: 1 until an episode is cut
  std::vector<double> weights(steps, 0.0);
  double surviving = static_cast<double>(log.episodes());  // of them, if none were cut
  for (std::size_t t = 0; t < steps && surviving > 0.0; ++t) {
    if (running[t] == 0.0) return {};
    weights[t] = surviving / running[t];
    surviving = (running[t] - ended[t]) * weights[t];
  }
  const std::vector<double> factors = StepFactors(value, horizon);
  for (std::size_t t = 0; t < steps; ++t) weights[t] *= factors[t];
  return WeightedReturns(log, weights);
}

std::vector<double> RecordedReturns(const EpisodeBatch& log, const ValueOptions& value,
                                    std::int64_t horizon) {
  return WeightedReturns(log, StepFactors(value, horizon));
}

std::optional<Backtest> LoggedValue(const EpisodeBatch& log, const ValueOptions& value,
                                    std::int64_t horizon) {
  const std::vector<double> returns = LoggedReturns(log, value, horizon);
  if (returns.empty()) return std::nullopt;
  Backtest test;
  test.logged = Mean(returns);
  if (returns.size() > 1) {
    test.logged_stderr = StandardError(returns);
    test.spread = StandardDeviation(returns);
  }
  return test;
}

std::optional<double> LargestInfluence(std::span<const double> values) {
  if (std::ssize(values) < kFewestForInfluence) return std::nullopt;
  const double mean = Mean(values);
  double largest = 0.0, sum = 0.0;
  for (const double value : values) {
    const double square = (value - mean) * (value - mean);
    largest = std::max(largest, square);
    sum += square;
  }
  if (!(sum > 0.0) || !std::isfinite(sum)) return std::nullopt;
  return largest / sum;
}

std::optional<ReturnRange> LoggedRange(const EpisodeBatch& log, const ValueOptions& value,
                                       std::int64_t horizon) {
  const std::vector<double> returns = RecordedReturns(log, value, horizon);
  ReturnRange range{HUGE_VAL, -HUGE_VAL};
  std::int64_t count = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const auto i = static_cast<std::size_t>(e);
    if (log.terminated[i] == 0 && log.Length(e) < horizon) continue;
    range = {std::min(range.low, returns[i]), std::max(range.high, returns[i])};
    ++count;
  }
  return count < kFewestForRange ? std::nullopt : std::optional(range);
}

ReturnRange PossibleReturns(const EpisodeBatch& log, const ValueOptions& value,
                            std::int64_t horizon, EpisodeEnd end) {
  const auto [low, high] = std::minmax_element(log.rewards.begin(), log.rewards.end());
  const double sum = Sum(StepFactors(value, horizon));
  ReturnRange range{*low * sum, *high * sum};
  if (end == EpisodeEnd::kMayBeEarlier) {
    range.low = std::min(range.low, 0.0);
    range.high = std::max(range.high, 0.0);
  }
  return range;
}

}  // namespace lfiw::ope
