#include "experiments/evaluation/result_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"
#include "ope/rollouts/plain_model.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHorizon = 4;

// Rollouts with random rewards, and weights of the given spread: 0 for weights of exactly 1.
ModelRollouts RandomRollouts(double spread) {
  ModelRollouts rollouts;
  rollouts.rewards = Array<double, 3>({3, 30, kHorizon});
  rollouts.log_weights = Array<double, 4>({3, 2, 30, kHorizon});
  Stream stream(1, "rollouts");
  for (double& r : rollouts.rewards.flat()) r = stream.Normal();
  for (double& w : rollouts.log_weights.flat()) w = spread * stream.Normal();
  return rollouts;
}

EvaluationConfig ConfigOfRows() {
  EvaluationConfig config;
  config.value.horizon = kHorizon;
  config.rollout.repetitions = 3;
  config.rollout.episodes = 30;
  config.estimators.horizons = {2, 4};
  return config;
}

EvaluationMeasurements Measured(const EvaluationConfig& config, double spread) {
  const ModelRollouts rollouts = RandomRollouts(spread);
  EvaluationMeasurements measured;
  measured.plain = EstimatePlainModel(rollouts.rewards, config.value);
  measured.sweeps = RunEstimatorGrid(config.estimators, rollouts, config.value);
  measured.mean_weights = MeanWeights(rollouts.log_weights);
  measured.calibration.auc = 0.5;
  measured.truth = MonteCarloEstimate{.value = 1.0, .standard_error = 0.1, .episodes = 10};
  return measured;
}

TEST(RunEstimatorGrid, IsTheProductOfItsLists) {
  EvaluationConfig config = ConfigOfRows();
  config.estimators.variants = {LfiwVariant::kTrajectory, LfiwVariant::kStepwise};
  config.estimators.alphas = {1.0, 0.5, 0.0};
  const auto sweeps = RunEstimatorGrid(config.estimators, RandomRollouts(0.5), config.value);
  ASSERT_EQ(sweeps.size(), 6u);
  EXPECT_EQ(sweeps[4].Name(), "lfiw_stepwise");
  EXPECT_THAT(sweeps[4].Params(), HasSubstr("alpha=0.5"));
}

TEST(MakeRows, HaveTheModelFirstThenEveryHorizonOfEveryEstimator) {
  const EvaluationConfig config = ConfigOfRows();
  const EvaluationMeasurements measured = Measured(config, 0.5);
  const std::vector<JudgedRow> rows = MakeRows(config, {"Env", "policy"}, measured);
  ASSERT_EQ(rows.size(), 1 + 3 * (kHorizon + 1));
  EXPECT_EQ(rows[0].row.estimator, "model");
  EXPECT_EQ(rows[1].row.estimator, "lfiw_trajectory");
  for (const JudgedRow& judged : rows) {
    const ResultRow& row = judged.row;
    EXPECT_EQ(row.environment, "Env");
    EXPECT_DOUBLE_EQ(*row.error, *row.value - 1.0);
    EXPECT_LE(*row.ci_low, *row.value);
    EXPECT_GE(*row.ci_high, *row.value);
  }
}

TEST(MakeRows, StateTheWidestIntervalComputed) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.5);
  const double narrow = *MakeRows(config, {}, measured)[0].row.ci_high;
  for (const double value : {-10.0, 0.0, 10.0}) {
    Replicate replicate{.plain = measured.plain, .sweeps = measured.sweeps};
    replicate.plain.value = value;
    measured.pipeline_replicates.push_back(replicate);
  }
  const ResultRow row = MakeRows(config, {}, measured)[0].row;
  EXPECT_GT(*row.ci_high, narrow);
  EXPECT_EQ(row.interval_method, "pipeline_bootstrap");
}

TEST(MakeRows, WithABacktestAreAsUncertainAsItsErrorOfTheSameRow) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.5);
  measured.back_tests[RowKey{}] = Backtest{.estimate = 50.0, .logged = 60.0};
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  const ResultRow& row = rows[0].row;
  EXPECT_EQ(row.interval_method, "back_test");
  EXPECT_GT(*row.ci_high - *row.value, 19.5);
  EXPECT_LT(*rows[0].plain_high, *row.ci_high);
  EXPECT_NE(rows[1].row.interval_method, "back_test");
  EXPECT_TRUE(rows[0].evidence.back_test);
  EXPECT_FALSE(rows[1].evidence.back_test);
}

