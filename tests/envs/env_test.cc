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

TEST(FindEnv, DoesNotTakeVersion5ForVersion4WhereItDiffers) {
  EXPECT_EQ(FindEnv("HalfCheetah-v5")->spec().name, "HalfCheetah");
  EXPECT_EQ(VersionDifference("Swimmer-v5"), "");
  EXPECT_EQ(VersionDifference("Walker2d-v4"), "");
  EXPECT_EQ(VersionDifference("Glider-v5"), "");
  for (const std::string name : {"Walker2d-v5", "hopper-v5", "Ant-v5", "HumanoidStandup-v5"}) {
    EXPECT_THAT([&] { FindEnv(name); },
                testing::ThrowsMessage<ConfigError>(testing::AllOf(
                    testing::HasSubstr(name), testing::HasSubstr("version 5 differs"))));
  }
  EXPECT_EQ(VersionDifference("HalfCheetah-v5"), "");
  EXPECT_THAT(VersionDifference("Walker2d-v5"), HasSubstr("friction of 1.9 instead of 0.9"));
  EXPECT_EQ(VersionDifference("Hopper-v5"),
            "version 5 differs: the state that ends an episode earns no healthy reward");
  // the numbers of version 4 are those of the tasks here
  for (const auto& [name, size] : {std::pair{"Ant", 27}, std::pair{"HumanoidStandup", 376}}) {
    EXPECT_EQ(FindEnv(name)->spec().obs_dim, size);
    EXPECT_THAT(VersionDifference(name + std::string("-v5")),
                HasSubstr("instead of " + std::to_string(size)));
  }
  EXPECT_THAT(VersionDifference("Swimmer-v6"), testing::HasSubstr("version 6"));
}

TEST(FindEnv, KnowsEveryNameItLists) {
  EXPECT_EQ(EnvNames().size(), 7u);
  for (const std::string& name : EnvNames()) EXPECT_EQ(FindEnv(name)->spec().name, name);
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
