#include "experiments/evaluation/report_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "core/run/atomic_file.h"
#include "core/statistics.h"
#include "envs/env_registry.h"
#include "experiments/evaluation/report_page.h"
#include "ope/judgement/psis.h"
#include "tests/experiments/evaluation/hand_made_report.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using Json = nlohmann::json;

class MakeReportTest : public HandMadeReport {
 protected:
  Json Report() const { return MakeReport(Inputs(), evaluations_.front()); }

  // Adds a doubly robust estimate of 11.5.
  void AddDoublyRobust() {
    DoublyRobustMeasurement measured;
    measured.episodes = 16;
    measured.chosen.power = 0.5;
    measured.chosen.estimate.value = 11.5;
    measured.chosen.estimate.notes = {"no action ratios"};
    measured.chosen.candidates = {
        {.power = 1.0, .value = 12.0, .standard_error = 0.7, .ess = 4.0, .left_out = "too few"},
        {.power = 0.5, .value = 11.5, .standard_error = 0.3, .ess = 12.0, .left_out = ""}};
    PolicyEvaluation& evaluation = evaluations_.front();
    evaluation.measured.doubly_robust = measured;
    JudgedRow judged{.key = {.kind = RowKind::kDoublyRobust}, .row = {}, .evidence = {}};
    judged.row.estimator = "dr_lfiw";
    judged.row.value = 11.5;
    judged.row.verdict = "trust";
    evaluation.rows.push_back(judged);
  }
};

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST_F(MakeReportTest, HasEveryMemberThatThePageIsMadeFromAndTheRunItselfDoesNotAdd) {
  AddDoublyRobust();
  evaluations_.push_back(Evaluation("other", -1.0));
  EXPECT_THAT(KeysOf(Report()), IsSupersetOf({"title",
                                              "environment",
                                              "behavior_policy",
                                              "evaluation_policy",
                                              "command",
                                              "estimand",
                                              "verdict",
                                              "confidence",
                                              "headline",
                                              "truth",
                                              "behavior_value",
                                              "log",
                                              "support",
                                              "learned",
                                              "ranking",
                                              "doubly_robust",
                                              "rows",
                                              "sweep",
                                              "mean_weight",
                                              "calibration",
                                              "dynamics",
                                              "notes",
                                              "classifier_history",
                                              "policy_training",
                                              "reward_check",
                                              "clamps"}));
  evaluations_.front().measured.doubly_robust.reset();
  EXPECT_THAT(KeysOf(Report()), IsSupersetOf({"difference", "back_test"}));
}

TEST_F(MakeReportTest, IsWhatThePageCanBeMadeFrom) {
  AddDoublyRobust();
  evaluations_.push_back(Evaluation("other", -1.0));
  WriteFileAtomically(dir_ / "report.json", Report().dump());
  WriteReport(dir_.path(), {.gnuplot = "lfiw-no-such-program"});
  const std::string page = ReadFile(dir_ / "report.html");
  EXPECT_THAT(page, HasSubstr("by hand"));
  EXPECT_THAT(page, HasSubstr("lfiw run by_hand.yaml"));
}

TEST_F(MakeReportTest, SaysWhatIsEstimatedOfWhom) {
  const Json report = Report();
  EXPECT_EQ(report["title"], "by hand");
  EXPECT_EQ(report["environment"], kLinearGaussianName);
  EXPECT_EQ(report["command"], "lfiw run by_hand.yaml");
  EXPECT_EQ(report["behavior_policy"], behavior_.policy->Description());
  EXPECT_EQ(report["evaluation_policy"], evaluations_[0].policy.policy->Description());
  EXPECT_EQ(report["estimand"], Json({{"horizon", 3}, {"discount", 0.5}, {"scale", "sum"}}));
  EXPECT_EQ(report["confidence"], 0.9);
}

