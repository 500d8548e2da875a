#include "policies/log_compatibility.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "envs/env_registry.h"
#include "tests/policies/fake_env.h"

namespace lfiw::policies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// One episode of 2 steps in the sizes of PointEnv.
EpisodeBatch MakeLog() {
  EpisodeBatch log;
  log.observations = MatrixF::Random(3, 3);
  log.actions = MatrixF::Random(2, 2);
  log.aux = MatrixF::Random(2, 1);
  log.rewards = {1.0, 2.0};
  log.offsets = {0, 2};
  log.terminated = {0};
  return log;
}

TEST(LogFit, LogOfTheEnvironmentFitsWithAndWithoutAux) {
  const PointFactory factory;
  EpisodeBatch log = MakeLog();
  EXPECT_NO_THROW(CheckFits(log, factory.spec(), "log.npz"));
  log.aux.resize(2, 0);
  EXPECT_NO_THROW(CheckFits(log, factory.spec(), "log.npz"));
}

TEST(LogFit, LogOfAnotherEnvironmentIsRefused) {
  EnvSpec spec = PointFactory().spec();
  spec.obs_dim = 376;
  EXPECT_THAT([&] { CheckFits(MakeLog(), spec, "log.npz"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("log.npz: observations have 3 columns"),
                                             HasSubstr("Point has 376"))));
}

TEST(LogFit, AnotherVersionThatHasTheSizesIsNamed) {
  EpisodeBatch log = MakeLog();
  log.observations = MatrixF::Zero(3, 111);
  log.actions = MatrixF::Zero(2, 8);
  EXPECT_THAT([&] { CheckFits(log, envs::FindEnv("Ant")->spec(), "log.npz"); },
              ThrowsMessage<DataError>("log.npz: observations have 111 columns, Ant has 27; Ant-v2 "
                                       "has these sizes"));
}

}  // namespace
}  // namespace lfiw::policies
