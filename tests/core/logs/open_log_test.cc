#include "core/logs/open_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/logs/log_writer.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

// Two episodes of 2 and 1 steps with every field.
EpisodeBatch MakeLog() {
  EpisodeBatch log = SampleLog({2, 1});
  log.aux = MatrixF{{0.5f}, {-1.5f}, {2.5f}};
  log.rewards = {1.0, 1.0 / 3.0, -2.0};
  log.behavior_log_density = {-0.1, -700.0, 2.0};
  return log;
}

std::string RefusalOf(const EpisodeBatch& log, const LogInfo& info = {}) {
  const TestDir dir;
  SaveLog(log, dir / "log", info);
  try {
    LoadLog(dir / "log");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LoadLog, GivesWhatWasSavedWhateverTheName) {
  const TestDir dir;
  SaveLog(MakeLog(), dir / "log.txt", {.environment = "Swimmer"});
  const LoadedLog loaded = LoadLog(dir / "log.txt");
  ExpectSameLog(loaded.batch, MakeLog());
  EXPECT_EQ(loaded.info.format, "npz");
  EXPECT_EQ(loaded.info.environment, "Swimmer");
  EXPECT_THAT(loaded.info.notes, IsEmpty());
}

TEST(LoadLog, AuxAndDensityMayBeMissing) {
  const TestDir dir;
  SaveLog(SampleLog({2}), dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_EQ(loaded.batch.aux_dim(), 0);
  EXPECT_THAT(loaded.batch.behavior_log_density, IsEmpty());
}

TEST(LoadLog, OffsetsMustIncreaseFromZeroToTheNumberOfSteps) {
  EpisodeBatch log = MakeLog();
  log.offsets = {1, 2, 3};
  EXPECT_THAT(RefusalOf(log), HasSubstr("offsets[0] is 1, expected 0"));
  log.offsets = {0, 3, 3};
  EXPECT_THAT(RefusalOf(log), HasSubstr("offsets[2] is 3"));
  log.offsets = {0, 2, 4};
  EXPECT_THAT(RefusalOf(log), HasSubstr("offsets ends with 4, expected the number of steps (3)"));
  log.offsets = {0};
  EXPECT_THAT(RefusalOf(log), HasSubstr("offsets"));
}

// Conformance case C9.
TEST(LoadLog, BadNumbersNameEpisodeAndStep) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  EpisodeBatch reward = MakeLog();
  reward.rewards[1] = kNan;
  EXPECT_THAT(RefusalOf(reward), HasSubstr("episode 0, step 1"));
  // a behavior probability of 0
  EpisodeBatch impossible = MakeLog();
  impossible.behavior_log_density[2] = -std::numeric_limits<double>::infinity();
  EXPECT_THAT(RefusalOf(impossible),
              AllOf(HasSubstr("episode 1, step 0"), HasSubstr("behavior_log_density is -inf")));
  EpisodeBatch flag = MakeLog();
  flag.terminated[1] = 7;
  EXPECT_THAT(RefusalOf(flag), HasSubstr("'terminated' holds 7 in row 1"));
}

TEST(LoadLog, ADensityAboveOneIsFineForContinuousActionsOnly) {
  EpisodeBatch log = MakeLog();
  log.actions.setOnes(3, 1);
  EXPECT_EQ(RefusalOf(log), "no error");
  EXPECT_THAT(RefusalOf(log, {.discrete_actions = 1}),
              AllOf(HasSubstr("episode 1, step 0"), HasSubstr("expected at most 1")));
}

TEST(LoadLog, ArraysOfDifferentLengthAreRefused) {
  EpisodeBatch log = MakeLog();
  log.rewards.pop_back();
  EXPECT_THAT(RefusalOf(log), AllOf(HasSubstr("'actions' has 3 rows"), HasSubstr("expected 2")));
}

TEST(LoadLog, FilesOfOtherKindsSayWhatToDo) {
  const TestDir dir;
  const auto error_of = [&](const std::string& content) {
    WriteFileAtomically(dir / "file", content);
    try {
      OpenLog(dir / "file");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("\x80\x04."), HasSubstr("never loaded"));
  EXPECT_THAT(error_of("\x1f\x8b\x08"), HasSubstr("damaged or cut short"));
  EXPECT_THAT(error_of("PAR1...."), HasSubstr("Parquet"));
  EXPECT_THAT(error_of("\x93NUMPY"), HasSubstr("numpy.savez"));
  EXPECT_THAT(error_of(std::string("\0\0\0", 3)), HasSubstr("neither HDF5, npz, CSV"));
  EXPECT_THAT([&] { OpenLog(dir / "absent"); },
              ThrowsMessage<DataError>(HasSubstr("No such file or directory")));
  EXPECT_THAT([&] { OpenLog(dir.path()); },
              ThrowsMessage<DataError>(HasSubstr("data/main_data.hdf5")));
}

TEST(LoadLog, ALogAboveTheLimitIsSampledByEpisodeAndSaysSo) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({5, 5, 5, 5, 5, 5, 5, 5, 5, 5});
  SaveLog(log, dir / "log");
  std::set<double> drawn;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const LoadedLog loaded = LoadLog(dir / "log", {}, 17, seed);
    EXPECT_EQ(loaded.batch.episodes(), 3);
    EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("3 of 10 episodes (15 steps)")));
    // whole episodes, each once and in the file's order
    double last = -1.0;
    for (std::int64_t e = 0; e < 3; ++e) {
      const double name = loaded.batch.observations(loaded.batch.ObservationRow(e, 0), 0);
      EXPECT_GT(name, last);
      last = name;
      drawn.insert(name);
    }
    ExpectSameLog(LoadLog(dir / "log", {}, 17, seed).batch, loaded.batch);
  }
  // P(an episode is never among 3 of 10 in 30 draws) is 2e-5 each
  EXPECT_EQ(drawn.size(), 10U);
  ExpectSameLog(LoadLog(dir / "log", {}, 50, 1).batch, log);
}

TEST(LoadLog, ContextsOfOneStepEpisodesFollowEachOther) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({1, 1, 1});
  log.terminated = log.end_unrecorded = {1, 1, 1};
  SaveLog(log, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_EQ(loaded.batch.observations.col(0).transpose(),
            (MatrixF{{0.0f, 100.0f, 100.0f, 200.0f, 200.0f, 0.0f}}));
  EXPECT_TRUE(loaded.batch.end_unrecorded.empty());
  EXPECT_EQ(loaded.batch.rewards, log.rewards);
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("contextual bandit")));
}

}  // namespace
}  // namespace lfiw::core
