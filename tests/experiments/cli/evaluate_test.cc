#include "experiments/cli/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/rng.h"
#include "core/run/atomic_file.h"
#include "envs/env_registry.h"
#include "experiments/cli/commands.h"
#include "experiments/evaluation/evaluation_config.h"
#include "tests/core/run/read_results.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
namespace fs = std::filesystem;

// Episodes of these lengths with two states, an action and rewards of 0.5 each.
EpisodeBatch LogOf(const std::vector<std::int64_t>& lengths) {
  EpisodeBatch log;
  for (const std::int64_t length : lengths) {
    log.offsets.push_back(log.offsets.back() + length);
    log.terminated.push_back(0);
  }
  log.observations.resize(log.steps() + log.episodes(), 2);
  log.actions.resize(log.steps(), 1);
  log.aux.resize(log.steps(), 0);
  log.rewards.assign(static_cast<std::size_t>(log.steps()), 0.5);
  Stream stream(1, "log");
  for (float& x : log.observations.reshaped()) x = static_cast<float>(stream.Normal());
  for (float& x : log.actions.reshaped()) x = static_cast<float>(stream.Normal());
  return log;
}

class EvaluateTest : public ::testing::Test {
 protected:
  EvaluateTest() {
    command_.data = dir_ / "mine.npz";
    command_.policies = {SavedPolicy("policy.npz")};
    command_.out = dir_ / "out";
    command_.cache = dir_ / "cache";
    command_.dry_run = true;
    SaveLog(LogOf({7, 9, 8}), command_.data);
  }

  std::string SavedPolicy(const std::string& name, double mean = 0.0) {
    const fs::path path = dir_ / name;
    fs::create_directories(path.parent_path());
    ConstantPolicy(mean, 1.0).Save(path);
    return path;
  }
  // Rewrites the log as one of an environment.
  void NameEnvironment(const std::string& name) {
    const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
    SaveLog(CollectEpisodes(*env, ConstantPolicy(0.0, 0.5, 8, 2),
                            {.episodes = 3, .horizon = 6, .seed = 1, .purpose = "log"}),
            command_.data, {.environment = name});
  }
  // The configuration that a dry run prints.
  EvaluationConfig Resolved() {
    const Outcome outcome = Evaluate(command_, {.verbosity = Verbosity::kQuiet});
    EXPECT_EQ(outcome.status, 0);
    const std::string path = dir_ / "resolved.yaml";
    std::ofstream(path) << outcome.text;
    return LoadEvaluationConfig(path, {});
  }

  TestDir dir_;
  EvaluateCommand command_;
};

TEST_F(EvaluateTest, MeansTheRobustPresetOnTheGivenFiles) {
  command_.behavior = SavedPolicy("behavior.npz");
  const EvaluationConfig config = Resolved();
  EXPECT_EQ(config.preset, Preset::kRobust);
  EXPECT_EQ(config.dynamics.fit.steps, DefaultsOf(Preset::kRobust).dynamics.fit.steps);
  EXPECT_EQ(config.name, "evaluate_mine");
  EXPECT_EQ(config.log.file, command_.data);
  EXPECT_EQ(config.policies.pair, PolicyPair::kFiles);
  EXPECT_EQ(config.policies.behavior_file, command_.behavior);
  EXPECT_EQ(config.policies.evaluation_files, command_.policies);
  EXPECT_FALSE(config.truth.enabled);
  EXPECT_TRUE(config.estimators.horizons.empty());
}

TEST_F(EvaluateTest, ADryRunWritesNothing) {
  Resolved();
  EXPECT_FALSE(fs::exists(command_.out));
  EXPECT_FALSE(fs::exists(command_.cache));
}

// ---- the environment

TEST_F(EvaluateTest, TheEnvironmentIsTheOneThatTheLogNames) {
  NameEnvironment("swimmer-v4");
  const EvaluationConfig config = Resolved();
  EXPECT_EQ(config.environment, "Swimmer");
  EXPECT_EQ(config.task.reward, RewardFunction::kEnvironment);
  EXPECT_EQ(config.task.termination, TerminationSource::kEnvironment);
}