TEST_F(MakeReportTest, StatesTheHeadlineAmongTheRowsWithItsVerdict) {
  const Json report = Report();
  // the model, then H = 1, 2 and 3
  ASSERT_THAT(report["rows"], SizeIs(4));
  EXPECT_EQ(report["headline"], 2);
  EXPECT_EQ(report["verdict"],
            Json({{"level", "caution"}, {"reasons", Json::array({"few episodes count"})}}));
  EXPECT_EQ(report["rows"][2], Json({{"estimator", "lfiw_trajectory"},
                                     {"params", "alpha=1"},
                                     {"horizon", 2},
                                     {"value", 12.0},
                                     {"log10_value", 1.0},
                                     {"stderr", 0.25},
                                     {"se_within", 0.125},
                                     {"se_between", 0.5},
                                     {"ci_low", 11.0},
                                     {"ci_high", 14.0},
                                     {"interval_method", "by_hand"},
                                     {"ess", 98.0},
                                     {"khat", 0.2},
                                     {"max_weight", 0.5},
                                     {"error", -0.5},
                                     {"reason", "caution"}}));
}

TEST_F(MakeReportTest, ARowWithoutAValueSaysWhy) {
  const Json row = Report()["rows"][3];
  EXPECT_EQ(row["horizon"], 3);
  EXPECT_EQ(row["value"], nullptr);
  EXPECT_EQ(row["stderr"], nullptr);
  EXPECT_EQ(row["ci_low"], nullptr);
  EXPECT_EQ(row["reason"], "no support");
}

TEST_F(MakeReportTest, ATrustedHeadlineHasNoReasons) {
  evaluations_.front().rows[3].row.verdict = "trust";
  evaluations_.front().rows[3].row.reason = "";
  EXPECT_EQ(Report()["verdict"], Json({{"level", "trust"}, {"reasons", Json::array()}}));
}

TEST_F(MakeReportTest, ComparesWithTruthLogAndBacktest) {
  const Json report = Report();
  EXPECT_EQ(report["truth"], Json({{"value", 12.5}, {"stderr", 0.2}, {"episodes", 50}}));
  EXPECT_EQ(report["behavior_value"], Json({{"value", 8.0}, {"stderr", 0.4}}));
  EXPECT_EQ(report["difference"]["value"], 4.0);
  EXPECT_LT(report["difference"]["ci_low"], 3.0);
  EXPECT_GT(report["difference"]["ci_high"], 6.0);
  EXPECT_EQ(
      report["back_test"],
      Json({{"estimate", 8.5}, {"stderr", 0.3}, {"gap", 0.5}, {"noise", std::hypot(0.3, 0.4)}}));
}

TEST_F(MakeReportTest, LeavesOutWhatIsNotKnown) {
  logged_.reset();
  policies_.behavior.reset();
  evaluations_.front().measured.truth.reset();
  evaluations_.front().measured.support.reset();
  for (JudgedRow& judged : evaluations_.front().rows) judged.evidence.back_test.reset();
  models_.learned = {};
  models_.dynamics_report.errors.mixture_nll.reset();
  const Json report = Report();
  for (const char* member : {"truth", "behavior_value", "behavior_policy", "difference",
                             "back_test", "support", "ranking", "doubly_robust"}) {
    EXPECT_FALSE(report.contains(member)) << member;
  }
  EXPECT_EQ(report["learned"], Json::object());
  EXPECT_FALSE(report["dynamics"].contains("nll"));
}

TEST_F(MakeReportTest, TellsTheLogAndItsParts) {
  const Json log = Report()["log"];
  EXPECT_EQ(log["episodes"], kSmallEpisodes);
  EXPECT_EQ(log["steps"], kSmallEpisodes * kSmallSteps);
  EXPECT_EQ(log["train_episodes"], 16);
  EXPECT_EQ(log["classifier_episodes"], 4);
  EXPECT_EQ(log["constant_dims"], Json::array());
}

TEST_F(MakeReportTest, ADimensionThatNeverChangesIsNamed) {
  log_.log.observations.col(1).setConstant(2.0f);
  log_.hash = "constant";
  models_ = Fit(1);
  EXPECT_EQ(Report()["log"]["constant_dims"], Json::array({1}));
}

