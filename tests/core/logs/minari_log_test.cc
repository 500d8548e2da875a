#include "core/logs/minari_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// The arrays of episode `e` of a batch under `group`.
void PutEpisode(const EpisodeBatch& log, std::int64_t e, const std::string& group, NpzFile& file) {
  const std::int64_t length = log.Length(e);
  const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
  file.Put(group + "/observations",
           MatrixF(log.observations.middleRows(log.ObservationRow(e, 0), length + 1)));
  file.Put(group + "/actions", MatrixF(log.actions.middleRows(first, length)));
  file.Put(group + "/rewards",
           std::vector<double>(log.rewards.begin() + first, log.rewards.begin() + first + length));
  std::vector<std::uint8_t> ended(static_cast<std::size_t>(length), 0);
  std::vector<std::uint8_t> cut = ended;
  (log.terminated[static_cast<std::size_t>(e)] != 0 ? ended : cut).back() = 1;
  file.Put(group + "/terminations", MakeNpzArray("b1", {length}, ended));
  file.Put(group + "/truncations", MakeNpzArray("b1", {length}, cut));
}

NpzFile MinariArrays(const EpisodeBatch& log) {
  NpzFile file;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    PutEpisode(log, e, "episode_" + std::to_string(e), file);
  }
  return file;
}

