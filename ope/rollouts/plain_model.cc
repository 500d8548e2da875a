#include "ope/rollouts/plain_model.h"

#include <cmath>
#include <cstddef>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/means.h"

namespace lfiw::ope {

PlainModelEstimate EstimatePlainModel(const Array<double, 3>& rewards, const ValueOptions& value) {
  const auto& [repetitions, n, steps] = rewards.shape();
  if (repetitions < 1 || n < 1 || steps < 1) {
    Throw<DataError>("plain model: rewards [R, n, T] = [{}, {}, {}]: each must be at least 1",
                     repetitions, n, steps);
  }
  const std::vector<double> factors = StepFactors(value, steps);
  PlainModelEstimate result;
  std::vector<double> tails(static_cast<std::size_t>(steps) + 1), returns, within;
  for (std::int64_t r = 0; r < repetitions; ++r) {
    returns.clear();
    for (std::int64_t i = 0; i < n; ++i) {
      TailReturns(rewards.Row(r, i), factors, tails);
      if (!std::isfinite(tails[0])) {
        Throw<DataError>("plain model: the return of repetition {}, episode {} is {}, not finite",
                         r, i, tails[0]);
      }
      returns.push_back(tails[0]);
    }
    const double mean = PlainMean(returns);
    result.repetitions.push_back(mean);
    for (double& deviation : returns) deviation -= mean;
    within.push_back(RootMeanSquare(returns) / std::sqrt(static_cast<double>(n)));
  }
  result.value = Mean(result.repetitions);
  result.standard_error = MeanError(result.repetitions);
  result.se_within = RootMeanSquare(within);
  return result;
}

}  // namespace lfiw::ope