TEST_F(EvaluateTest, VersionAndOptionsAreThoseThatTheLogNames) {
  const auto environment = [&](const std::string& named) {
    NameEnvironment(named);
    return Resolved().environment;
  };
  EXPECT_EQ(environment("Hopper-v5:frame_skip=2"), "Hopper-v5:frame_skip=2");
  EXPECT_EQ(environment("Hopper-v4"), "Hopper-v4");
  EXPECT_EQ(environment("ant-medium-v2"), "Ant-v2");
  // one made with arguments that are not known is not known
  EXPECT_EQ(environment("Hopper-v5:xml_file=\"mine.xml\""), kNoEnvironment);
}

TEST_F(EvaluateTest, WithoutAKnownEnvironmentRewardAndEndAreLearned) {
  const auto expect_learned = [&] {
    const EvaluationConfig config = Resolved();
    EXPECT_EQ(config.environment, kNoEnvironment);
    EXPECT_EQ(config.task.reward, RewardFunction::kLearned);
    EXPECT_EQ(config.task.termination, TerminationSource::kLearned);
  };
  expect_learned();
  NameEnvironment("Glider-v0");
  expect_learned();
  // what the log names is known, but the user knows better
  NameEnvironment("Swimmer");
  command_.env = kNoEnvironment;
  expect_learned();
  command_.env = "";
  command_.overrides = {"environment=none"};
  expect_learned();
}

TEST_F(EvaluateTest, ANamedEnvironmentMustBeKnown) {
  command_.env = "Glider-v0";
  EXPECT_THAT([&] { Resolved(); }, ThrowsMessage<ConfigError>(HasSubstr("Glider-v0")));
}

TEST_F(EvaluateTest, ANamedEnvironmentGoesBeforeTheLogs) {
  NameEnvironment("Hopper");
  command_.env = "Swimmer";
  EXPECT_EQ(Resolved().environment, "Swimmer");
}

// ---- the horizon

TEST_F(EvaluateTest, TheHorizonIsWhatEnoughEpisodesTakeUnlessItIsGiven) {
  EXPECT_EQ(Resolved().value.horizon, 8);  // of 7, 9 and 8 steps
  command_.horizon = 5;
  EXPECT_EQ(Resolved().value.horizon, 5);
  command_.overrides = {"value.horizon=4"};
  EXPECT_EQ(Resolved().value.horizon, 4);
}

TEST_F(EvaluateTest, PoliciesActWithoutNoiseOnlyWhereThatIsAsked) {
  EXPECT_FALSE(Resolved().policies.mean);
  command_.mean = true;
  EXPECT_TRUE(Resolved().policies.mean);
  command_.overrides = {"policies.mean=false"};
  EXPECT_FALSE(Resolved().policies.mean);
}

// ---- the reward

TEST_F(EvaluateTest, TheRewardIsLearnedTheEnvironmentsOrThatOfAFile) {
  NameEnvironment("Swimmer");
  command_.reward = "learned";
  EXPECT_EQ(Resolved().task.reward, RewardFunction::kLearned);
  command_.reward = "environment";
  EXPECT_EQ(Resolved().task.reward, RewardFunction::kEnvironment);
  command_.reward = dir_ / "reward.pt";
  std::ofstream(command_.reward) << "a module";
  const EvaluationConfig config = Resolved();
  EXPECT_EQ(config.task.reward, RewardFunction::kTorchScript);
  EXPECT_EQ(config.task.reward_file, command_.reward);
}

TEST_F(EvaluateTest, ARewardThatIsNeitherIsRefusedWithWhatItMayBe) {
  command_.reward = dir_ / "none.pt";
  EXPECT_THAT([&] { Resolved(); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("none.pt: is no file"), HasSubstr("environment, learned"))));
  // "torchscript" is what the file is told by, no file of that name
  command_.reward = "torchscript";
  EXPECT_THAT([&] { Resolved(); }, ThrowsMessage<ConfigError>(HasSubstr("is no file")));
}