// Conformance case C21.
TEST(MinariLog, EpisodesComeInNumericOrderWithTheirLastObservation) {
  const TestDir dir;
  const EpisodeBatch log = SampleLog({2, 1, 3, 1, 1, 1, 1, 1, 1, 1, 2, 1});
  WriteHdf5(MinariArrays(log), dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  ExpectSameLog(loaded.batch, log);
  EXPECT_EQ(loaded.info.format, "Minari");
}

TEST(MinariLog, SeveralEnvironmentsInOneEpisodeAreRefused) {
  const TestDir dir;
  NpzFile file = MinariArrays(SampleLog({2, 2}));
  file.Put("episode_0/rewards", MatrixF::Ones(2, 4).eval());
  WriteHdf5(file, dir / "log");
  EXPECT_THAT([&] { LoadLog(dir / "log"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("shape [2, 4]"), HasSubstr("write one episode each"))));
}

TEST(MinariLog, TheFilesOfADirectoryAreItsDataAndItsMetadata) {
  const TestDir dir;
  std::filesystem::create_directories(dir / "set/data");
  WriteFileAtomically(dir / "set/data/main_data.hdf5", "x");
  EXPECT_THAT(LogFiles(dir / "set"), ElementsAre(dir / "set/data/main_data.hdf5"));
  WriteFileAtomically(dir / "set/data/metadata.json", "{}");
  EXPECT_THAT(LogFiles(dir / "set"),
              ElementsAre(dir / "set/data/main_data.hdf5", dir / "set/data/metadata.json"));
  EXPECT_THAT([&] { LogFiles(dir / "none"); }, ThrowsMessage<DataError>(HasSubstr("No such file")));
  std::filesystem::create_directories(dir / "arrow/data/0");
  WriteFileAtomically(dir / "arrow/data/0/data.arrow", "x");
  EXPECT_THAT([&] { LogFiles(dir / "arrow"); }, ThrowsMessage<DataError>(HasSubstr("Arrow's")));
}

TEST(MinariLog, DirectoryAndIdBelowTheDatasetsPathAreFound) {
  const TestDir dir;
  std::filesystem::create_directories(dir / "mujoco/swimmer/expert-v0/data");
  const EpisodeBatch log = SampleLog({2});
  WriteHdf5(MinariArrays(log), dir / "mujoco/swimmer/expert-v0/data/main_data.hdf5");
  WriteFileAtomically(dir / "mujoco/swimmer/expert-v0/data/metadata.json",
                      R"({"env_spec": "{\"id\": \"Swimmer-v5\"}", "total_episodes": 1})");
  EXPECT_EQ(LoadLog(dir / "mujoco/swimmer/expert-v0").info.environment, "Swimmer-v5");
  setenv("MINARI_DATASETS_PATH", dir.path().c_str(), 1);
  ExpectSameLog(LoadLog("mujoco/swimmer/expert-v0").batch, log);
  unsetenv("MINARI_DATASETS_PATH");
}

TEST(MinariLog, ArgumentsOfTheEnvironmentFollowItsNameButThoseOfDrawing) {
  const TestDir dir;
  WriteHdf5(MinariArrays(SampleLog({2})), dir / "main_data.hdf5");
  WriteFileAtomically(
      dir / "metadata.json",
      R"({"env_spec": "{\"id\": \"Hopper-v5\", \"kwargs\": {\"render_mode\": \"human\", )"
      R"(\"terminate_when_unhealthy\": false, \"healthy_z_range\": [0.8, 2.0]}}"})");
  EXPECT_EQ(LoadLog(dir.path()).info.environment,
            "Hopper-v5:healthy_z_range=[0.8,2.0]:terminate_when_unhealthy=false");
}

TEST(MinariLog, DiscreteSpacesWithAnyStartBecomeOneHot) {
  const TestDir dir;
  NpzFile file = MinariArrays(SampleLog({3}));
  file.Put("episode_0/actions", std::vector<std::int64_t>{5, 7, 6});
  WriteHdf5(file, dir / "main_data.hdf5");
  WriteFileAtomically(dir / "metadata.json",
                      R"({"action_space": "{\"type\": \"Discrete\", \"n\": 4, \"start\": 5}"})");
  const LoadedLog loaded = LoadLog(dir.path());
  EXPECT_EQ(loaded.info.discrete_actions, 4);
  EXPECT_EQ(
      loaded.batch.actions,
      (MatrixF{{1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 0.0f, 1.0f, 0.0f}, {0.0f, 1.0f, 0.0f, 0.0f}}));
  file.Put("episode_0/actions", std::vector<std::int64_t>{5, 9, 6});
  WriteHdf5(file, dir / "main_data.hdf5");
  EXPECT_THAT([&] { LoadLog(dir.path()); },
              ThrowsMessage<DataError>(HasSubstr("9 in row 1, expected 5 to 8")));
}

TEST(MinariLog, DictAndTupleObservationsAreFlattenedInTheStatedOrder) {
  const TestDir dir;
  NpzFile file;
  PutEpisode(SampleLog({1}), 0, "episode_0", file);
  NpzFile nested;
  for (const auto& [name, array] : file.arrays()) {
    if (name != "episode_0/observations") nested.Put(name, array);
  }
  const std::string root = "episode_0/observations/";
  nested.Put(root + "position", MatrixF{{1.0f}, {2.0f}});
  for (const int k : {0, 2, 10}) {
    const float value = static_cast<float>(k);
    nested.Put(root + "goal/_index_" + std::to_string(k), MatrixF{{value}, {value}});
  }
  WriteHdf5(nested, dir / "log");
  const LoadedLog loaded = LoadLog(dir / "log");
  EXPECT_EQ(loaded.batch.observations,
            (MatrixF{{0.0f, 2.0f, 10.0f, 1.0f}, {0.0f, 2.0f, 10.0f, 2.0f}}));
  EXPECT_THAT(loaded.info.notes,
              Contains(HasSubstr("goal/_index_0 (1), goal/_index_2 (1), goal/_index_10 (1), "
                                 "position (1)")));
}

TEST(MinariLog, PositionsOfTheInfosGiveAuxForEveryStep) {
  const TestDir dir;
  NpzFile file = MinariArrays(SampleLog({2}));
  file.Put("episode_0/infos/x_position", std::vector<double>{0.0, 1.0, 3.0});
  WriteHdf5(file, dir / "log");
  EXPECT_EQ(LoadLog(dir / "log", {.position_step_seconds = 0.5}).batch.aux,
            (MatrixF{{2.0f}, {4.0f}}));
}

TEST(MinariLog, AMissingOrContradictoryArrayNamesTheEpisode) {
  const TestDir dir;
  NpzFile file = MinariArrays(SampleLog({2, 3}));
  WriteHdf5(file, dir / "a", {"episode_1/rewards"});
  EXPECT_THAT([&] { LoadLog(dir / "a"); },
              ThrowsMessage<DataError>(HasSubstr("'episode_1/rewards' is missing")));
  file.Put("episode_1/terminations", MakeNpzArray<std::uint8_t>("b1", {3}, {1, 0, 0}));
  WriteHdf5(file, dir / "b");
  EXPECT_THAT([&] { LoadLog(dir / "b"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("episode_1/terminations"), HasSubstr("set at step 0 of 3"))));
  file = MinariArrays(SampleLog({2, 3}));
  file.Put("episode_1/observations", MatrixF(MatrixF::Zero(7, 2)));
  WriteHdf5(file, dir / "c");
  EXPECT_THAT([&] { LoadLog(dir / "c"); },
              ThrowsMessage<DataError>(HasSubstr("episode 1: 7 observations of 3 steps")));
}

}  // namespace
}  // namespace lfiw::core
