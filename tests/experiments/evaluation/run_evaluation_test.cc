#include "experiments/evaluation/run_evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "envs/env_registry.h"
#include "experiments/evaluation/sources.h"
#include "tests/core/run/read_results.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr double kReward = 0.5;

// Evaluates policy files from a log file of no known environment, whose every reward is 0.5: that
// is what its learned reward is, so that every policy is worth 0.5 a step in all estimates.
class RunEvaluationTest : public SmallEvaluation {
 protected:
  RunEvaluationTest() {
    std::fill(log_.log.rewards.begin(), log_.log.rewards.end(), kReward);
    config_.environment = kNoEnvironment;
    config_.task.reward = RewardFunction::kLearned;
    config_.task.termination = TerminationSource::kNone;
    config_.truth.enabled = false;
    config_.log.file = dir_ / "log.npz";
    config_.policies.pair = PolicyPair::kFiles;
    config_.policies.evaluation_files = {Saved("a.npz", ConstantPolicy(0.2, 1.0))};
    config_.back_test.cloning.network.width = 8;
    config_.back_test.cloning.fit.steps = 20;
    SaveLog(log_.log, config_.log.file);
  }

  std::string Saved(const std::string& name, const GaussianMlpPolicy& policy) const {
    policy.Save(dir_ / name);
    return dir_ / name;
  }
  Outcome RunIn(const std::string& name, std::optional<LogSource> given = {}) {
    RunDirectory directory(dir_ / name);
    return RunEvaluation(config_, {cache_, directory, Verbosity::kQuiet, "lfiw run it"},
                         std::move(given));
  }
  std::vector<ResultRow> Results(const std::string& name) const {
    return ReadResults(dir_ / (name + "/results.csv"));
  }
  Json Report(const std::string& folder) const {
    return Json::parse(ReadFile(dir_ / (folder + "/report.json")));
  }
};

std::vector<std::string> FilesIn(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), directory));
  }
  return names;
}

TEST_F(RunEvaluationTest, EveryEstimateOfConstantRewardsIsTheirSum) {
  EXPECT_EQ(RunIn("run").status, 0);
  const std::vector<ResultRow> rows = Results("run");
  ASSERT_THAT(rows, SizeIs(1 + 3 * (kSmallHorizon + 1)));
  for (const ResultRow& row : rows) {
    EXPECT_DOUBLE_EQ(row.value.value_or(HUGE_VAL), kReward * kSmallHorizon) << row.estimator;
  }
  const Json report = Report("run");
  EXPECT_DOUBLE_EQ(report["behavior_value"]["value"], kReward * kSmallHorizon);
  EXPECT_NEAR(report["difference"]["value"], 0.0, 1e-12);
  EXPECT_NEAR(report["back_test"]["gap"], 0.0, 1e-12);
  EXPECT_NEAR(report["reward_check"]["rms_error"], 0.0, 1e-12);
}

TEST_F(RunEvaluationTest, AVerdictIsNoExitStatus) {
  // any horizon is beyond the log
  config_.verdict.reach.caution = 1e-6;
  config_.verdict.reach.refuse = 1e-5;
  EXPECT_EQ(RunIn("run").status, 0);
  for (const ResultRow& row : Results("run")) {
    EXPECT_TRUE(row.value) << row.estimator;
    EXPECT_EQ(row.verdict, EnumName(Verdict::kDoNotUse)) << row.estimator;
  }
}

TEST_F(RunEvaluationTest, WithoutANumberThereIsNoTable) {
  config_.dynamics.fit.adam.learning_rate = 1e30;
  EXPECT_THROW(RunIn("run"), NumericError);
  EXPECT_FALSE(fs::exists(dir_ / "run/results.csv"));
}

TEST_F(RunEvaluationTest, WritesTheWholeRunDirectory) {
  RunIn("run");
  EXPECT_THAT(FilesIn(dir_ / "run"), IsSupersetOf({"results.csv", "results.json", "metrics.jsonl",
                                                   "report.json", "report.html", "manifest.json"}));
  EXPECT_FALSE(fs::exists(dir_ / "run/policies"));

  // a line for every validation of each member and each classifier
  const std::string metrics = ReadFile(dir_ / "run/metrics.jsonl");
  for (const char* series : {"dynamics 0", "dynamics 1", "classifier 0", "classifier 1"}) {
    EXPECT_THAT(metrics, HasSubstr(fmt::format("\"series\":\"{}\"", series)));
  }
  const Json results = Json::parse(ReadFile(dir_ / "run/results.json"));
  EXPECT_THAT(results["rows"], SizeIs(Results("run").size()));
}

TEST_F(RunEvaluationTest, TheManifestHasTheHashesOfAllInputsAndTheSeeds) {
  config_.seed = 4;
  config_.policies.seed = 7;
  config_.policies.behavior_file = Saved("behavior.npz", ConstantPolicy(0.0, 1.0));
  RunIn("run");
  const Json manifest = Json::parse(ReadFile(dir_ / "run/manifest.json"));
  EXPECT_EQ(manifest["command"], "lfiw run it");
  EXPECT_EQ(manifest["seeds"], Json({{"run", 4}, {"policies", 7}}));
  const std::string policy = config_.policies.evaluation_files[0];
  EXPECT_EQ(manifest["inputs_sha256"][policy], Sha256HexOfFile(policy));
  EXPECT_EQ(manifest["inputs_sha256"][dir_ / "behavior.npz"],
            Sha256HexOfFile(dir_ / "behavior.npz"));
  EXPECT_THAT(std::string(manifest["inputs_sha256"]["log"]),
              HasSubstr(Sha256HexOfFile(config_.log.file)));
}

