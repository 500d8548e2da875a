#include "envs/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "envs/env_registry.h"

namespace lfiw::envs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(FindEnv, KnowsEveryNameItLists) {
  EXPECT_EQ(EnvNames().size(), 22u);
  for (const std::string& name : EnvNames()) EXPECT_EQ(FindEnv(name)->spec().name, name);
}

TEST(FindEnv, GivesTheVersionThatIsNamedAndVersion4Otherwise) {
  const auto observations = [](const char* name) { return FindEnv(name)->spec().obs_dim; };
  EXPECT_EQ(observations("Ant"), 27);
  EXPECT_EQ(observations("Ant-v4"), 27);
  EXPECT_EQ(observations("Ant-v5"), 105);
  EXPECT_EQ(observations("ant-v2"), 111);
  EXPECT_EQ(FindEnv("Ant-v3")->spec().name, "Ant-v2");
  EXPECT_EQ(observations("HumanoidStandup"), 376);
  EXPECT_EQ(observations("HumanoidStandup-v5"), 348);
  EXPECT_EQ(FindEnv("Walker2d-V5")->spec().name, "Walker2d-v5");
  EXPECT_EQ(FindEnv("HalfCheetah-v5")->spec().name, "HalfCheetah");
}

TEST(FindEnv, RefusesVersionsThatItDoesNotKnow) {
  EXPECT_THAT([] { FindEnv("Swimmer-v6"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("\"Swimmer-v6\": version 6 is not known"),
                                               HasSubstr("the newest is Swimmer-v5"))));
}

TEST(FindEnv, TakesNamesOfD4rlsDataSetsForWhatTheyWereCollectedIn) {
  EXPECT_EQ(FindEnv("ant-medium-expert-v0")->spec().name, "Ant-v2");
  EXPECT_EQ(FindEnv("hopper-medium-v2")->spec().name, "Hopper");
  EXPECT_EQ(FindEnv("halfcheetah-full-replay-v2")->spec().name, "HalfCheetah");
}

TEST(FindEnv, ReadsOptionsBehindColonsAndNamesTheOnesThatDiffer) {
  const auto env = FindEnv("hopper-v5:frame_skip=2:healthy_z_range=[0.8, 2]:healthy_reward=1");
  EXPECT_EQ(env->spec().name, "Hopper-v5:frame_skip=2:healthy_z_range=[0.8,2]");
  EXPECT_DOUBLE_EQ(env->spec().step_seconds, 0.004);
  EXPECT_EQ(FindEnv(env->spec().name)->spec().name, env->spec().name);
  EXPECT_EQ(FindEnv("Hopper:frame_skip=4")->spec().name, "Hopper");
  EXPECT_EQ(FindEnv("Hopper:max_episode_steps=7")->spec().max_episode_steps, 7);
  EXPECT_EQ(FindEnv("Ant:use_contact_forces=true")->spec().obs_dim, 111);
}

TEST(FindEnv, NamesTheOptionsThatATaskHasInOneLine) {
  EXPECT_THAT(
      [] { FindEnv("Reacher-v5:reset_noise_scale=1"); },
      ThrowsMessage<ConfigError>("environment Reacher-v5: has no option \"reset_noise_scale\"; it "
                                 "has frame_skip, max_episode_steps, reward_dist_weight, "
                                 "reward_control_weight"));
  EXPECT_THAT([] { FindEnv("Hopper:frame_skip"); },
              ThrowsMessage<ConfigError>(HasSubstr("option frame_skip has no value")));
  EXPECT_THAT([] { FindEnv("Hopper:frame_skip=0"); },
              ThrowsMessage<ConfigError>(HasSubstr("frame_skip")));
  EXPECT_THAT([] { FindEnv("Hopper:healthy_z_range=[2, 1]"); },
              ThrowsMessage<ConfigError>(HasSubstr("healthy_z_range: expected two numbers")));
  EXPECT_THAT([] { FindEnv("LinearGaussian:frame_skip=2"); },
              ThrowsMessage<ConfigError>(HasSubstr("LinearGaussian: has no options")));
}

TEST(VersionDifference, ComparesWhatTasksCompute) {
  EXPECT_EQ(VersionDifference("Hopper", "Hopper-v5"),
            "a step that ends the episode earns no reward for health");
  EXPECT_EQ(VersionDifference("Walker2d-v4", "Walker2d-v5"),
            "the right foot has a friction of 1.9 instead of 0.9, a step that ends the episode "
            "earns no reward for health");
  EXPECT_EQ(VersionDifference("Ant-v5", "Ant"),
            "observations have 27 numbers instead of 105, contact forces cost no reward, a step "
            "that ends the episode earns the reward for health");
  EXPECT_EQ(VersionDifference("Reacher", "Reacher-v5"),
            "observations have 10 numbers instead of 11, distances are rewarded as they are after "
            "a step");
  EXPECT_EQ(VersionDifference("Swimmer-v4", "Swimmer-v5"), "");
  EXPECT_EQ(VersionDifference("Hopper", "Hopper:frame_skip=2"), "options differ:frame_skip=2");
  EXPECT_EQ(VersionDifference("Hopper", "Ant"), "");
}

