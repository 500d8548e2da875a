#include "ope/estimators/doubly_robust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "ope/estimators/direct_method.h"
#include "ope/estimators/importance_sampling.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

// One state, two actions, three steps; the episode ends after action 0 with probability 1/2, then
// with reward 0, else with reward 2 a + 1. The behavior policy is uniform,
// the evaluation policy takes action 1 with probability 0.75. The log holds each of the 4^3
// sequences of (action, coin) once, so that means over it are expectations.
constexpr std::int64_t kSteps = 3;
constexpr std::int64_t kRobustEpisodes = 64;
constexpr double kRobustDiscount = 0.9;
constexpr double kActionOne = 0.75;

Estimand Horizon() {
  Estimand estimand;
  estimand.horizon = kSteps;
  estimand.discount = kRobustDiscount;
  return estimand;
}

bool Ends(int action, int coin) { return action == 0 && coin == 1; }
double Reward(int action, int coin) { return Ends(action, coin) ? 0.0 : 2.0 * action + 1.0; }

// Q and V by step and action; the true ones plus `error` times what no system has.
struct Tables {
  std::array<std::array<double, 2>, kSteps> q{};
  std::array<double, kSteps + 1> v{};
};

Tables Values(double error) {
  Tables tables;
  for (std::size_t t = kSteps; t-- > 0;) {
    for (const int a : {0, 1}) {
      double& q = tables.q[t][static_cast<std::size_t>(a)];
      for (const int coin : {0, 1}) {
        q += 0.5 * (Reward(a, coin) + (Ends(a, coin) ? 0.0 : kRobustDiscount * tables.v[t + 1]));
      }
      q += error * (1.0 + static_cast<double>(t) - 2.0 * a);
    }
    tables.v[t] = (1.0 - kActionOne) * tables.q[t][0] + kActionOne * tables.q[t][1];
  }
  return tables;
}

double Truth() { return Values(0.0).v[0]; }

EstimatorInputs Enumerated(double error) {
  const Tables tables = Values(error);
  EstimatorInputs in;
  in.rewards = Array<double, 2>({kRobustEpisodes, kSteps});
  Array<double, 2> ratios({kRobustEpisodes, kSteps});
  ValueArrays values{Array<double, 2>({kRobustEpisodes, kSteps}),
                     Array<double, 2>({kRobustEpisodes, kSteps + 1}),
                     {}};
  for (std::int64_t i = 0; i < kRobustEpisodes; ++i) {
    int code = static_cast<int>(i);
    bool running = true;
    std::int64_t t = 0;
    for (; t < kSteps && running; ++t, code /= 4) {
      const int action = code % 2, coin = code / 2 % 2;
      const auto step = static_cast<std::size_t>(t);
      in.rewards(i, t) = Reward(action, coin);
      ratios(i, t) = std::log((action == 1 ? kActionOne : 1.0 - kActionOne) / 0.5);
      values.q(i, t) = tables.q[step][static_cast<std::size_t>(action)];
      values.v(i, t) = tables.v[step];
      running = !Ends(action, coin);
    }
    in.lengths.push_back(t);
    in.terminated.push_back(!running);
  }
  in.log_ratios["action"] = std::move(ratios);
  in.values["fqe"] = std::move(values);
  return in;
}

DoublyRobustOptions Dr() {
  DoublyRobustOptions options;
  options.normalization = WeightNormalization::kNone;
  return options;
}

double Value(const Estimator& estimator, const EstimatorInputs& in,
             const Estimand& estimand = Horizon()) {
  const Estimate estimate = RunEstimator(estimator, in, estimand);
  EXPECT_TRUE(estimate.value) << estimate.reason;
  return estimate.value.value_or(std::nan(""));
}

// ---- Doubly robust

TEST(DoublyRobust, TrueRatiosGiveTheTrueValueWhateverQ) {
  for (const double error : {0.0, 0.5, -3.0}) {
    const EstimatorInputs in = Enumerated(error);
    EXPECT_NEAR(Value(DoublyRobust(Dr()), in), Truth(), 1e-12);
    EXPECT_NEAR(Value(DoublyRobust({}), in), Truth(), 1e-12);
  }
}

TEST(DoublyRobust, TheTrueQGivesTheTrueValueWhateverTheRatios) {
  EstimatorInputs in = Enumerated(0.0);
  for (double& ratio : in.log_ratios["action"].flat()) ratio = -1.7 * ratio;
  EXPECT_NEAR(Value(DoublyRobust(Dr()), in), Truth(), 1e-12);
  EXPECT_NEAR(Value(DoublyRobust({}), in), Truth(), 1e-12);
}

