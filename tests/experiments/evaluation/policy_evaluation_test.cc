#include "experiments/evaluation/policy_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "experiments/evaluation/rollout_stage.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Evaluates N(0.3, 1) and then N(0.5, 0.001^2) from the log of N(0, 1).
class EvaluatePoliciesTest : public SmallEvaluation {
 protected:
  EvaluatePoliciesTest()
      : policies_{.behavior = behavior_,
                  .evaluations = {ConstantSource("wide", 0.3, 1.0),
                                  ConstantSource("narrow", 0.5, 0.001)}},
        logged_(LoggedValue(log_.log, config_.value, kSmallHorizon)) {}

  std::vector<PolicyEvaluation> Evaluate(const FittedModels& models) {
    return EvaluatePolicies({Context(), policies_, log_, split_, models, logged_});
  }
  std::vector<PolicyEvaluation> Evaluate() {
    return Evaluate(Fit(config_.classifiers.instances + config_.intervals.classifier_replicates));
  }

  PolicySet policies_;
  std::optional<Backtest> logged_;
};

// Every estimate [R, C] of every estimator at every horizon.
std::vector<double> EstimatesOf(const std::vector<EstimatorSweep>& sweeps) {
  std::vector<double> all;
  for (const EstimatorSweep& sweep : sweeps) {
    for (const LfiwEstimate& estimate : sweep.result.horizons) {
      const auto& flat = estimate.estimates.flat();
      all.insert(all.end(), flat.begin(), flat.end());
    }
  }
  return all;
}

TEST_F(EvaluatePoliciesTest, EveryEstimateIsTheSumOfTheMeanActionsWhereThatIsTheReward) {
  const std::vector<PolicyEvaluation> evaluations = Evaluate();
  ASSERT_THAT(evaluations, SizeIs(2));
  EXPECT_EQ(evaluations[0].policy.label, "wide");
  EXPECT_EQ(evaluations[1].policy.label, "narrow");
  const PolicyEvaluation& narrow = evaluations[1];
  EXPECT_THAT(narrow.rows, SizeIs(1 + 3 * (kSmallHorizon + 1)));
  for (const JudgedRow& judged : narrow.rows) {
    ASSERT_TRUE(judged.row.value) << judged.row.reason;
    // the mean over 5 actions of a deviation of 0.001, at worst of a single rollout
    EXPECT_NEAR(*judged.row.value, 0.5 * kSmallHorizon, 0.01) << judged.row.estimator;
    EXPECT_EQ(judged.row.policy, "narrow");
    EXPECT_EQ(judged.row.environment, kLinearGaussianName);
  }
  ASSERT_TRUE(narrow.measured.truth);
  EXPECT_NEAR(narrow.measured.truth->value, 0.5 * kSmallHorizon, 0.01);
  // four standard errors of 60 rollouts of 5 actions of deviation 1
  EXPECT_NEAR(evaluations[0].measured.plain.value, 0.3 * kSmallHorizon, 4 * std::sqrt(5.0 / 60));
}

TEST_F(EvaluatePoliciesTest, WithoutTruthNoneIsMeasured) {
  config_.truth.enabled = false;
  for (const PolicyEvaluation& evaluation : Evaluate()) {
    EXPECT_FALSE(evaluation.measured.truth);
    EXPECT_FALSE(evaluation.stated().error);
  }
  EXPECT_THAT(Computed(), Not(Contains("truth")));
}

TEST_F(EvaluatePoliciesTest, TheBacktestOfARowIsTheSameRowOfTheBehaviorPolicy) {
  const std::vector<PolicyEvaluation> evaluations = Evaluate();
  // the behavior policy among the evaluated ones, without back-tests that widen intervals
  config_.back_test.enabled = false;
  policies_.evaluations = {behavior_};
  const std::vector<PolicyEvaluation> behavior = Evaluate();
  for (const PolicyEvaluation& evaluation : evaluations) {
    const BacktestsByRow& tests = evaluation.measured.back_tests;
    ASSERT_THAT(tests, SizeIs(behavior[0].rows.size()));
    for (const JudgedRow& judged : behavior[0].rows) {
      const Backtest& test = tests.at(judged.key);
      EXPECT_EQ(test.estimate, judged.row.value);
      EXPECT_EQ(test.estimate_stderr, judged.row.standard_error);
      EXPECT_EQ(test.logged, logged_->logged);
      EXPECT_EQ(test.logged_stderr, logged_->logged_stderr);
    }
    for (const JudgedRow& judged : evaluation.rows) {
      // at H = 0 no weight acts, yet the method is that of the row
      ASSERT_TRUE(judged.evidence.back_test);
      EXPECT_EQ(judged.evidence.back_test->estimate, tests.at(judged.key).estimate);
    }
  }
}