TEST_F(EvaluateTest, TheEnvironmentsRewardNeedsAnEnvironment) {
  command_.reward = "environment";
  EXPECT_THAT([&] { Resolved(); },
              ThrowsMessage<ConfigError>(HasSubstr("set task.reward: learned")));
}

// ---- overrides

TEST_F(EvaluateTest, OverridesWinOverAllElse) {
  NameEnvironment("Swimmer");
  command_.reward = "environment";
  command_.overrides = {"task.reward=learned",  "name=mine",
                        "truth.enabled=true",   "estimators.horizons=[2]",
                        "dynamics.fit.steps=7", "seed=3"};
  const EvaluationConfig config = Resolved();
  EXPECT_EQ(config.task.reward, RewardFunction::kLearned);
  EXPECT_EQ(config.name, "mine");
  EXPECT_TRUE(config.truth.enabled);
  EXPECT_THAT(config.estimators.horizons, ElementsAre(2));
  EXPECT_EQ(config.dynamics.fit.steps, 7);
  EXPECT_EQ(config.seed, 3u);
}

TEST_F(EvaluateTest, APresetChoosesTheDefaultsThatNothingElseSets) {
  EvaluationConfig config = Resolved();
  EXPECT_EQ(config.preset, Preset::kRobust);
  EXPECT_EQ(config.log.cross_fit, config.dynamics.members);
  command_.overrides = {"preset=paper", "dynamics.members=2"};
  config = Resolved();
  EXPECT_EQ(config.preset, Preset::kPaper);
  EXPECT_EQ(config.dynamics.fit.steps, DefaultsOf(Preset::kPaper).dynamics.fit.steps);
  EXPECT_EQ(config.dynamics.members, 2);
  EXPECT_EQ(config.environment, kNoEnvironment);  // as without a preset
}

TEST_F(EvaluateTest, AWrongOverrideIsNamed) {
  command_.overrides = {"dynamics.fit.stepz=7"};
  EXPECT_THAT([&] { Resolved(); }, ThrowsMessage<ConfigError>(HasSubstr("stepz")));
}

TEST_F(EvaluateTest, NoMoreOfTheLogIsReadThanItsOverridesAllow) {
  std::vector<std::int64_t> lengths(10, 5);
  lengths.insert(lengths.end(), 2, 50);
  SaveLog(LogOf(lengths), command_.data);
  EXPECT_EQ(Resolved().value.horizon, 50);
  // which episodes are taken follows from the seed
  std::set<std::int64_t> horizons;
  for (int seed = 0; seed < 40; ++seed) {
    command_.overrides = {"log.max_transitions=10", fmt::format("seed={}", seed)};
    horizons.insert(Resolved().value.horizon);
  }
  EXPECT_THAT(horizons, ElementsAre(5, 50));
}

TEST_F(EvaluateTest, ALogOfNoKnownLayoutIsReadByItsMap) {
  const EpisodeBatch log = LogOf({4});
  NpzFile file;
  file.Put("x", MatrixF(log.observations.topRows(4)));
  file.Put("y", MatrixF(log.observations.bottomRows(4)));
  file.Put("u", log.actions);
  file.Put("r", log.rewards);
  file.Put("lengths", std::vector<std::int64_t>{4});
  file.Write(command_.data);
  const std::string map = "obs=x,next_obs=y,action=u,reward=r,lengths=lengths";
  EXPECT_THAT([&] { Resolved(); }, ThrowsMessage<DataError>(HasSubstr(command_.data)));
  command_.map = map;
  EXPECT_EQ(Resolved().value.horizon, 4);
  EXPECT_EQ(Resolved().log.map, map);
  // as an override it says the same, and wins
  command_.map = "obs=none";
  command_.overrides = {"log.map=" + map};
  EXPECT_EQ(Resolved().log.map, map);
}

// ---- policies