TEST(MakeRows, AModelThatIsRightAboutTheLoggedPolicyNeedNotFollowItsEpisodes) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.5);
  measured.open_loop = 7.0;
  EXPECT_EQ(MakeRows(config, {}, measured)[0].evidence.open_loop, 7.0);
  measured.back_tests[RowKey{}] = Backtest{.estimate = 50.0, .logged = 60.0};  // 17 % off
  EXPECT_EQ(MakeRows(config, {}, measured)[0].evidence.open_loop, 7.0);
  measured.back_tests[RowKey{}].estimate = 60.1;
  for (const JudgedRow& judged : MakeRows(config, {}, measured)) {
    EXPECT_FALSE(judged.evidence.open_loop);
  }
}

TEST(MakeRows, WeightsAreJudgedByTheStepsThatTheyAreUsedIn) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.5);
  for (MeanWeight& step : measured.mean_weights) {
    step = {.step = step.step, .supported = true, .log_mean = 0.0, .log_stderr = 0.01};
  }
  measured.mean_weights[1].log_mean = 3.0;
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  const auto log_mean = [&](std::int64_t horizon) {
    return FindRow({.kind = RowKind::kWeighted, .sweep = 0, .horizon = horizon}, rows)
        .evidence.mean_weight->log_mean;
  };
  EXPECT_EQ(log_mean(1), 0.0);
  EXPECT_EQ(log_mean(2), 3.0);
  EXPECT_EQ(log_mean(kHorizon), 3.0);
}

// As Measured, with a doubly robust estimate of that value.
EvaluationMeasurements Corrected(const EvaluationConfig& config, double value) {
  EvaluationMeasurements measured = Measured(config, 0.0);
  DoublyRobustMeasurement corrected;
  corrected.chosen.power = 0.5;
  corrected.chosen.estimate.value = value;
  corrected.chosen.estimate.standard_error = 0.2;
  corrected.chosen.estimate.ess = 25.0;
  corrected.interval.low = value - 0.4;
  corrected.interval.high = value + 0.5;
  corrected.episodes = 30;
  measured.doubly_robust = corrected;
  return measured;
}

TEST(MakeRows, ADoublyRobustRowIsAsUncertainAsWhatItsWeightsLeave) {
  const EvaluationConfig config = ConfigOfRows();
  const double model = Measured(config, 0.0).plain.value;
  EvaluationMeasurements measured = Corrected(config, model + 10.0);
  measured.doubly_robust->chosen.remaining = 20.0;
  const ResultRow row = MakeRows(config, {}, measured).back().row;
  EXPECT_EQ(row.estimator, "dr_lfiw");
  EXPECT_FALSE(row.horizon);
  EXPECT_EQ(row.interval_method, "correction");
  EXPECT_GT(*row.value - *row.ci_low, 19.5);
  EXPECT_LT(*row.value - *row.ci_low, 20.0);
  EXPECT_EQ(row.verdict, "do not use");
  EXPECT_THAT(row.reason, HasSubstr("the log moves the model's value"));
}

TEST(MakeRows, ADoublyRobustRowDoesNotAnswerForClassifiersThatItDoesNotUse) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Corrected(config, Measured(config, 0.0).plain.value);
  measured.calibration.auc = 0.95;
  EXPECT_EQ(MakeRows(config, {}, measured).back().row.verdict, "trust");
  // members that disagree count for as much as the weights have not seen
  measured.member_values = {*measured.doubly_robust->chosen.estimate.value, 0.0};
  const ResultRow row = MakeRows(config, {}, measured).back().row;
  EXPECT_NE(row.verdict, "trust");
  EXPECT_THAT(row.reason, HasSubstr("members of the model disagree"));
}

// As Measured, with a calibrated model of that value.
EvaluationMeasurements Calibrated(const EvaluationConfig& config, double value) {
  EvaluationMeasurements measured = Measured(config, 0.0);
  measured.calibrated = CalibratedModel{.value = value,
                                        .standard_error = 0.02 * std::abs(value),
                                        .degrees = 4.0,
                                        .mean = value + 0.1,
                                        .slope = 0.8,
                                        .logged_mean = 2.0,
                                        .logged = 1.9,
                                        .outside = 0.0};
  return measured;
}

TEST(MakeRows, ACalibratedModelIsStatedFirstWithTheSpreadOfItsFamily) {
  const EvaluationConfig config = ConfigOfRows();
  const double model = Measured(config, 0.0).plain.value;
  EvaluationMeasurements measured = Calibrated(config, model);
  measured.doubly_robust = Corrected(config, model).doubly_robust;
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  const ResultRow& row = FindRow(ChooseHeadline(measured).key, rows).row;
  EXPECT_EQ(row.estimator, "calibrated_model");
  EXPECT_EQ(row.interval_method, "members");
  EXPECT_NEAR(*row.ci_high - *row.value, 2.776 * 0.02 * std::abs(model), 1e-3 * std::abs(model));
  EXPECT_EQ(row.verdict, "trust");
  measured.calibrated->standard_error = 0.6 * std::abs(model);
  EXPECT_EQ(MakeRows(config, {}, measured)[rows.size() - 1].row.verdict, "do not use");
}

