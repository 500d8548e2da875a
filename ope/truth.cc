#include "ope/truth.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/means.h"

namespace lfiw {

TruthSummary SummariseTruth(std::span<const double> returns) {
  if (returns.empty()) Throw<DataError>("truth: no episodes, expected at least 1");
  for (std::size_t e = 0; e < returns.size(); ++e) {
    if (!std::isfinite(returns[e])) {
      Throw<DataError>("truth: the return of episode {} is {}, not finite", e, returns[e]);
    }
  }
  return {.value = Mean(returns),
          .standard_error = MeanError(returns),
          .episodes = static_cast<std::int64_t>(returns.size())};
}

TruthSummary SummariseTruth(const EpisodeBatch& episodes, std::int64_t horizon,
                            const ValueOptions& value) {
  const std::vector<double> factors = StepFactors(value, horizon);
  const std::span<const double> rewards = episodes.rewards;
  std::vector<double> returns, tails;
  for (std::int64_t e = 0; e < episodes.episodes(); ++e) {
    const std::int64_t length = episodes.Length(e);
    if (length > horizon) {
      Throw<DataError>("truth: episode {} has {} steps, expected at most {}", e, length, horizon);
    }
    const auto first = static_cast<std::size_t>(episodes.offsets[static_cast<std::size_t>(e)]);
    const auto count = static_cast<std::size_t>(length);
    tails.resize(count + 1);
    TailReturns(rewards.subspan(first, count), std::span(factors).first(count), tails);
    returns.push_back(tails[0]);
  }
  return SummariseTruth(returns);
}

}  // namespace lfiw