TEST_F(EvaluatePoliciesTest, WithoutABehaviorPolicyOrItsReturnsThereIsNoBacktest) {
  const auto back_tests = [&] { return Evaluate()[0].measured.back_tests; };
  EXPECT_THAT(back_tests(), SizeIs(1 + 3 * (kSmallHorizon + 1)));
  const std::optional<Backtest> logged = std::exchange(logged_, std::nullopt);
  EXPECT_THAT(back_tests(), IsEmpty());
  logged_ = logged;
  policies_.behavior.reset();
  EXPECT_THAT(back_tests(), IsEmpty());
  policies_.behavior = behavior_;
  config_.back_test.enabled = false;
  EXPECT_THAT(back_tests(), IsEmpty());
}

TEST_F(EvaluatePoliciesTest, StateTheHeadlinesRowWithItsOwnBacktest) {
  for (const PolicyEvaluation& evaluation : Evaluate()) {
    const RowKey key = ChooseHeadline(evaluation.measured).key;
    EXPECT_EQ(evaluation.stated(), FindRow(key, evaluation.rows).row);
    ASSERT_TRUE(evaluation.back_test());
    EXPECT_EQ(evaluation.back_test()->estimate, evaluation.measured.back_tests.at(key).estimate);
  }
}

TEST_F(EvaluatePoliciesTest, ClassifiersOfTheBootstrapComeAfterThoseOfTheTable) {
  const std::vector<double> alone = EstimatesOf(Evaluate()[0].measured.sweeps);
  config_.intervals.classifier_replicates = 3;
  const EvaluationMeasurements measured = Evaluate()[0].measured;
  EXPECT_EQ(EstimatesOf(measured.sweeps), alone);
  ASSERT_THAT(measured.classifier_replicates, SizeIs(measured.sweeps.size()));
  EXPECT_EQ(measured.classifier_replicates[0].result.classifiers, 3);

  // as a table of all five classifiers has them in its last columns
  config_.intervals.classifier_replicates = 0;
  config_.classifiers.instances = 5;
  const EvaluationMeasurements five = Evaluate()[0].measured;
  for (std::size_t s = 0; s < five.sweeps.size(); ++s) {
    for (std::size_t h = 1; h <= kSmallHorizon; ++h) {
      const auto& all = five.sweeps[s].result.horizons[h].estimates;
      const auto& last = measured.classifier_replicates[s].result.horizons[h].estimates;
      ASSERT_THAT(last.shape(), ElementsAre(3, 3));
      for (std::int64_t r = 0; r < 3; ++r) {
        for (std::int64_t c = 0; c < 3; ++c) EXPECT_EQ(last(r, c), all(r, 2 + c));
      }
    }
  }
}

TEST_F(EvaluatePoliciesTest, ThePipelineBootstrapRefitsAllOnResampledEpisodes) {
  config_.intervals.pipeline_replicates = 2;
  const std::vector<PolicyEvaluation> evaluations = Evaluate();
  // for both policies the same models
  EXPECT_THAT(Computed(), Contains("dynamics").Times(3));
  for (const PolicyEvaluation& evaluation : evaluations) {
    ASSERT_THAT(evaluation.measured.pipeline_replicates, SizeIs(2));
    std::vector<std::vector<double>> estimates = {EstimatesOf(evaluation.measured.sweeps)};
    for (std::uint64_t b = 0; b < 2; ++b) {
      const FittedModels models =
          FitModels(Context(), log_, {}, ResampleLog(split_, config_.seed, b), 2);
      const ModelRollouts rollouts = RollOut(Context(), log_, models, evaluation.policy);
      const Replicate& replicate = evaluation.measured.pipeline_replicates[b];
      EXPECT_EQ(replicate.plain.repetitions,
                EstimatePlainModel(rollouts.rewards, config_.value).repetitions);
      estimates.push_back(EstimatesOf(replicate.sweeps));
      EXPECT_EQ(estimates.back(),
                EstimatesOf(RunEstimatorGrid(config_.estimators, rollouts, config_.value)));
    }
    EXPECT_NE(estimates[0], estimates[1]);
    EXPECT_NE(estimates[1], estimates[2]);
  }
}

