#include "ope/judgement/backtest.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/statistics.h"

namespace lfiw::ope {

double Backtest::Noise() const { return std::hypot(estimate_stderr.value_or(0.0), logged_stderr); }

double Backtest::ExcessShare() const {
  const double size = std::max(std::abs(logged), spread);
  const double excess = std::max(std::abs(Gap()) - 2.0 * Noise(), 0.0);
  return size > 0.0 ? excess / size : (excess > 0.0 ? HUGE_VAL : 0.0);
}

std::optional<Backtest> LoggedValue(const EpisodeBatch& log, const ValueOptions& value,
                                    std::int64_t horizon) {
  const std::vector<double> factors = StepFactors(value, horizon);
  std::vector<double> returns;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const auto index = static_cast<std::size_t>(e);
    if (log.Length(e) < horizon && log.terminated[index] == 0) continue;
    const std::int64_t steps = std::min(horizon, log.Length(e));
    double sum = 0.0;
    for (std::int64_t t = steps; t-- > 0;) {
      sum += factors[static_cast<std::size_t>(t)] *
             log.rewards[static_cast<std::size_t>(log.offsets[index] + t)];
    }
    returns.push_back(sum);
  }
  if (returns.empty()) return std::nullopt;
  Backtest test;
  test.logged = Mean(returns);
  if (returns.size() > 1) {
    test.logged_stderr = StandardError(returns);
    test.spread = StandardDeviation(returns);
  }
  return test;
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