TEST(DoublyRobust, WrongRatiosAndAWrongQLeaveAnError) {
  EstimatorInputs in = Enumerated(0.5);
  for (double& ratio : in.log_ratios["action"].flat()) ratio = 0.0;
  EXPECT_GT(std::abs(Value(DoublyRobust(Dr()), in) - Truth()), 0.1);
}

TEST(DoublyRobust, IsImportanceSamplingWhereValuesAreZero) {
  EstimatorInputs in = Enumerated(0.0);
  in.values["fqe"] = {Array<double, 2>({kRobustEpisodes, kSteps}),
                      Array<double, 2>({kRobustEpisodes, kSteps + 1}),
                      {}};
  Stream stream(2, "ratios");
  for (double& ratio : in.log_ratios["action"].flat()) ratio = stream.Normal();
  ImportanceSamplingOptions options;
  options.weighted_by = WeightedBy::kStep;
  EXPECT_NEAR(Value(DoublyRobust({}), in), Value(ImportanceSampling(options), in), 1e-12);
  options.normalization = WeightNormalization::kNone;
  EXPECT_NEAR(Value(DoublyRobust(Dr()), in), Value(ImportanceSampling(options), in), 1e-12);
}

TEST(DoublyRobust, EqualsTheFormOfItsPaper) {
  // (1/n) sum_i sum_t g^t (rho_t r - rho_t Q + rho_{t-1} V), rho carried past the end
  const EstimatorInputs in = Enumerated(0.7);
  const ValueArrays& values = in.values.at("fqe");
  double sum = 0.0;
  for (std::int64_t i = 0; i < kRobustEpisodes; ++i) {
    double rho = 1.0, factor = 1.0;
    for (std::int64_t t = 0; t < kSteps; ++t, factor *= kRobustDiscount) {
      const double before = rho;
      rho *= std::exp(in.log_ratios.at("action")(i, t));
      sum += factor * (rho * (in.rewards(i, t) - values.q(i, t)) + before * values.v(i, t));
    }
  }
  EXPECT_NEAR(Value(DoublyRobust(Dr()), in), sum / kRobustEpisodes, 1e-12);
}

TEST(DoublyRobust, ReducesTheErrorOfImportanceSampling) {
  ImportanceSamplingOptions options;
  options.weighted_by = WeightedBy::kStep;
  options.normalization = WeightNormalization::kNone;
  const EstimatorInputs in = Enumerated(0.0);
  const auto plain = RunEstimator(ImportanceSampling(options), in, Horizon());
  const auto robust = RunEstimator(DoublyRobust(Dr()), in, Horizon());
  EXPECT_LT(*robust.standard_error, 0.7 * *plain.standard_error);
}

