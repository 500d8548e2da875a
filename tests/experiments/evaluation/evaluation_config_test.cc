#include "experiments/evaluation/evaluation_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Problems(const EvaluationConfig& config) {
  try {
    CheckConfig(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(LoadEvaluationConfig, PresetChangesDefaultsAndGivenFieldsKeepTheirValue) {
  const EvaluationConfig paper = LoadEvaluationConfig("", {});
  EXPECT_EQ(CanonicalText(paper), CanonicalText(EvaluationConfig()));
  const EvaluationConfig robust = LoadEvaluationConfig("", {"dynamics.members=7", "preset=robust"});
  EvaluationConfig expected = DefaultsOf(Preset::kRobust);
  expected.dynamics.members = 7;
  EXPECT_EQ(CanonicalText(robust), CanonicalText(expected));
  EXPECT_NE(robust.dynamics.fit.steps, paper.dynamics.fit.steps);
}

TEST(LoadEvaluationConfig, TheQuickPresetIsTheRobustOneWithLessOfAllThatTakesTime) {
  const EvaluationConfig robust = DefaultsOf(Preset::kRobust), quick = DefaultsOf(Preset::kQuick);
  EXPECT_LT(quick.dynamics.members, robust.dynamics.members);
  EXPECT_LT(quick.dynamics.fit.steps, robust.dynamics.fit.steps);
  EXPECT_EQ(quick.log.cross_fit, quick.dynamics.members);
  EvaluationConfig rest = quick;
  rest.preset = Preset::kRobust;
  rest.dynamics.members = robust.dynamics.members;
  rest.dynamics.network.width = robust.dynamics.network.width;
  rest.dynamics.fit.steps = robust.dynamics.fit.steps;
  rest.classifiers.instances = robust.classifiers.instances;
  rest.classifiers.fit.fit.steps = robust.classifiers.fit.fit.steps;
  rest.log.cross_fit = robust.log.cross_fit;
  EXPECT_EQ(CanonicalText(rest), CanonicalText(robust));
}

TEST(LoadEvaluationConfig, TheRobustPresetFitsForAsLongAsALogIsWorth) {
  const EvaluationConfig robust = DefaultsOf(Preset::kRobust);
  EXPECT_EQ(robust.dynamics.kind, DynamicsChoice::kAuto);
  EXPECT_GT(robust.dynamics.fit.passes, 0.0);
  EXPECT_GT(robust.dynamics.fit.cooldown, 0.0);
  EXPECT_EQ(robust.log.cross_fit, robust.dynamics.members);
  EXPECT_NO_THROW(CheckConfig(LoadEvaluationConfig("", {"preset=robust"})));
  const EvaluationConfig paper = DefaultsOf(Preset::kPaper);
  EXPECT_EQ(paper.dynamics.kind, DynamicsChoice::kGaussian);
  EXPECT_EQ(paper.dynamics.fit.passes, 0.0);
}

TEST(CheckConfig, NamesRowsThatNoEstimatorHas) {
  EvaluationConfig config;
  config.rows = {"fqe", "fqr"};
  EXPECT_THAT(Problems(config), AllOf(HasSubstr("rows: "), HasSubstr("fqr")));
  config.rows = {"fqe", "logged", "wdr_fqe"};
  EXPECT_EQ(Problems(config), "none");
}

TEST(LoadEvaluationConfig, DumpedConfigurationsLoadBackToTheSame) {
  EvaluationConfig config = DefaultsOf(Preset::kRobust);
  config.dynamics.fit.steps = EvaluationConfig().dynamics.fit.steps;
  const ConfigNode node = ParseYaml(DumpConfig(config), "dumped");
  EvaluationConfig loaded = DefaultsOf(Preset::kRobust);
  ReadConfig(node, loaded);
  EXPECT_EQ(CanonicalText(loaded), CanonicalText(config));
}

TEST(CheckConfig, WithoutAnEnvironmentEverythingMustComeFromTheLog) {
  EvaluationConfig config;
  config.environment = kNoEnvironment;
  EXPECT_THAT(Problems(config),
              AllOf(HasSubstr("log.file"), HasSubstr("policies.pair: files"),
                    HasSubstr("truth.enabled: false"), HasSubstr("task.reward: learned"),
                    HasSubstr("task.termination: learned or none")));
  config.log.file = "log.npz";
  config.policies.pair = PolicyPair::kFiles;
  config.policies.evaluation_files = {"new.npz"};
  config.truth.enabled = false;
  config.task.reward = RewardFunction::kLearned;
  config.task.termination = TerminationSource::kNone;
  EXPECT_EQ(Problems(config), "none");
}

TEST(CheckConfig, ARewardModuleAndItsFileComeTogether) {
  EvaluationConfig config;
  config.task.reward = RewardFunction::kTorchScript;
  EXPECT_THAT(Problems(config), HasSubstr("needs the module in task.reward_file"));
  config.task.reward_file = "reward.pt";
  EXPECT_EQ(Problems(config), "none");
  config.task.reward = RewardFunction::kEnvironment;
  EXPECT_THAT(Problems(config), HasSubstr("task.reward_file: is read by task.reward: torchscript"));
}

TEST(CheckConfig, FilesNeedAnEvaluationPolicyAndALogOrItsPolicy) {
  EvaluationConfig config;
  config.policies.pair = PolicyPair::kFiles;
  EXPECT_THAT(Problems(config), AllOf(HasSubstr("evaluation_files"), HasSubstr("behavior_file")));
}

TEST(CheckConfig, AHorizonWithoutEndIsReadButHasNoRollouts) {
  EvaluationConfig config = LoadConfig<EvaluationConfig>("", {"value.horizon=inf"});
  EXPECT_TRUE(config.value.infinite());
  EXPECT_THAT(DumpConfig(config), HasSubstr("horizon: .inf"));
  config.estimators.horizons = {};
  EXPECT_THAT(Problems(config), HasSubstr("value.horizon: inf has no rollouts"));
}

TEST(CheckConfig, HorizonsMustLieWithinTheEpisode) {
  EvaluationConfig config;
  config.value.horizon = 50;
  config.estimators.horizons = {20, 80};
  EXPECT_THAT(Problems(config), HasSubstr("estimators.horizons: 80 is beyond value.horizon = 50"));
  config.estimators.horizons = {20, -1};
  EXPECT_THAT(Problems(config), HasSubstr("estimators.horizons: -1 is below 0"));
}

}  // namespace
}  // namespace lfiw::experiments