TEST_F(MakeReportTest, HasAllHorizonsOfTheSweep) {
  const Json sweep = Report()["sweep"];
  EXPECT_EQ(sweep["horizon"], Json({0, 1, 2, 3}));
  EXPECT_EQ(sweep["n"], 100);
  EXPECT_EQ(sweep["khat_threshold"], KhatThreshold(100));
  EXPECT_EQ(sweep["series"], Json::array({{{"label", "trajectory"},
                                           {"value", {10.0, 11.0, 12.0, nullptr}},
                                           {"stderr", {0.25, 0.25, 0.25, nullptr}},
                                           {"ess", {100.0, 99.0, 98.0, 97.0}},
                                           {"khat", {nullptr, 0.2, 0.2, 0.9}},
                                           {"max_weight", {0.0, 0.01, 0.02, 0.03}}}}));
}

TEST_F(MakeReportTest, MeanWeightsAreWeightsAndNotTheirLogarithms) {
  const Json mean = Report()["mean_weight"];
  EXPECT_EQ(mean["step"], Json({0, 1, 2}));
  const Json series = mean["series"][0];
  EXPECT_DOUBLE_EQ(series["value"][0], 1.25);
  EXPECT_DOUBLE_EQ(series["stderr"][0], 1.25 * 0.2);
  EXPECT_DOUBLE_EQ(series["value"][1], 0.5);
  EXPECT_EQ(series["stderr"][1], nullptr);
  EXPECT_EQ(series["value"][2], nullptr);
}

TEST_F(MakeReportTest, TellsHowGoodTheModelsAre) {
  const Json report = Report();
  EXPECT_EQ(report["calibration"],
            Json({{"auc", 0.75},
                  {"ece", 0.05},
                  {"classifiers", 2},
                  {"bins",
                   {{{"probability", 0.25}, {"fraction", 0.375}, {"count", 3}},
                    {{"probability", 0.0}, {"fraction", 0.0}, {"count", 0}}}}}));
  const Json dynamics = report["dynamics"];
  EXPECT_EQ(dynamics["kind"], "gaussian");
  EXPECT_EQ(dynamics["members"], 2);
  EXPECT_EQ(dynamics["nll"], -1.5);
  EXPECT_EQ(dynamics["r2"], Json({0.9, 0.8}));
  EXPECT_EQ(dynamics["open_loop"], Json({{"k", {1, 2, 3}}, {"rms", {0.1, 0.2, 0.4}}}));
  ASSERT_THAT(dynamics["history"], SizeIs(2));
  EXPECT_EQ(
      dynamics["history"][1],
      Json({{"member", 1}, {"step", {10, 20}}, {"train", {4.0, 1.0}}, {"validation", {4.5, 1.5}}}));
  EXPECT_EQ(report["classifier_history"],
            Json::array({{{"index", 0}, {"step", {5}}, {"train", {0.7}}, {"validation", {0.6}}},
                         {{"index", 1}, {"step", {5}}, {"train", {0.5}}, {"validation", {0.4}}}}));
  EXPECT_EQ(report["policy_training"],
            Json::array({{{"label", "seed 4"}, {"steps", {10, 20}}, {"return", {1.5, 2.5}}}}));
}

TEST_F(MakeReportTest, TellsHowFarThePolicyIsFromTheLogAndWhatWasClamped) {
  const Json report = Report();
  EXPECT_EQ(report["support"],
            Json({{"outside", 0.1}, {"median_ratio", 1.5}, {"worst_quarter", 0.3}}));
  EXPECT_EQ(report["clamps"], Json({{"rate", 0.01}, {"count", 6}, {"total", 600}}));
}

TEST_F(MakeReportTest, TellsTheErrorsOfWhatIsLearned) {
  const Json learned = Report()["learned"];
  EXPECT_EQ(learned["reward"], Json({{"rmse", 0.11}, {"mean_error", -0.02}, {"r2", 0.97}}));
  EXPECT_EQ(learned["termination"], Json({{"log_loss", 0.3},
                                          {"positives", 9},
                                          {"missed", 5},
                                          {"false_alarms", 2},
                                          {"note", "most ends cannot be told"}}));
}