TEST_F(RunEvaluationTest, TheReportTellsWhatEachStageTookAndWhatWasKept) {
  RunIn("first");
  RunIn("second");
  const auto cached = [&](const std::string& run) {
    std::map<std::string, std::vector<bool>> stages;
    const Json report = Report(run);
    for (const Json& timing : report["timings"]) {
      stages[timing["stage"]].push_back(timing["cached"]);
    }
    return stages;
  };
  EXPECT_THAT(cached("first")["dynamics"], ElementsAre(false));
  // of the second run too, whose cache has the records of both
  EXPECT_THAT(cached("second")["dynamics"], ElementsAre(false, true));
  EXPECT_EQ(ReadFile(dir_ / "first/results.csv"), ReadFile(dir_ / "second/results.csv"));
  EXPECT_TRUE(Report("first")["versions"].contains("LibTorch"));
}

TEST_F(RunEvaluationTest, AGivenLogIsTakenAsItIs) {
  LogSource given = ReadLogFile(config_.log, config_.environment, config_.seed);
  std::fill(given.log.rewards.begin(), given.log.rewards.end(), 2.0);
  given.hash = "given";
  RunIn("given", given);
  EXPECT_DOUBLE_EQ(*Results("given").front().value, 2.0 * kSmallHorizon);
}

TEST_F(RunEvaluationTest, TheClonedBehaviorIsOnlyFittedForABacktest) {
  config_.back_test.enabled = false;
  RunIn("run");
  EXPECT_THAT(Computed(), Not(Contains("behavior_clone")));
  EXPECT_FALSE(Report("run").contains("back_test"));
  config_.back_test.enabled = true;
  RunIn("again");
  EXPECT_THAT(Computed(), Contains("behavior_clone"));
}

TEST_F(RunEvaluationTest, WhatCannotBeIsRefusedBeforeAnythingIsComputed) {
  config_.estimators.horizons = {kSmallHorizon + 1};
  EXPECT_THAT([&] { RunIn("run"); }, ThrowsMessage<ConfigError>(HasSubstr("estimators.horizons")));
  config_.estimators.horizons = {};
  config_.log.file = dir_ / "none.npz";
  EXPECT_THAT([&] { RunIn("run"); }, ThrowsMessage<DataError>(HasSubstr("none.npz")));
  config_.log.file = dir_ / "log.npz";
  config_.policies.evaluation_files = {Saved("wide.npz", ConstantPolicy(0.0, 1.0, 3))};
  EXPECT_THAT([&] { RunIn("run"); }, ThrowsMessage<PolicyError>(HasSubstr("3 observations")));
  EXPECT_THAT(cache_.records(), SizeIs(0));
}

// Evaluates policies that push a real environment more or less.
class RankedPolicies : public RunEvaluationTest {
 protected:
  RankedPolicies() {
    const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
    config_.environment = "Swimmer";
    config_.task.reward = RewardFunction::kEnvironment;
    config_.truth.enabled = true;
    config_.truth.episodes = 4;
    SaveLog(
        CollectEpisodes(*env, ConstantPolicy(0.0, 0.5, 8, 2),
                        {.episodes = kSmallEpisodes, .horizon = 8, .seed = 1, .purpose = "log"}),
        config_.log.file);
    for (const double mean : {-0.8, 0.0, 0.8}) {
      files_.push_back(Saved(fmt::format("push_{:+}.npz", mean), ConstantPolicy(mean, 0.3, 8, 2)));
    }
  }

  std::vector<std::string> files_;
};

TEST_F(RankedPolicies, AreListedBestFirstWhateverTheOrderTheyAreGivenIn) {
  config_.policies.evaluation_files = files_;
  RunIn("forward");
  std::reverse(files_.begin(), files_.end());
  config_.policies.evaluation_files = files_;
  RunIn("backward");

  const Json ranking = Report("forward")["ranking"];
  ASSERT_THAT(ranking, SizeIs(3));
  EXPECT_GT(ranking[0]["value"], ranking[1]["value"]);
  EXPECT_GT(ranking[1]["value"], ranking[2]["value"]);
  EXPECT_EQ(Report("backward")["ranking"], ranking);
  EXPECT_EQ(ReadFile(dir_ / "backward/results.csv"), ReadFile(dir_ / "forward/results.csv"));

  // the rows in that order, the first page about the best, each policy with a page of its own
  const std::vector<ResultRow> rows = Results("forward");
  EXPECT_EQ(rows.front().policy, ranking[0]["policy"]);
  EXPECT_EQ(rows.back().policy, ranking[2]["policy"]);
  const std::string best = "forward/policies/" + std::string(ranking[0]["policy"]);
  EXPECT_EQ(Report("forward")["evaluation_policy"], Report(best)["evaluation_policy"]);
  for (const Json& entry : ranking) {
    const std::string folder = "forward/policies/" + std::string(entry["policy"]);
    EXPECT_TRUE(fs::exists(dir_ / (folder + "/report.html")));
    EXPECT_EQ(Report(folder)["rows"][Report(folder)["headline"].get<std::size_t>()]["value"],
              entry["value"]);
    EXPECT_TRUE(Report(folder).contains("truth"));
  }
}

}  // namespace
}  // namespace lfiw::experiments