TEST_F(EvaluateTest, AFolderStandsForThePolicyFilesInItByName) {
  SavedPolicy("folder/b.npz");
  SavedPolicy("folder/a.npz");
  SavedPolicy("folder/deeper/c.npz");
  std::ofstream(dir_ / "folder/notes.txt") << "no policy";
  command_.policies = {SavedPolicy("z.npz"), dir_ / "folder"};
  EXPECT_THAT(Resolved().policies.evaluation_files,
              ElementsAre(dir_ / "z.npz", dir_ / "folder/a.npz", dir_ / "folder/b.npz"));
}

TEST_F(EvaluateTest, InAFolderTheStatisticsBesideAnAgentAreNoPolicy) {
  fs::create_directories(dir_ / "folder");
  for (const char* name : {"agent.zip", "vecnormalize.pkl", "agent_vecnormalize.pkl", "dope.pkl"}) {
    std::ofstream(dir_ / (std::string("folder/") + name)) << "x";
  }
  command_.policies = {dir_ / "folder"};
  EXPECT_THAT(Resolved().policies.evaluation_files,
              ElementsAre(dir_ / "folder/agent.zip", dir_ / "folder/dope.pkl"));
}

TEST_F(EvaluateTest, AProgramIsGivenAsItIs) {
  const std::string program = "exec:python3 'my policy.py' " + std::string(300, 'x');
  command_.policies = {program};
  command_.behavior = program;
  EXPECT_THAT(Resolved().policies.evaluation_files, ElementsAre(program));
  EXPECT_EQ(Resolved().policies.behavior_file, program);
}

TEST_F(EvaluateTest, AFolderWithoutPolicyFilesIsRefused) {
  fs::create_directories(dir_ / "empty");
  command_.policies = {dir_ / "empty"};
  EXPECT_THAT([&] { Resolved(); }, ThrowsMessage<PolicyError>(HasSubstr("empty: no policy files")));
}

// ---- a whole run

TEST_F(EvaluateTest, WritesTheRunThatItsConfigurationRepeats) {
  SaveLog(LogOf(std::vector<std::int64_t>(20, 6)), command_.data);
  command_.dry_run = false;
  command_.horizon = 3;
  command_.overrides = {"dynamics.members=2",
                        "dynamics.network.width=8",
                        "dynamics.fit.steps=10",
                        "classifiers.instances=2",
                        "classifiers.fit.network.width=8",
                        "classifiers.fit.fit.steps=10",
                        "back_test.cloning.network.width=8",
                        "back_test.cloning.fit.steps=10",
                        "rollout.repetitions=2",
                        "rollout.episodes=10"};
  testing::internal::CaptureStderr();  // a warning of a slow BLAS
  const Outcome outcome = Evaluate(command_, {.verbosity = Verbosity::kQuiet});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.text, HasSubstr("report: " + command_.out + "/report.html\n"));
  EXPECT_EQ(outcome.object["report"], command_.out + "/report.html");
  ASSERT_EQ(outcome.object["stated"].size(), 1u);
  EXPECT_DOUBLE_EQ(outcome.object["stated"][0]["value"].get<double>(), 1.5);
  EXPECT_EQ(outcome.object["results"].size(), 1u + 3u * 4u + 1u);
  const std::vector<ResultRow> rows = ReadResults(dir_ / "out/results.csv");
  ASSERT_THAT(rows, SizeIs(1 + 3 * 4 + 1));
  // rewards of 0.5 are learned as such
  for (const ResultRow& row : rows) EXPECT_DOUBLE_EQ(*row.value, 1.5) << row.estimator;
  const auto report = nlohmann::json::parse(ReadFile(dir_ / "out/report.json"));
  EXPECT_THAT(std::string(report["command"]),
              HasSubstr("lfiw evaluate --data " + command_.data + " --policy " +
                        command_.policies[0] + " --horizon 3 dynamics.members=2"));

  EXPECT_EQ(experiments::Run({.config = dir_ / "out/config.yaml",
                              .overrides = {},
                              .out = dir_ / "again",
                              .cache = dir_ / "other_cache"},
                             {.verbosity = Verbosity::kQuiet})
                .status,
            0);
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(ReadFile(dir_ / "again/results.csv"), ReadFile(dir_ / "out/results.csv"));
}

}  // namespace
}  // namespace lfiw::experiments
