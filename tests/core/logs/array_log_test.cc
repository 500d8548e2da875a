#include "core/logs/array_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/statistics.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"
#include "tests/shared_data.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

std::string Flat(const TestDir& dir, const EpisodeBatch& log,
                 const std::vector<std::string>& without = {}) {
  WriteHdf5(FlatArrays(log), dir / "log", without);
  return dir / "log";
}

TEST(D4rlLog, EveryEpisodeComesBackWithItsLastObservation) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 2, 4});
  const LoadedLog loaded = LoadLog(Flat(dir, log));
  ExpectSameLog(loaded.batch, log);
  EXPECT_EQ(loaded.info.format, "D4RL HDF5");
  EXPECT_EQ(loaded.info.obs_dim, 2);
  EXPECT_EQ(loaded.info.action_dim, 1);
  EXPECT_EQ(loaded.info.discrete_actions, 0);
  EXPECT_THAT(loaded.info.notes, IsEmpty());
  EXPECT_EQ(loaded.counts.continuity_checked, 6);
  EXPECT_EQ(loaded.counts.continuity_broken, 0);
}

TEST(D4rlLog, CompressedChunksAndNpzGiveTheSame) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 2});
  WriteHdf5(FlatArrays(log), dir / "a", {}, Hdf5Compression::kGzip);
  ExpectSameLog(LoadLog(dir / "a").batch, log);
  FlatArrays(log).Write(dir / "b");
  ExpectSameLog(LoadLog(dir / "b").batch, log);
}

// Conformance case C20: no transition from an episode's end to the next one's start.
TEST(D4rlLog, WithoutNextObservationsLastStepsStay) {
  const TestDir dir;
  const LoadedLog loaded = LoadLog(Flat(dir, SampleLog({3, 2}), {"next_observations"}));
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 5));
  EXPECT_THAT(loaded.batch.rewards, ElementsAre(0, 1, 2, 10, 11));
  EXPECT_EQ(loaded.batch.observations.col(0).transpose(),
            (MatrixF{{0.0f, 1.0f, 2.0f, 2.0f, 100.0f, 101.0f, 101.0f}}));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(0, 1));
  EXPECT_THAT(loaded.batch.end_unrecorded, ElementsAre(1, 1));
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("1 episodes are cut without")));
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("1 episodes terminate without")));
  EXPECT_EQ(loaded.counts.file_steps, 5);
}

TEST(D4rlLog, WithoutTimeoutsEpisodesAreCutAtTheirLongestLengthAndTheRestIsKept) {
  const TestDir dir;
  // one trajectory of 7 steps without any mark
  const std::string path = Flat(dir, SampleLog({7}), {"timeouts", "next_observations"});
  const LoadedLog loaded = LoadLog(path, {.max_episode_steps = 3});
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 6, 7));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(0, 0, 0));
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("2 episodes were cut at 3 steps")));
}

TEST(D4rlLog, WithoutTimeoutsEpisodesAreCutWhereTheNextObservationDoesNotContinue) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({3, 2, 4});
  log.terminated = {0, 0, 0};
  ExpectSameLog(LoadLog(Flat(dir, log, {"timeouts"})).batch, log);
}

TEST(D4rlLog, BoundariesAtTheEdgeOfABlockAreFound) {
  const TestDir dir;
  // flags are read 65,536 rows at a time
  EpisodeBatch log = SampleLog(std::vector<std::int64_t>(1100, 64));
  log.terminated.assign(1100, 0);
  EXPECT_EQ(LoadLog(Flat(dir, log, {"timeouts"})).batch.offsets, log.offsets);
  EXPECT_EQ(LoadLog(Flat(dir, log)).batch.offsets, log.offsets);
}

TEST(D4rlLog, TerminalWinsOverTimeoutOnTheSameStep) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(SampleLog({2}));
  const std::vector<std::uint8_t> flags = {0, 1};
  arrays.Put("terminals", MakeNpzArray("b1", {2}, flags));
  arrays.Put("timeouts", MakeNpzArray("b1", {2}, flags));
  WriteHdf5(arrays, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(1));
  EXPECT_EQ(loaded.counts.both_flags, 1);
}

