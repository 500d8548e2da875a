#include "ope/estimator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

EstimatorInputs Inputs() {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 3}, 1.0);
  in.lengths = {3, 3};
  in.terminated = {0, 0};
  return in;
}

// The mean of the first rewards.
Estimator FirstReward() {
  return {
      .name = "first_reward",
      .summary = "mean of the first rewards",
      .needs = {},
      .estimate = [](const EstimatorInputs& in, const Estimand&) {
        Estimate out;
        out.terms = {Array<double, 2>({in.episodes(), 1}), Array<double, 2>({in.episodes(), 0})};
        for (std::int64_t i = 0; i < in.episodes(); ++i) {
          out.terms.numerators(i, 0) = in.rewards(i, 0);
        }
        return out;
      }};
}

Estimand Finite() {
  Estimand estimand;
  estimand.horizon = 3;
  return estimand;
}

std::string MessageOf(const EstimatorInputs& in, const Estimator& estimator) {
  try {
    RunEstimator(estimator, in, Finite());
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(RunEstimator, AddsValueAndStandardErrorToTerms) {
  EstimatorInputs in = Inputs();
  in.rewards(1, 0) = 3.0;
  const Estimate estimate = RunEstimator(FirstReward(), in, Finite());
  EXPECT_DOUBLE_EQ(*estimate.value, 2.0);
  EXPECT_DOUBLE_EQ(*estimate.standard_error, 1.0);
}

TEST(RunEstimator, RefusesWithTheProvidersReasonWhereANeedIsMissing) {
  EstimatorInputs in = Inputs();
  Estimator estimator = FirstReward();
  estimator.needs = {"action"};
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "action was not fitted");
  in.missing["action"] = "behavior density missing";
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "behavior density missing");
  in.log_ratios["action"] = Array<double, 2>({2, 3});
  EXPECT_TRUE(RunEstimator(estimator, in, Finite()).value);
}

TEST(RunEstimator, RefusesAHorizonThatTheEstimatorDoesNotAnswerFor) {
  Estimator estimator = FirstReward();
  EXPECT_THAT(RunEstimator(estimator, Inputs(), {}).reason, HasSubstr("finite horizon only"));
  estimator.horizons = HorizonSupport::kInfinite;
  EXPECT_THAT(RunEstimator(estimator, Inputs(), Finite()).reason,
              HasSubstr("infinite horizon only"));
  estimator.horizons = HorizonSupport::kBoth;
  EXPECT_TRUE(RunEstimator(estimator, Inputs(), {}).value);
}

TEST(RunEstimator, NamesEpisodeAndStepOfWhatIsNoNumber) {
  EstimatorInputs in = Inputs();
  in.rewards(1, 2) = std::nan("");
  EXPECT_THAT(MessageOf(in, FirstReward()), HasSubstr("rewards: episode 1, step 2"));

  in = Inputs();
  Estimator estimator = FirstReward();
  estimator.needs = {"action"};
  in.log_ratios["action"] = Array<double, 2>({2, 3}, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(MessageOf(in, estimator), "");
  in.log_ratios["action"](0, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THAT(MessageOf(in, estimator), HasSubstr("action log-ratios: episode 0, step 1"));
}

TEST(RunEstimator, RefusesArraysWhoseShapesDisagree) {
  EstimatorInputs in = Inputs();
  in.lengths = {3, 4};
  EXPECT_THAT(MessageOf(in, FirstReward()), HasSubstr("episode 1 has 4 steps"));
  in = Inputs();
  Estimator estimator = FirstReward();
  estimator.needs = {"fqe"};
  in.values["fqe"] = {Array<double, 2>({2, 3}), Array<double, 2>({2, 3}), {}};
  EXPECT_THAT(MessageOf(in, estimator), HasSubstr("fqe v is [2, 3], expected [2, 4]"));
}

TEST(RunEstimator, RefusesLogsLongerThanTheHorizon) {
  EstimatorInputs in = Inputs();
  in.rewards = Array<double, 2>({2, 4}, 1.0);
  EXPECT_THAT(MessageOf(in, FirstReward()),
              HasSubstr("up to 4 steps, expected at most the horizon 3"));
}

TEST(RunEstimator, SaysWhetherSupportOrRangeIsMissing) {
  Estimator estimator = FirstReward();
  EstimatorInputs in = Inputs();
  in.rewards = Array<double, 2>({2, 3}, 1.5e308);
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "not finite in double");
  estimator.estimate = [](const EstimatorInputs&, const Estimand&) {
    Estimate out;
    out.terms = {Array<double, 2>({2, 1}), Array<double, 2>({2, 1})};
    return out;
  };
  EXPECT_EQ(RunEstimator(estimator, in, Finite()).reason, "no support");
}

TEST(StepFactors, NormalizeOverTheHorizonNotOverTheLog) {
  Estimand estimand = Finite();
  estimand.discount = 0.5;
  estimand.scale = ValueScale::kNormalized;
  EXPECT_THAT(StepFactors(estimand, 2), testing::ElementsAre(1.0 / 1.75, 0.5 / 1.75));
  estimand.horizon = {};
  EXPECT_THAT(StepFactors(estimand, 2), testing::ElementsAre(0.5, 0.25));
  estimand.discount = 1.0;
  EXPECT_THROW(StepFactors(estimand, 2), ConfigError);
}

// The mean of the first rewards, times a factor.
struct FactorOptions {
  double factor = 1.0;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("factor", factor, "factor", Positive());
  }
};

Estimator Scaled(const FactorOptions& options) {
  Estimator estimator = FirstReward();
  estimator.name = "scaled";
  estimator.estimate = [options](const EstimatorInputs& in, const Estimand& estimand) {
    Estimate out = FirstReward().estimate(in, estimand);
    for (double& x : out.terms.numerators.flat()) x *= options.factor;
    return out;
  };
  return estimator;
}

TEST(EstimatorRegistry, MakesAnEstimatorWithOtherOptionsThatItsLabelTells) {
  EstimatorRegistry registry;
  registry.Add(Configurable<FactorOptions>({.factor = 2.0}, Scaled));
  const auto made = [&](const std::string& yaml) {
    return registry.Make("scaled", ParseYaml(yaml, "file.yaml"), "estimators.0");
  };
  EXPECT_EQ(made("{factor: 2}").label(), "scaled");
  const Estimator five = made("{factor: 5}");
  EXPECT_EQ(five.label(), "scaled factor=5");
  EXPECT_DOUBLE_EQ(*RunEstimator(five, Inputs(), Finite()).value, 5.0);
  EXPECT_THROW(made("{factor: -1}"), ConfigError);
  EXPECT_THROW(made("{faktor: 1}"), ConfigError);
}

TEST(EstimatorRegistry, KnowsEstimatorsByNameAndSuggestsTheNearest) {
  EstimatorRegistry registry;
  registry.Add(FirstReward());
  EXPECT_EQ(registry.Find("first_reward").summary, "mean of the first rewards");
  EXPECT_THROW(registry.Add(FirstReward()), ConfigError);
  try {
    registry.Find("first");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean first_reward?"));
  }
}

}  // namespace
}  // namespace lfiw::ope