TEST(MakeRows, EveryKindOfRowIsRefusedWhereItGuesses) {
  const EvaluationConfig config = ConfigOfRows();
  const double model = Measured(config, 0.0).plain.value;
  EvaluationMeasurements measured = Calibrated(config, model);
  measured.doubly_robust = Corrected(config, model).doubly_robust;
  measured.named = {{.name = "fqe", .estimate = {}, .interval = {}, .episodes = 30}};
  measured.named[0].estimate.value = model;
  // a value that no logged episode returned, of a policy that leaves the log
  measured.seen = ReturnRange{model + 1.0, model + 2.0};
  measured.support = SupportCheck{.outside = 0.2};
  for (const JudgedRow& judged : MakeRows(config, {}, measured)) {
    EXPECT_THAT(judged.row.reason, HasSubstr("outside all logged returns")) << judged.row.estimator;
    EXPECT_EQ(judged.row.verdict, "do not use") << judged.row.estimator;
  }
}

TEST(MakeRows, RowsAskedForByNameStandLast) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.0);
  NamedMeasurement named{.name = "fqe", .estimate = {}, .interval = {}, .episodes = 30};
  named.estimate.value = measured.plain.value;
  named.interval.low = measured.plain.value - 1.0;
  named.interval.high = measured.plain.value + 1.0;
  measured.named = {named};
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  EXPECT_EQ(rows.back().row.estimator, "fqe");
  EXPECT_EQ(rows.back().row.interval_method, "bca");
  EXPECT_EQ(rows.back().row.verdict, "trust");
  EXPECT_EQ(FindRow({.kind = RowKind::kNamed, .name = "fqe"}, rows).row.n, 30);
}

TEST(MakeRows, HoldWhatTheyAreJudgedBy) {
  const EvaluationConfig config = ConfigOfRows();
  const EvaluationMeasurements measured = Measured(config, 2.0);
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  for (const JudgedRow& judged : rows) {
    EXPECT_EQ(judged.evidence.value, judged.row.value);
    EXPECT_EQ(EnumName(Judge(judged.evidence, config.verdict).verdict), judged.row.verdict);
  }
}

TEST(MakeRows, WithoutTruthThereIsNoError) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Measured(config, 0.5);
  measured.truth.reset();
  const ResultRow row = MakeRows(config, {}, measured)[3].row;
  EXPECT_FALSE(row.truth.has_value());
  EXPECT_FALSE(row.error.has_value());
}

TEST(ChooseHeadline, IsTheWholeHorizonWithEqualWeightsAndTheModelWithHeavyOnes) {
  const EvaluationConfig config = ConfigOfRows();
  const Headline equal = ChooseHeadline(Measured(config, 0.0));
  EXPECT_EQ(equal.key, (RowKey{RowKind::kWeighted, 0, kHorizon}));
  const Headline heavy = ChooseHeadline(Measured(config, 8.0));
  EXPECT_EQ(heavy.key, RowKey{});
  EXPECT_THAT(heavy.why, HasSubstr("k-hat"));
}

TEST(ChooseHeadline, IsTheDoublyRobustEstimateUnlessItRefuses) {
  const EvaluationConfig config = ConfigOfRows();
  EvaluationMeasurements measured = Corrected(config, 3.0);
  const std::vector<JudgedRow> rows = MakeRows(config, {}, measured);
  EXPECT_EQ(&FindRow(ChooseHeadline(measured).key, rows), &rows.back());
  EXPECT_EQ(FindRow(ChooseRolloutHeadline(measured).key, rows).row.estimator, "lfiw_trajectory");
  measured.doubly_robust->chosen.estimate.value.reset();
  EXPECT_EQ(ChooseHeadline(measured).key.kind, RowKind::kWeighted);
}

TEST(FindRow, TellsEstimatorsOfOneNameApart) {
  EvaluationConfig config = ConfigOfRows();
  config.estimators.alphas = {1.0, 0.5};
  const std::vector<JudgedRow> rows = MakeRows(config, {}, Measured(config, 0.0));
  EXPECT_EQ(&FindRow({}, rows), &rows[0]);
  EXPECT_EQ(FindRow({RowKind::kWeighted, 0, 2}, rows).row.horizon, 2);
  EXPECT_THAT(FindRow({RowKind::kWeighted, 0, 2}, rows).row.params, HasSubstr("alpha=1 "));
  EXPECT_THAT(FindRow({RowKind::kWeighted, 1, 2}, rows).row.params, HasSubstr("alpha=0.5"));
}

}  // namespace
}  // namespace lfiw::experiments