TEST(D4rlLog, ALastEpisodeWithoutMarkIsKeptAsTruncated) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(SampleLog({2, 3}));
  arrays.Put("terminals", MakeNpzArray<std::uint8_t>("b1", {5}, {0, 1, 0, 0, 0}));
  arrays.Put("timeouts", MakeNpzArray<std::uint8_t>("b1", {5}, {0, 0, 0, 0, 0}));
  WriteHdf5(arrays, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 2, 5));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(1, 0));
}

TEST(D4rlLog, BehaviorDensitiesAndPositionsOfTheInfosAreUsed) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(SampleLog({3}));
  arrays.Put("infos/action_log_probs", std::vector<double>{-1.0, -2.0, -3.0});
  arrays.Put("infos/qpos", MatrixF{{0.0f, 9.0f}, {1.0f, 9.0f}, {3.0f, 9.0f}});
  WriteHdf5(arrays, dir / "log");
  const LoadedLog with = LoadLog(dir / "log", {.position_step_seconds = 0.5});
  // the position after the last step is not in the file
  EXPECT_EQ(with.batch.aux, (MatrixF{{2.0f}, {4.0f}, {0.0f}}));
  EXPECT_THAT(with.batch.end_unrecorded, ElementsAre(1));
  EXPECT_THAT(with.batch.behavior_log_density, ElementsAre(-1.0, -2.0, -3.0));
  const LoadedLog without = LoadLog(dir / "log");
  EXPECT_EQ(without.batch.steps(), 3);
  EXPECT_EQ(without.batch.aux_dim(), 0);
  EXPECT_THAT(without.info.notes, Contains(HasSubstr("infos/qpos is there but not used")));
}

TEST(D4rlLog, WholeNumberActionsBecomeOneHotRows) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(SampleLog({3}));
  arrays.Put("actions", std::vector<std::int64_t>{2, 0, 1});
  WriteHdf5(arrays, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_EQ(loaded.info.discrete_actions, 3);
  EXPECT_EQ(loaded.batch.actions,
            (MatrixF{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}}));
}

TEST(D4rlLog, WrongShapesAndFlagsNameTheArray) {
  const TestDir dir;
  const auto error_with = [&](const std::string& name, const NpzArray& array) {
    NpzFile arrays = FlatArrays(SampleLog({3}));
    arrays.Put(name, array);
    WriteHdf5(arrays, dir / "log");
    try {
      LoadLog(dir / "log");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(error_with("actions", MakeNpzArray(MatrixF::Zero(2, 1))),
              AllOf(HasSubstr("'actions' has 2 rows"), HasSubstr("expected 3")));
  EXPECT_THAT(error_with("observations", MakeNpzArray(MatrixF::Zero(4, 2))),
              HasSubstr("'observations' has 4 rows"));
  EXPECT_THAT(error_with("next_observations", MakeNpzArray(MatrixF::Zero(3, 1))),
              HasSubstr("observations have 2"));
  EXPECT_THAT(error_with("timeouts", MakeNpzArray<std::int64_t>("i8", {3}, {0, 7, 0})),
              HasSubstr("'timeouts' holds 7 in row 1"));
  EXPECT_THAT(error_with("actions", MakeNpzArray<std::int64_t>("i8", {3}, {0, -1, 0})),
              HasSubstr("action -1"));
}

TEST(D4rlLog, BatchesOfAnySizeJoinToTheWholeLog) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 1, 4, 1, 5});
  const std::string path = Flat(dir, log);
  for (const std::int64_t max_steps : {1, 4, 5, 100}) {
    const auto reader = OpenLog(path);
    std::vector<EpisodeBatch> batches;
    for (;;) {
      batches.push_back(reader->Next(max_steps));
      if (batches.back().episodes() == 0) break;
      EXPECT_TRUE(batches.back().episodes() == 1 || batches.back().steps() <= max_steps);
    }
    batches.pop_back();
    ExpectSameLog(ConcatenateEpisodes(batches), log);
  }
}