TEST_F(EvaluatePoliciesTest, JudgeByTheLargestOpenLoopErrorThatEpisodesAreLongEnoughFor) {
  FittedModels models = Fit(2);
  const auto open_loop = [&](std::vector<double> errors) {
    models.dynamics_report.open_loop = std::move(errors);
    return Evaluate(models)[0].measured.open_loop;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(open_loop({0.5, 2.0, 1.0}), 2.0);
  EXPECT_EQ(open_loop({}), std::nullopt);
  // a prediction that diverges is no missing one
  EXPECT_EQ(open_loop({0.5, HUGE_VAL, nan}), HUGE_VAL);
  std::vector<double> longer(kSmallSteps, 0.25);
  longer.insert(longer.end(), {nan, nan});
  EXPECT_EQ(open_loop(longer), 0.25);
}

TEST_F(EvaluatePoliciesTest, AreCalibratedOnHeldOutTransitionsOfWhichTheRealOnesAreThePositive) {
  FittedModels models = Fit(2);
  models.held_out.real = {1.0, 3.0};
  models.held_out.generated = {-1.0, -2.0};
  models.held_out.episodes = {0, 1};
  EvaluationMeasurements measured = Evaluate(models)[0].measured;
  EXPECT_EQ(measured.calibration.auc, 1.0);
  // E log w over the data less log E w over the model
  EXPECT_NEAR(measured.improvement.margin, 2.0 - std::log((std::exp(-1.0) + std::exp(-2.0)) / 2.0),
              1e-12);
  std::swap(models.held_out.real, models.held_out.generated);
  measured = Evaluate(models)[0].measured;
  EXPECT_EQ(measured.calibration.auc, 0.0);
}

TEST_F(EvaluatePoliciesTest, KnowWhatTheLogsRewardsCanAddUpTo) {
  config_.value.horizon = 2 * kSmallSteps;
  config_.task.termination = TerminationSource::kNone;
  logged_.reset();
  const auto [low, high] = std::minmax_element(log_.log.rewards.begin(), log_.log.rewards.end());
  EvaluationMeasurements measured = Evaluate()[0].measured;
  ASSERT_TRUE(measured.possible);
  EXPECT_DOUBLE_EQ(measured.possible->low, 2 * kSmallSteps * *low);
  EXPECT_DOUBLE_EQ(measured.possible->high, 2 * kSmallSteps * *high);
  EXPECT_DOUBLE_EQ(*measured.reach, 2.0);
  // of episodes that may end at once the least is nothing
  for (double& reward : log_.log.rewards) reward = std::abs(reward) + 1.0;
  config_.task.termination = TerminationSource::kEnvironment;
  measured = Evaluate()[0].measured;
  EXPECT_EQ(measured.possible->low, 0.0);
}

TEST_F(EvaluatePoliciesTest, ClampedValuesAreThoseOfTheRollouts) {
  config_.rollout.clamp_margin = 0.0;
  const FittedModels models = Fit(2);
  const PolicyEvaluation evaluation = Evaluate(models)[0];
  const ModelRollouts rollouts = RollOut(Context(), log_, models, policies_.evaluations[0]);
  EXPECT_EQ(evaluation.clamped_values, rollouts.clamped_values);
  EXPECT_EQ(evaluation.predicted_values, 3 * 20 * kSmallHorizon * 2);
  EXPECT_DOUBLE_EQ(evaluation.measured.clamp_rate,
                   static_cast<double>(rollouts.clamped_values) / 600.0);
}

TEST_F(EvaluatePoliciesTest, ADoublyRobustEstimateIsStatedFirstAndHasNoBacktest) {
  config_.doubly_robust.enabled = true;
  ModelValueOptions& model = config_.doubly_robust.model;
  model.starts = model.trajectories = 10;
  model.states_per_episode = model.draws = 2;
  model.value.network.width = model.ratio.network.width = 8;
  model.value.fit.steps = model.ratio.fit.steps = 20;
  config_.doubly_robust.choice.smallest_ess = 1.0;
  config_.doubly_robust.resamples = 40;
  config_.log.cross_fit = 2;
  split_ = SplitLog(kSmallEpisodes, config_.log, config_.dynamics.members, config_.seed);
  const PolicyEvaluation evaluation = Evaluate()[0];
  const std::optional<DoublyRobustMeasurement>& measured = evaluation.measured.doubly_robust;
  ASSERT_TRUE(measured);
  ASSERT_TRUE(measured->chosen.estimate.value) << measured->chosen.estimate.reason;
  EXPECT_EQ(measured->episodes, kSmallEpisodes);
  EXPECT_EQ(evaluation.stated().estimator, "dr_lfiw");
  EXPECT_EQ(evaluation.stated().value, measured->chosen.estimate.value);
  EXPECT_FALSE(evaluation.back_test());
  ASSERT_TRUE(measured->interval.low && measured->interval.high);
  EXPECT_LT(*measured->interval.low, *measured->interval.high);
  // four standard errors of the estimate, which corrects by 20 episodes of deviation sqrt(5)
  EXPECT_NEAR(*measured->chosen.estimate.value, 0.3 * kSmallHorizon, 4 * std::sqrt(5.0 / 20));
}

}  // namespace
}  // namespace lfiw::experiments
