#include "ope/rollouts/calibrated_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/rollouts/block_rollout.h"
#include "ope/rollouts/one_member.h"

namespace lfiw::ope {

MemberReturns ReturnsByMember(const RolloutInputs& inputs, const ValueOptions& value,
                              std::int64_t episodes, std::int64_t horizon, std::uint64_t seed) {
  const auto members = static_cast<std::size_t>(inputs.dynamics.members());
  const std::vector<double> factors = StepFactors(value, horizon);
  MemberReturns out{std::vector<double>(members), std::vector<double>(members)};
  const auto add = [&](std::int64_t member, const BlockRollout& block) {
    std::vector<double> returns(static_cast<std::size_t>(episodes), 0.0);
    for (std::int64_t i = 0; i < episodes; ++i) {
      for (std::int64_t t = 0; t < horizon; ++t) {
        returns[static_cast<std::size_t>(i)] +=
            factors[static_cast<std::size_t>(t)] * block.reward(i, t);
      }
    }
    out.means[static_cast<std::size_t>(member)] = Mean(returns);
    out.standard_errors[static_cast<std::size_t>(member)] = StandardError(returns);
  };
  RollOutInEachMember(inputs, episodes, horizon, seed, add);
  return out;
}

CalibratedModel CalibrateModel(const FamilyValues& logged, const FamilyValues& evaluated,
                               const Backtest& log) {
  LFIW_ASSERT(logged.values.shape() == evaluated.values.shape());
  const std::int64_t members = logged.values.shape()[1];
  if (members < 2) {
    Throw<DataError>("a calibrated model needs two members of the dynamics, got {}", members);
  }
  const auto x = logged.values.flat(), y = evaluated.values.flat();
  const auto count = static_cast<double>(x.size());
  CalibratedModel out;
  out.logged = log.logged;
  out.logged_mean = Mean(std::span<const double>(x.begin(), x.end()));
  out.mean = Mean(std::span<const double>(y.begin(), y.end()));
  double xx = 0.0, xy = 0.0, yy = 0.0;
  for (std::size_t m = 0; m < x.size(); ++m) {
    const double dx = x[m] - out.logged_mean, dy = y[m] - out.mean;
    xx += dx * dx / (count - 1.0);
    xy += dx * dy / (count - 1.0);
    yy += dy * dy / (count - 1.0);
  }
  const double noise =
      std::pow(log.logged_stderr.value_or(log.spread), 2) + std::pow(logged.standard_error, 2);
  out.slope = xx > 0.0 ? xy / (xx + noise) : 0.0;
  out.value = out.mean + out.slope * (out.logged - out.logged_mean);
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  out.outside = std::max({*low - out.logged, out.logged - *high, 0.0});
  // one model's own error, the one that all share, and how far the mean of finitely many may be off
  const double apart = std::max(yy - out.slope * xy, 0.0);
  const double variance = apart * (2.0 + 1.0 / count) + std::pow(evaluated.standard_error, 2) +
                          std::pow(out.slope * out.outside, 2);
  out.standard_error = std::sqrt(variance);
  out.degrees = static_cast<double>(members) - 1.0;
  return out;
}

Estimator CalibratedModelEstimator() {
  return {.name = kCalibratedModel,
          .summary = "models of one log, calibrated by the value of the logged policy",
          .horizons = HorizonSupport::kFinite,
          .needs = {"family"},
          .estimate = [](const EstimatorInputs& inputs, const Estimand& estimand) {
            const auto& shape = inputs.model_family.shape();
            const auto half = [&](std::int64_t policy) {
              FamilyValues values{Array<double, 2>({shape[1], shape[2]}),
                                  inputs.model_family_errors[static_cast<std::size_t>(policy)]};
              for (std::int64_t s = 0; s < shape[1]; ++s) {
                std::ranges::copy(inputs.model_family.Row(policy, s), values.values.Row(s).begin());
              }
              return values;
            };
            const std::vector<double> factors = StepFactors(estimand, inputs.steps());
            std::vector<double> returns;
            for (std::int64_t i = 0; i < inputs.episodes(); ++i) {
              const auto rewards = inputs.rewards.Row(i);
              returns.push_back(
                  std::inner_product(rewards.begin(), rewards.end(), factors.begin(), 0.0));
            }
            Backtest log;
            log.logged = Mean(returns);
            log.spread = returns.size() < 2 ? 0.0 : StandardDeviation(returns);
            log.logged_stderr = returns.size() < 2 ? 0.0 : StandardError(returns);
            const CalibratedModel model = CalibrateModel(half(0), half(1), log);
            Estimate out;
            out.value = model.value;
            out.standard_error = model.standard_error;
            out.degrees = model.degrees;
            out.covers = "what the log leaves open about the model, as far as its members disagree";
            return out;
          }};
}

}  // namespace lfiw::ope