TEST_F(MakeReportTest, ChecksTheRewardInUseAndNamesTheOthers) {
  const Json check = Report()["reward_check"];
  EXPECT_EQ(check["source"], "displacement");
  EXPECT_EQ(check["rms_error"], 0.02);
  EXPECT_EQ(check["mean_error"], 0.01);
  EXPECT_EQ(check["note"],
            "displacement: rms 0.02 per step, mean error of an episode's return +0.3; "
            "trapezoid: rms 0.2 per step, mean error of an episode's return -3");
}

TEST_F(MakeReportTest, NotesWhatItsReaderMustKnow) {
  const Json notes = Report()["notes"];
  EXPECT_THAT(notes, Contains("The log: it was cut short."));
  EXPECT_THAT(notes.dump(), HasSubstr("= 0.125 nats, which holds"));
  EXPECT_THAT(notes.dump(), Not(HasSubstr("Cross-fitting")));
  split_.skipped = {{0}, {1}};
  evaluations_.front().measured.improvement = {.holds = false, .reason = "a side is empty"};
  const std::string changed = Report()["notes"].dump();
  EXPECT_THAT(changed, HasSubstr("Cross-fitting"));
  EXPECT_THAT(changed, Not(HasSubstr("Necessary condition")));
}

TEST_F(MakeReportTest, RanksAllPoliciesInTheirOrder) {
  evaluations_.push_back(Evaluation("other", -1.0));
  const Json ranking = Report()["ranking"];
  ASSERT_THAT(ranking, SizeIs(2));
  EXPECT_EQ(ranking[0]["policy"], "new");
  EXPECT_EQ(ranking[1]["policy"], "other");
  EXPECT_EQ(ranking[1]["estimator"], "lfiw_trajectory");
  EXPECT_EQ(ranking[1]["horizon"], 2);
  EXPECT_EQ(ranking[1]["value"], 11.0);
  EXPECT_EQ(ranking[1]["stderr"], 0.25);
  EXPECT_EQ(ranking[1]["ci_low"], 10.0);
  EXPECT_EQ(ranking[1]["ci_high"], 13.0);
  EXPECT_EQ(ranking[1]["verdict"], "caution");
  EXPECT_EQ(ranking[1]["truth"], 12.5);
  EXPECT_EQ(ranking[1]["error"], -1.5);
  EXPECT_EQ(ranking[1]["difference"]["value"], 3.0);
  // each page is about its own policy
  const Json other = MakeReport(Inputs(), evaluations_[1]);
  EXPECT_EQ(other["evaluation_policy"], evaluations_[1].policy.policy->Description());
  EXPECT_EQ(other["difference"]["value"], 3.0);
  EXPECT_EQ(other["ranking"], ranking);
}

TEST_F(MakeReportTest, StatesADoublyRobustEstimateWithItsCandidates) {
  AddDoublyRobust();
  const Json report = Report();
  EXPECT_EQ(report["headline"], 4);
  const Json& estimate = report["doubly_robust"];
  EXPECT_EQ(estimate["model"], 9.0);
  EXPECT_EQ(estimate["value"], 11.5);
  EXPECT_EQ(estimate["power"], 0.5);
  EXPECT_EQ(estimate["episodes"], 16);
  EXPECT_EQ(estimate["notes"], Json::array({"no action ratios"}));
  ASSERT_THAT(estimate["candidates"], SizeIs(2));
  EXPECT_EQ(estimate["candidates"][0], Json({{"power", 1.0},
                                             {"value", 12.0},
                                             {"stderr", 0.7},
                                             {"ess", 4.0},
                                             {"left_out", "too few"}}));
}

TEST_F(MakeReportTest, ARefusedDoublyRobustEstimateHasNeitherValueNorPower) {
  AddDoublyRobust();
  evaluations_.front().measured.doubly_robust->chosen.estimate.value.reset();
  evaluations_.front().rows.back().row.value.reset();
  const Json report = Report();
  EXPECT_EQ(report["doubly_robust"]["value"], nullptr);
  EXPECT_EQ(report["doubly_robust"]["power"], nullptr);
  EXPECT_EQ(report["headline"], 2);  // the rollouts' own
}