TEST(VersionsOf, ListsTheDefaultFirstAndKeepsOptions) {
  EXPECT_EQ(VersionsOf("ant-v5"), (std::vector<std::string>{"Ant", "Ant-v5", "Ant-v2"}));
  EXPECT_EQ(VersionsOf("Hopper:frame_skip=2"),
            (std::vector<std::string>{"Hopper:frame_skip=2", "Hopper-v5:frame_skip=2"}));
  EXPECT_EQ(VersionsOf("Swimmer"), std::vector<std::string>{"Swimmer"});
  EXPECT_EQ(VersionsOf("LinearGaussian"), std::vector<std::string>{"LinearGaussian"});
}

TEST(VersionNote, SaysWhichVersionANameWithoutOneMeansWhereThatMatters) {
  EXPECT_EQ(VersionNote("hopper"),
            "Hopper means Hopper-v4; in Hopper-v5 a step that ends the episode earns no reward for "
            "health");
  EXPECT_EQ(VersionNote("Hopper-v4"), "");
  EXPECT_EQ(VersionNote("HalfCheetah"), "");
  EXPECT_EQ(VersionNote("LinearGaussian"), "");
}

TEST(FindEnv, IgnoresCaseUnderscoresAndVersion) {
  for (const char* name : {"HalfCheetah", "half_cheetah", "HALFCHEETAH-v2", "Half_Cheetah-V4"}) {
    EXPECT_EQ(FindEnv(name)->spec().name, "HalfCheetah") << name;
  }
  EXPECT_EQ(FindEnv("walker2d-v4")->spec().name, "Walker2d");
}

TEST(FindEnv, SuggestsTheNearestNameAndListsAll) {
  EXPECT_THAT([] { FindEnv("HalfChetah-v2"); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("\"HalfChetah-v2\""),
                                               HasSubstr("did you mean HalfCheetah?"),
                                               HasSubstr("Swimmer, HalfCheetah"))));
  EXPECT_THAT([] { FindEnv(""); }, ThrowsMessage<ConfigError>(HasSubstr("Known: ")));
}

TEST(EnvFactory, MakesInstancesThatDoNotShareState) {
  const auto factory = FindEnv("Swimmer");
  const auto a = factory->Make();
  const auto b = factory->Make();
  Stream stream(1, "reset");
  std::vector<double> first(8), second(8), aux(1);
  a->Reset(stream, first);
  Stream copy(1, "reset");
  b->Reset(copy, second);
  b->Step(std::vector<double>{1.0, -1.0}, second, aux);
  a->Step(std::vector<double>{0.0, 0.0}, first, aux);
  EXPECT_NE(first, second);
}

TEST(EnvFactory, ExactRewardsAreTheDefault) {
  EXPECT_EQ(FindEnv("Ant")->MakeTaskRules()->aux_dim(), 1);
  EXPECT_EQ(FindEnv("Ant")->MakeTaskRules(RewardSource::kTrapezoid)->aux_dim(), 0);
  EXPECT_EQ(FindEnv("HumanoidStandup")->MakeTaskRules()->aux_dim(), 0);
}

TEST(ClipActions, ClipsToTheFloatsOfTheBoundsAndKeepsNan) {
  const EnvSpec spec = FindEnv("HumanoidStandup")->spec();
  MatrixF actions = MatrixF::Zero(2, 17);
  actions(0, 0) = 3.0f;
  actions(1, 1) = -3.0f;
  actions(1, 2) = std::nanf("");
  actions(1, 3) = 0.25f;
  ClipActions(spec, actions);
  EXPECT_EQ(actions(0, 0), 0.4f);
  EXPECT_EQ(actions(1, 1), -0.4f);
  EXPECT_TRUE(std::isnan(actions(1, 2)));
  EXPECT_EQ(actions(1, 3), 0.25f);
}

TEST(ClipActions, LeavesUnboundedActionsAlone) {
  MatrixF actions = MatrixF::Constant(1, 1, 1e30f);
  ClipActions(FindEnv("LinearGaussian")->spec(), actions);
  EXPECT_EQ(actions(0, 0), 1e30f);
}

}  // namespace
}  // namespace lfiw::envs
