#include "policies/log_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/npz.h"
#include "tests/core/test_dir.h"
#include "tests/policies/fake_env.h"

namespace lfiw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Two episodes of 2 and 1 steps.
EpisodeBatch MakeLog() {
  EpisodeBatch log;
  log.observations = MatrixF::Random(5, 3);
  log.actions = MatrixF::Random(3, 2);
  log.aux = MatrixF::Random(3, 1);
  log.rewards = {1.0, 1.0 / 3.0, -2.0};
  log.behavior_log_density = {-0.1, -700.0, 2.0};
  log.offsets = {0, 2, 3};
  log.terminated = {0, 1};
  return log;
}

std::string LoadError(const EpisodeBatch& log) {
  const std::string path = TestFile("broken.npz");
  SaveLog(log, path);
  try {
    LoadLog(path);
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LogFile, LoadGivesWhatWasSaved) {
  const std::string path = TestFile("whole.npz");
  const EpisodeBatch log = MakeLog();
  SaveLog(log, path);
  const EpisodeBatch loaded = LoadLog(path);
  EXPECT_EQ(loaded.observations, log.observations);
  EXPECT_EQ(loaded.actions, log.actions);
  EXPECT_EQ(loaded.aux, log.aux);
  EXPECT_EQ(loaded.rewards, log.rewards);
  EXPECT_EQ(loaded.behavior_log_density, log.behavior_log_density);
  EXPECT_EQ(loaded.offsets, log.offsets);
  EXPECT_EQ(loaded.terminated, log.terminated);
}

TEST(LogFile, AuxAndDensityMayBeMissing) {
  const std::string path = TestFile("minimal.npz");
  EpisodeBatch log = MakeLog();
  log.aux.resize(3, 0);
  log.behavior_log_density.clear();
  SaveLog(log, path);
  const EpisodeBatch loaded = LoadLog(path);
  EXPECT_EQ(loaded.aux_dim(), 0);
  EXPECT_TRUE(loaded.behavior_log_density.empty());
}

TEST(LogFile, OffsetsMustIncreaseFromZeroToTheNumberOfSteps) {
  EpisodeBatch log = MakeLog();
  log.offsets = {1, 2, 3};
  EXPECT_THAT(LoadError(log), HasSubstr("offsets[0] is 1, expected 0"));
  log.offsets = {0, 3, 3};
  EXPECT_THAT(LoadError(log), HasSubstr("offsets[2] is 3"));
  log.offsets = {0, 2, 4};
  EXPECT_THAT(LoadError(log), HasSubstr("expected 6"));
  log.offsets = {0};
  EXPECT_THAT(LoadError(log), HasSubstr("offsets has 1 values"));
}

TEST(LogFile, BadNumbersNameEpisodeAndStep) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EpisodeBatch reward = MakeLog();
  reward.rewards[1] = kNan;
  EXPECT_THAT(LoadError(reward), HasSubstr("episode 0, step 1"));
  // a behavior probability of 0
  EpisodeBatch impossible = MakeLog();
  impossible.behavior_log_density[2] = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(LoadError(impossible),
              AllOf(HasSubstr("episode 1, step 0"), HasSubstr("behavior_log_density is -inf")));
  EpisodeBatch flag = MakeLog();
  flag.terminated[1] = 7;
  EXPECT_THAT(LoadError(flag), HasSubstr("terminated[1] is 7"));
}

TEST(LogFile, ArraysOfDifferentLengthAreRefused) {
  EpisodeBatch log = MakeLog();
  log.rewards.pop_back();
  EXPECT_THAT(LoadError(log), AllOf(HasSubstr("rewards"), HasSubstr("expected 3")));
}

TEST(LogFile, MissingArrayIsNamed) {
  const std::string path = TestFile("missing.npz");
  NpzFile file;
  file.Put("observations", MakeLog().observations);
  file.Write(path);
  try {
    LoadLog(path);
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("actions"));
  }
}

TEST(LogFile, LogOfAnotherEnvironmentIsRefused) {
  const PointFactory factory;
  EXPECT_NO_THROW(CheckFits(MakeLog(), factory.spec(), "log.npz"));
  EnvSpec spec = factory.spec();
  spec.obs_dim = 376;
  try {
    CheckFits(MakeLog(), spec, "log.npz");
    FAIL() << "no error";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("log.npz: observations have 3 columns"),
                                    HasSubstr("Point has 376")));
  }
}

}  // namespace
}  // namespace lfiw