TEST_F(MakeReportTest, NumbersThatAreNotFiniteBecomeNull) {
  PolicyEvaluation& evaluation = evaluations_.front();
  evaluation.measured.sweeps[0].result.horizons[1].khat = HUGE_VAL;
  models_.dynamics_report.open_loop = {0.1, HUGE_VAL};
  evaluation.measured.support->median_ratio = HUGE_VAL;
  const Json written = Json::parse(Report().dump());
  EXPECT_EQ(written["sweep"]["series"][0]["khat"][1], nullptr);
  EXPECT_EQ(written["dynamics"]["open_loop"]["rms"][1], nullptr);
  EXPECT_EQ(written["support"]["median_ratio"], nullptr);
}

// ---- the rows of the table

std::vector<std::int64_t> HorizonsOf(const std::vector<JudgedRow>& rows) {
  std::vector<std::int64_t> horizons;
  for (const JudgedRow& judged : rows) {
    if (judged.key.kind == RowKind::kWeighted) horizons.push_back(judged.key.horizon);
  }
  return horizons;
}

// Two estimators at H = 0 .. 60 with reliable weights up to `reliable`.
PolicyEvaluation LongEvaluation(std::int64_t reliable) {
  PolicyEvaluation evaluation;
  EstimatorSweep sweep;
  sweep.result.episodes = 100;
  for (std::int64_t h = 0; h <= 60; ++h) {
    LfiwEstimate estimate;
    estimate.horizon = h;
    estimate.khat = h <= reliable ? 0.1 : 0.9;
    sweep.result.horizons.push_back(estimate);
  }
  evaluation.measured.sweeps = {sweep, sweep};
  evaluation.rows = {JudgedRow{}};
  for (std::int64_t s = 0; s < 2; ++s) {
    for (std::int64_t h = 0; h <= 60; ++h) {
      evaluation.rows.push_back({.key = {RowKind::kWeighted, s, h}, .row = {}, .evidence = {}});
    }
  }
  evaluation.rows.push_back({.key = {.kind = RowKind::kDoublyRobust}, .row = {}, .evidence = {}});
  return evaluation;
}

TEST(TableRows, WithoutAListAreAtOneTwoFiveOfEveryDecadeAndAtT) {
  EvaluationConfig config;
  config.value.horizon = 60;
  config.estimators.horizons = {};
  const std::vector<JudgedRow> rows = TableRows(config, LongEvaluation(5));
  EXPECT_THAT(HorizonsOf(rows), ElementsAre(1, 2, 5, 10, 20, 50, 60, 1, 2, 5, 10, 20, 50, 60));
  EXPECT_EQ(rows.front().key, RowKey{});
  EXPECT_EQ(rows.back().key.kind, RowKind::kDoublyRobust);
  config.value.horizon = 50;
  EXPECT_THAT(HorizonsOf(TableRows(config, LongEvaluation(5))),
              ElementsAre(1, 2, 5, 10, 20, 50, 1, 2, 5, 10, 20, 50));
  config.value.horizon = 1;
  EXPECT_THAT(HorizonsOf(TableRows(config, LongEvaluation(0))), ElementsAre(1, 1));
}

TEST(TableRows, AreAtTheListedHorizonsAtTAndForItsEstimatorAtTheHeadlines) {
  EvaluationConfig config;
  config.value.horizon = 60;
  config.estimators.horizons = {40, 0};
  EXPECT_THAT(HorizonsOf(TableRows(config, LongEvaluation(7))),
              ElementsAre(0, 7, 40, 60, 0, 40, 60));
}

// ---- the difference to the log

TEST(DifferenceFromLog, AddsUpTheSpreadsOfEstimateAndLog) {
  ResultRow row;
  row.value = 5.0;
  row.ci_low = 2.0;
  row.ci_high = 9.0;
  Backtest logged{.logged = 3.0, .logged_stderr = 0.0};
  std::optional<Difference> difference = DifferenceFromLog(row, logged, 0.95);
  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->value, 2.0);
  EXPECT_EQ(difference->low, -1.0);
  EXPECT_EQ(difference->high, 6.0);
  // 1.96 standard errors of 2.0409 are 4: with the estimate's 3 below it and 4 above
  logged.logged_stderr = 4.0 / NormalQuantile(0.975);
  difference = DifferenceFromLog(row, logged, 0.95);
  EXPECT_NEAR(difference->low, 2.0 - 5.0, 1e-12);
  EXPECT_NEAR(difference->high, 2.0 + std::sqrt(32.0), 1e-12);
}