TEST(ImitationLog, TimeLimitsAreGuessedFromTheLongestLength) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 2, 3});
  NpzFile file;
  file.Put("obs", log.observations);
  file.Put("acts", log.actions);
  file.Put("rews", log.rewards);
  file.Put("indices", std::vector<std::int64_t>{3, 5});
  file.Put("terminal", MakeNpzArray<std::uint8_t>("b1", {3}, {1, 1, 1}));
  file.Write(dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
  EXPECT_THAT(loaded.info.notes,
              ElementsAre(HasSubstr("the 2 episodes of the longest length (3)")));
}

TEST(MappedLog, OffsetsMayLeaveOutTheirEnds) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 2, 4});
  for (const std::vector<std::int64_t>& offsets :
       {std::vector<std::int64_t>{0, 3, 5, 9}, {3, 5, 9}, {0, 3, 5}, {3, 5}}) {
    NpzFile file;
    file.Put("s", log.observations);
    file.Put("a", log.actions);
    file.Put("r", log.rewards);
    file.Put("o", offsets);
    file.Put("d", log.terminated);
    file.Write(dir / "log");
    ExpectSameLog(
        LoadLog(dir / "log", {.map = "obs=s,action=a,reward=r,offsets=o,terminal=d"}).batch, log);
  }
}

TEST(MappedLog, WrongMapsAreConfigErrorsAndMissingKeysAreListed) {
  const TestDir dir;
  NpzFile file;
  file.Put("x", std::vector<double>{1.0});
  file.Write(dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log", {.map = "obs=x"}); },
              ThrowsMessage<ConfigError>(HasSubstr("lacks action=KEY")));
  EXPECT_THAT([&] { LoadLog(dir / "log", {.map = "state=x"}); },
              ThrowsMessage<ConfigError>(HasSubstr("one of obs, action")));
  EXPECT_THAT([&] { LoadLog(dir / "log", {.map = "obs=x,action=y,reward=x"}); },
              ThrowsMessage<DataError>(HasSubstr("'y' is missing; the file holds x")));
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("arrays: x"), HasSubstr("--map"))));
}

double MeanReturn(const EpisodeBatch& log) { return Mean(Returns(log)); }

TEST(RealLogs, ImitationCartPole) {
  const std::string path = SharedData("rl/logged/imitation_cartpole_rollouts.npz");
  if (path.empty()) GTEST_SKIP() << "the shared data is not here";
  const LoadedLog log = LoadLog(path);
  EXPECT_EQ(log.batch.episodes(), 57);
  EXPECT_EQ(log.batch.steps(), 26'964);
  EXPECT_NEAR(MeanReturn(log.batch), 473.05, 0.005);
  EXPECT_EQ(log.info.discrete_actions, 2);
}

TEST(RealLogs, ImitationPendulum) {
  const std::string path = SharedData("rl/logged/imitation_pendulum_rollouts.npz");
  if (path.empty()) GTEST_SKIP() << "the shared data is not here";
  const LoadedLog log = LoadLog(path);
  EXPECT_EQ(log.batch.episodes(), 56);
  EXPECT_EQ(log.batch.steps(), 56 * 200);
  EXPECT_NEAR(MeanReturn(log.batch), -189.40, 0.005);
  EXPECT_THAT(log.batch.terminated, testing::Each(0));
}

TEST(RealLogs, GailReacher) {
  const std::string path = SharedData("rl/logged/gail_experts_Reacher-v1.h5");
  if (path.empty()) GTEST_SKIP() << "the shared data is not here";
  const LoadedLog log = LoadLog(path);
  EXPECT_EQ(log.batch.episodes(), 103);
  EXPECT_EQ(log.counts.file_steps, 103 * 50);
  // the file lacks the observation after each last step
  EXPECT_EQ(log.batch.steps(), 103 * 50);
  EXPECT_EQ(log.batch.Outcomes(0), 49);
  EXPECT_NEAR(log.batch.rewards[0], -0.35216081, 5e-9);
}

// ---- environments that reset themselves, and rows without data

// Observations with noise, so that every row differs from the others.
EpisodeBatch NoisyLog(const std::vector<std::int64_t>& lengths) {
  EpisodeBatch log = SampleLog(lengths);
  for (std::size_t i = 0; i < log.rewards.size(); ++i) log.rewards[i] += 1.0;
  return log;
}

TEST(FlatLog, ANextObservationOfTheNextEpisodeIsNotUsed) {
  const TestDir dir;
  const EpisodeBatch log = NoisyLog({3, 2, 4, 3, 2, 2});
  NpzFile arrays = FlatArrays(log);
  // seamless: the next observation of every row is the observation of the row after it
  MatrixF next(16, 2);
  next.topRows(15) = ToMatrix(arrays.arrays().at("observations"), "x").bottomRows(15);
  next.bottomRows(1).setConstant(5.0f);
  arrays.Put("next_observations", next);
  WriteHdf5(arrays, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 5, 9, 12, 14, 16));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(0, 1, 0, 1, 0, 1));
  EXPECT_THAT(loaded.batch.end_unrecorded, ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_EQ(loaded.counts.reset_ends, 6);
  WriteHdf5(arrays, dir / "log", {"timeouts"});
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(HasSubstr("goes on across resets of the environment")));
}