TEST(DoublyRobust, TenThousandStepsStayFinite) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 10'000}, 1.0);
  in.lengths = {10'000, 10'000};
  in.terminated = {0, 0};
  in.log_ratios["action"] = Array<double, 2>({2, 10'000}, std::log(3.0));
  in.values["fqe"] = {Array<double, 2>({2, 10'000}), Array<double, 2>({2, 10'001}), {}};
  Estimand estimand;
  estimand.horizon = 10'000;
  EXPECT_DOUBLE_EQ(Value(DoublyRobust({}), in, estimand), 10'000.0);
  EXPECT_DOUBLE_EQ(Value(Magic({}), in, estimand), 10'000.0);
  EXPECT_THAT(RunEstimator(DoublyRobust(Dr()), in, estimand).reason,
              HasSubstr("not finite in double"));
}

TEST(DoublyRobust, ValuesStandForWhatATimeLimitCut) {
  EstimatorInputs in = Enumerated(0.0);
  in.rewards = Array<double, 2>({1, 1}, 2.0);
  in.lengths = {1};
  in.terminated = {0};
  in.log_ratios["action"] = Array<double, 2>({1, 1});
  in.values["fqe"] = {Array<double, 2>({1, 1}), Array<double, 2>({1, 2}), {}};
  in.values["fqe"].v(0, 1) = 10.0;
  const Estimate estimate = RunEstimator(DoublyRobust({}), in, Horizon());
  EXPECT_DOUBLE_EQ(*estimate.value, 2.0 + kRobustDiscount * 10.0);
  EXPECT_THAT(estimate.notes.at(0), HasSubstr("cut 1 of 1 episodes"));
}

TEST(DoublyRobust, RefusesWithoutSupport) {
  EstimatorInputs in = Enumerated(0.0);
  for (double& ratio : in.log_ratios["action"].flat()) {
    ratio = -std::numeric_limits<double>::infinity();
  }
  for (const Estimator& estimator : {DoublyRobust({}), DoublyRobust(Dr()), Magic({})}) {
    const Estimate estimate = RunEstimator(estimator, in, Horizon());
    EXPECT_FALSE(estimate.value);
    EXPECT_THAT(estimate.reason, HasSubstr("no support"));
  }
}

TEST(DoublyRobust, RefusesWeightsThatDoNotTelescope) {
  DoublyRobustOptions options;
  options.ratios.finished = FinishedEpisodes::kDrop;
  EXPECT_THROW(RunEstimator(DoublyRobust(options), Enumerated(0.0), Horizon()), ConfigError);
}

// ---- MAGIC

// n episodes drawn from the enumerated log.
EstimatorInputs Drawn(double error, std::int64_t n, std::uint64_t seed) {
  const EstimatorInputs all = Enumerated(error);
  EstimatorInputs in;
  in.rewards = Array<double, 2>({n, kSteps});
  in.log_ratios["action"] = Array<double, 2>({n, kSteps});
  ValueArrays values{Array<double, 2>({n, kSteps}), Array<double, 2>({n, kSteps + 1}), {}};
  Stream stream(seed, "episodes");
  for (std::int64_t i = 0; i < n; ++i) {
    const auto e = static_cast<std::int64_t>(stream.Below(kRobustEpisodes));
    const ValueArrays& from = all.values.at("fqe");
    std::ranges::copy(all.rewards.Row(e), in.rewards.Row(i).begin());
    std::ranges::copy(all.log_ratios.at("action").Row(e), in.log_ratios["action"].Row(i).begin());
    std::ranges::copy(from.q.Row(e), values.q.Row(i).begin());
    std::ranges::copy(from.v.Row(e), values.v.Row(i).begin());
    in.lengths.push_back(all.lengths[static_cast<std::size_t>(e)]);
    in.terminated.push_back(all.terminated[static_cast<std::size_t>(e)]);
  }
  in.values["fqe"] = std::move(values);
  return in;
}

TEST(Magic, TrustsTrueValuesAlone) {
  // all j-step returns agree in the mean and the values have no spread
  EXPECT_NEAR(Value(Magic({}), Drawn(0.0, 200, 1)), Truth(), 1e-9);
}

TEST(Magic, FallsBackOnWeightsWhereValuesAreWrong) {
  const EstimatorInputs in = Drawn(3.0, 2000, 2);
  const double direct = Value(DirectMethod("fqe", "fqe", ""), in);
  const double weighted = Value(DoublyRobust({}), in), magic = Value(Magic({}), in);
  EXPECT_GT(std::abs(direct - Truth()), 2.0);
  EXPECT_LT(std::abs(magic - weighted), 0.1 * std::abs(direct - weighted));
}

TEST(Magic, LiesBetweenTheReturnsThatItBlends) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const EstimatorInputs in = Drawn(0.2, 30, seed);
    const Estimate magic = RunEstimator(Magic({}), in, Horizon());
    // the partial sums of the corrections, from the terms of WDR
    const EpisodeTerms terms = RunEstimator(DoublyRobust({}), in, Horizon()).terms;
    std::vector<double> returns;
    double sum = 0.0;
    for (std::int64_t k = 0; k < terms.columns(); ++k) {
      double numerator = 0.0, denominator = 0.0;
      for (std::int64_t i = 0; i < terms.episodes(); ++i) {
        numerator += terms.numerators(i, k);
        denominator += terms.denominators(i, k);
      }
      returns.push_back(sum += numerator / denominator);
    }
    EXPECT_GE(*magic.value, *std::ranges::min_element(returns) - 1e-12);
    EXPECT_LE(*magic.value, *std::ranges::max_element(returns) + 1e-12);
  }
}

TEST(Magic, ErrsLessThanTheWorseOfItsParts) {
  std::vector<double> magic, direct, weighted;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const EstimatorInputs in = Drawn(0.3, 40, seed);
    magic.push_back(std::pow(Value(Magic({}), in) - Truth(), 2));
    direct.push_back(std::pow(Value(DirectMethod("fqe", "fqe", ""), in) - Truth(), 2));
    weighted.push_back(std::pow(Value(DoublyRobust({}), in) - Truth(), 2));
  }
  EXPECT_LT(Mean(magic), std::max(Mean(direct), Mean(weighted)));
}

TEST(Magic, FewReturnsAreEvenlySpreadAndIncludeBothEnds) {
  MagicOptions options;
  options.max_returns = 2;
  const Estimate estimate = RunEstimator(Magic(options), Drawn(3.0, 2000, 2), Horizon());
  EXPECT_THAT(estimate.notes.back(), HasSubstr("corrected at every step"));
  EXPECT_NEAR(*estimate.value, Truth(), 0.2);
}

TEST(Magic, RefusesASingleEpisode) {
  EXPECT_THAT(RunEstimator(Magic({}), Drawn(0.0, 1, 1), Horizon()).reason,
              HasSubstr("single episode"));
}

}  // namespace
}  // namespace lfiw::ope