TEST(DifferenceFromLog, IsUnknownWithoutAnEstimateAndItsInterval) {
  ResultRow row;
  EXPECT_FALSE(DifferenceFromLog(row, {}, 0.95));
  row.value = 1.0;
  EXPECT_FALSE(DifferenceFromLog(row, {}, 0.95));
  row.ci_low = 0.0;
  EXPECT_FALSE(DifferenceFromLog(row, {}, 0.95));
  row.ci_high = 2.0;
  EXPECT_FALSE(DifferenceFromLog(row, {}, 0.95));  // one logged episode has no error
  EXPECT_TRUE(DifferenceFromLog(row, {.logged_stderr = 0.5}, 0.95));
}

// ---- the check of the reward

class CheckRewardsTest : public HandMadeReport {};

TEST_F(CheckRewardsTest, TheRewardOfAKnownEnvironmentIsExact) {
  models_ = Fit(1);
  const std::vector<RewardCheck> checks = CheckRewards(Context(), log_.log, models_);
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].source, "displacement");
  EXPECT_NEAR(checks[0].rms_error, 0.0, 1e-6);
  EXPECT_NEAR(checks[0].mean_return_error, 0.0, 1e-5);
}

TEST_F(CheckRewardsTest, ThatOfAVelocityIsExactFromTheDisplacementAlone) {
  const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
  const EpisodeBatch log =
      CollectEpisodes(*env, ConstantPolicy(0.0, 0.5, 8, 2),
                      {.episodes = 3, .horizon = 10, .seed = 2, .purpose = "log"});
  const Task task{env->spec(), env};
  const std::vector<RewardCheck> checks =
      CheckRewards({config_, task, cache_, Verbosity::kQuiet}, log, models_);
  ASSERT_THAT(checks, SizeIs(3));
  EXPECT_EQ(checks[0].source, "displacement");
  EXPECT_EQ(checks[1].source, "trapezoid");
  EXPECT_EQ(checks[2].source, "end_velocity");
  EXPECT_LT(checks[0].rms_error, 1e-6);
  EXPECT_GT(checks[1].rms_error, 1e-4);
  EXPECT_GT(checks[2].rms_error, checks[1].rms_error);
}

TEST_F(CheckRewardsTest, ThatOfALearnedRewardIsItsHeldOutError) {
  config_.task.reward = RewardFunction::kLearned;
  const std::vector<RewardCheck> checks = CheckRewards(Context(), log_.log, models_);
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].source, "learned from the log");
  EXPECT_EQ(checks[0].rms_error, 0.11);
  EXPECT_EQ(checks[0].mean_error, -0.02);
  EXPECT_DOUBLE_EQ(checks[0].mean_return_error, -0.02 * kSmallSteps);
}

// The small system's reward, too high by a half.
class TooHigh final : public ScalarOfTransition {
 public:
  void Predict(ConstMatrixRef /*states*/, ConstMatrixRef actions, ConstMatrixRef /*next_states*/,
               std::span<double> values) const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(actions(static_cast<Eigen::Index>(i), 0)) + 0.5;
    }
  }
};

TEST_F(CheckRewardsTest, ThatOfAModuleIsItsErrorOnTheLog) {
  config_.task.reward = RewardFunction::kTorchScript;
  config_.task.reward_file = "mine.pt";
  models_.reward = std::make_shared<TooHigh>();
  const std::vector<RewardCheck> checks = CheckRewards(Context(), log_.log, models_);
  ASSERT_THAT(checks, SizeIs(1));
  EXPECT_EQ(checks[0].source, "TorchScript module mine.pt");
  EXPECT_NEAR(checks[0].mean_error, 0.5, 1e-6);
  EXPECT_NEAR(checks[0].rms_error, 0.5, 1e-6);
  EXPECT_NEAR(checks[0].mean_return_error, 0.5 * kSmallSteps, 1e-4);
}

}  // namespace
}  // namespace lfiw::experiments