TEST(FlatLog, PiecesOfOneTrajectoryKeepTheirNextObservations) {
  const TestDir dir;
  EpisodeBatch log = NoisyLog({9});
  NpzFile arrays = FlatArrays(log);
  arrays.Put("timeouts", MakeNpzArray<std::uint8_t>("b1", {9}, {0, 0, 1, 0, 0, 1, 0, 0, 1}));
  WriteHdf5(arrays, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 6, 9));
  EXPECT_EQ(loaded.counts.reset_ends, 0);
}

// Behind every end a row that only resets: the last observation, an action that is ignored, reward
// 0, and the first observation of the next episode as the next one.
NpzFile WithResetRows(const EpisodeBatch& log) {
  const std::int64_t rows = log.steps() + log.episodes();
  MatrixF next(rows, log.obs_dim()), actions(rows, log.action_dim());
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminals, timeouts;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t <= log.Length(e); ++t) {
      const std::int64_t row = log.ObservationRow(e, t), step = row - e;
      const bool reset = t == log.Length(e), last = t + 1 == log.Length(e);
      const bool ended = log.terminated[static_cast<std::size_t>(e)] != 0;
      next.row(row) = log.observations.row(std::min(row + 1, rows - 1));
      actions.row(row) = log.actions.row(reset ? 0 : step);
      rewards.push_back(reset ? 0.0 : log.rewards[static_cast<std::size_t>(step)]);
      terminals.push_back(last && ended ? 1 : 0);
      timeouts.push_back(last && !ended ? 1 : 0);
    }
  }
  NpzFile file;
  file.Put("observations", log.observations);
  file.Put("next_observations", next);
  file.Put("actions", actions);
  file.Put("rewards", rewards);
  file.Put("terminals", MakeNpzArray("b1", {rows}, terminals));
  file.Put("timeouts", MakeNpzArray("b1", {rows}, timeouts));
  return file;
}

TEST(FlatLog, RowsThatOnlyResetAreLastObservationsAndNoSteps) {
  const TestDir dir;
  const EpisodeBatch log = NoisyLog({3, 2, 4, 3});
  for (const std::vector<std::string>& without :
       {std::vector<std::string>{}, {"next_observations"}}) {
    WriteHdf5(WithResetRows(log), dir / "log", without);
    const LoadedLog loaded = LoadLog(dir / "log");
    ExpectSameLog(loaded.batch, log);
    EXPECT_EQ(loaded.counts.reset_steps, 4);
    EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("4 rows after ends")));
  }
}

TEST(FlatLog, AFirstRewardOfZeroIsNoReset) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({3, 3, 3, 3, 3});
  NpzFile arrays = FlatArrays(log);
  std::vector<double> rewards;
  for (std::size_t i = 0; i < 15; ++i) rewards.push_back(i % 3 == 0 ? 0.0 : 1.0);
  arrays.Put("rewards", rewards);
  WriteHdf5(arrays, dir / "log");
  EXPECT_EQ(LoadLog(dir / "log").batch.steps(), 15);
  EXPECT_EQ(LoadLog(dir / "log").counts.reset_steps, 0);
}

TEST(FlatLog, RowsOfZerosBehindTheDataAreLeftOut) {
  const TestDir dir;
  const EpisodeBatch log = NoisyLog({3, 2});
  NpzFile file;
  const NpzFile whole = FlatArrays(log);
  for (const auto& [name, array] : whole.arrays()) {
    NpzArray longer = array;
    longer.bytes.resize(array.bytes.size() / 5 * 9, std::byte{0});
    longer.shape[0] = 9;
    file.Put(name, longer);
  }
  file.Write(dir / "log");
  LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
  EXPECT_EQ(loaded.counts.padding_steps, 4);
  // a buffer that says how much of it is filled
  file.Put("size", std::vector<std::int64_t>{3});
  file.Write(dir / "log");
  loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3));
  EXPECT_EQ(loaded.counts.padding_steps, 6);
}

// The arrays with their rows turned: the last `count` rows come first.
NpzFile Turned(const NpzFile& arrays, std::int64_t count) {
  NpzFile out;
  for (const auto& [name, array] : arrays.arrays()) {
    NpzArray turned = array;
    const auto row = std::ssize(array.bytes) / array.shape[0];
    std::rotate(turned.bytes.begin(), turned.bytes.end() - count * row, turned.bytes.end());
    out.Put(name, turned);
  }
  return out;
}

TEST(FlatLog, ARingBufferThatWasFilledAgainIsCutWhereItWraps) {
  const TestDir dir;
  // the newest row is the first one of the last episode, of which no more was written; the oldest
  // is the second one of the first episode, whose beginning it took the place of
  const EpisodeBatch log = NoisyLog({3, 2, 4, 5});
  NpzFile cut;
  const NpzFile whole = FlatArrays(log);
  for (const auto& [name, array] : whole.arrays()) {
    NpzArray part = array;
    const auto row = std::ssize(array.bytes) / array.shape[0];
    part.shape[0] = 9;
    part.bytes.assign(array.bytes.begin() + row, array.bytes.begin() + 10 * row);
    cut.Put(name, part);
  }
  Turned(cut, 3).Write(dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 2, 3, 5, 7, 9));
  EXPECT_EQ(loaded.counts.continuity_broken, 0);
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("do not continue at row 3")));
}

// Steps of NoisyLog({3, 2, 4}) without next observations.
NpzFile WithoutNext(const NpzFile& flat) {
  NpzFile out;
  for (const auto& [name, array] : flat.arrays()) {
    if (name != "next_observations") out.Put(name, array);
  }
  return out;
}

TEST(FlatLog, ARingBufferWithoutNextObservationsIsCutAtTheRowThatItNames) {
  const TestDir dir;
  // of the first episode the second row is the newest of all, the third one the oldest
  NpzFile file = WithoutNext(FlatArrays(NoisyLog({3, 2, 4})));
  file.Put("pos", std::vector<std::int64_t>{2});
  file.Write(dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 2, 3, 5, 9));
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("row 2 as the oldest of a ring buffer")));
  // a buffer that is not full holds nothing from there on
  file.Put("full", std::vector<std::int64_t>{0});
  file.Write(dir / "log");
  EXPECT_THAT(LoadLog(dir / "log").batch.offsets, ElementsAre(0, 2));
}

TEST(FlatLog, LengthsOfEpisodesTellWhereTheyEnd) {
  const TestDir dir;
  const NpzFile whole = FlatArrays(NoisyLog({3, 2}));
  NpzFile file;
  for (const char* name : {"observations", "actions", "rewards"}) {
    file.Put(name, whole.arrays().at(name));
  }
  file.Put("episode_lengths", std::vector<std::int64_t>{3, 2});
  file.Write(dir / "log");
  EXPECT_THAT(LoadLog(dir / "log").batch.offsets, ElementsAre(0, 3, 5));
  file.Put("terminals", std::vector<std::int64_t>{0, 0, 1, 0, 0});
  file.Write(dir / "log");
  EXPECT_THAT(LoadLog(dir / "log").batch.terminated, ElementsAre(1, 0));
  file.Put("terminals", std::vector<std::int64_t>{0, 1, 0, 0, 0});
  file.Write(dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(HasSubstr("is set in row 1, inside episode 0 (rows 0 to 2) "
                                                 "that 'episode_lengths' gives")));
}

TEST(FlatLog, LengthsThatDoNotAddUpToTheRowsAreRefusedUnlessFlagsTell) {
  const TestDir dir;
  const NpzFile whole = FlatArrays(NoisyLog({3, 2}));
  NpzFile file;
  for (const char* name : {"observations", "actions", "rewards"}) {
    file.Put(name, whole.arrays().at(name));
  }
  file.Put("ep_len", std::vector<std::int64_t>{3, 2, 4});
  file.Write(dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("array 'ep_len' adds up to 9 steps"),
                                             HasSubstr("rewards has 5"), HasSubstr("save"))));
  file.Put("terminals", whole.arrays().at("terminals"));
  file.Put("timeouts", whole.arrays().at("timeouts"));
  file.Write(dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 5));
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("'ep_len' adds up to 9 steps")));
}

TEST(FlatLog, WithoutAnythingThatMarksEndsItIsRefused) {
  const TestDir dir;
  const NpzFile whole = FlatArrays(NoisyLog({3, 2}));
  NpzFile file;
  for (const char* name : {"observations", "actions", "rewards"}) {
    file.Put(name, whole.arrays().at(name));
  }
  file.Put("finished", std::vector<std::int64_t>{0, 0, 1, 0, 1});
  file.Write(dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("nothing says where episodes end"), HasSubstr("finished"))));
}

TEST(FlatLog, MasksBesideFlagsOfAllEndsTellWhichTerminated) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(NoisyLog({3, 2}));
  arrays.Put("terminals", MakeNpzArray<std::uint8_t>("b1", {5}, {0, 0, 1, 0, 1}));
  arrays.Put("masks", MakeNpzArray<float>("f4", {5}, {1, 1, 1, 1, 0}));
  WriteHdf5(arrays, dir / "log", {"timeouts"});
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_THAT(loaded.batch.offsets, ElementsAre(0, 3, 5));
  EXPECT_THAT(loaded.batch.terminated, ElementsAre(0, 1));
  arrays.Put("masks", MakeNpzArray<float>("f4", {5}, {1, 0, 1, 1, 0}));
  WriteHdf5(arrays, dir / "log", {"timeouts"});
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(HasSubstr("are both 0 in row 1")));
}

TEST(FlatLog, ArraysOfOneValueAStepThatAreNotUsedAreNoted) {
  const TestDir dir;
  NpzFile arrays = FlatArrays(NoisyLog({3, 2}));
  arrays.Put("weather", std::vector<double>(5));
  WriteHdf5(arrays, dir / "log");
  EXPECT_THAT(LoadLog(dir / "log").info.notes,
              Contains("arrays of one value a step that were not used: weather"));
}

TEST(FlatLog, EpisodesThatOccurTwiceCountOnce) {
  const TestDir dir;
  EpisodeBatch log = NoisyLog({3, 2});
  log.observations.array() += 0.12345f;
  const std::vector<std::int64_t> order = {0, 1, 0};
  WriteHdf5(FlatArrays(SelectEpisodes(log, order)), dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
  EXPECT_THAT(loaded.info.notes, Contains(HasSubstr("1 episodes repeat an earlier one")));
}

}  // namespace
}  // namespace lfiw::core
