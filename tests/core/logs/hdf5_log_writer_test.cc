#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/arrays/hdf5.h"
#include "core/logs/log_writers.h"
#include "core/run/atomic_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Pair;

EpisodeBatch WithInfos() {
  EpisodeBatch log = SampleLog({2, 1});
  log.aux = MatrixF{{0.5f}, {1.5f}, {2.5f}};
  log.behavior_log_density = {-1.0, -2.0, -3.0};
  return log;
}

void Write(LogWriter& writer, const EpisodeBatch& log) {
  writer.Append(log);
  writer.Finish();
}

TEST(D4rlLogWriter, StepsOfAllEpisodesLieOneAfterTheOther) {
  const TestDir dir;
  Write(*CreateD4rlLog(dir / "a.hdf5", {.environment = "Swimmer"}), WithInfos());
  const NpzFile file = ReadHdf5Group(dir / "a.hdf5", "");
  EXPECT_EQ(file.GetMatrix("observations"), (MatrixF{{0.0f, 0.0f}, {1.0f, -1.0f}, {100.0f, 0.0f}}));
  EXPECT_EQ(file.GetMatrix("next_observations"),
            (MatrixF{{1.0f, -1.0f}, {2.0f, -2.0f}, {101.0f, -1.0f}}));
  EXPECT_THAT(file.GetDoubles("rewards"), ElementsAre(0, 1, 10));
  EXPECT_THAT(file.GetDoubles("infos/aux"), ElementsAre(0.5, 1.5, 2.5));
  EXPECT_THAT(file.GetDoubles("infos/action_log_probs"), ElementsAre(-1, -2, -3));
  EXPECT_EQ(file.arrays().at("terminals").type, "b1");
  EXPECT_THAT(file.GetIntegers("terminals"), ElementsAre(0, 0, 1));
  EXPECT_THAT(file.GetIntegers("timeouts"), ElementsAre(0, 1, 0));
  EXPECT_THAT(OpenHdf5(dir / "a.hdf5")->attributes(), ElementsAre(Pair("environment", "Swimmer")));
}

TEST(D4rlLogWriter, DiscreteActionsAreWholeNumbersWithTheirCount) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({2});
  log.actions = MatrixF{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}};
  Write(*CreateD4rlLog(dir / "a.hdf5", {.discrete_actions = 3}), log);
  EXPECT_THAT(ReadHdf5Group(dir / "a.hdf5", "").GetIntegers("actions"), ElementsAre(2, 0));
  EXPECT_THAT(OpenHdf5(dir / "a.hdf5")->attributes(), ElementsAre(Pair("discrete_actions", "3")));
}

TEST(MinariLogWriter, EachEpisodeIsAGroupWithItsLastObservation) {
  const TestDir dir;
  Write(*CreateMinariLog(dir / "set/", {}), WithInfos());
  const std::string path = dir / "set/data/main_data.hdf5";
  const NpzFile first = ReadHdf5Group(path, "episode_0");
  EXPECT_EQ(first.GetMatrix("observations"), (MatrixF{{0.0f, 0.0f}, {1.0f, -1.0f}, {2.0f, -2.0f}}));
  EXPECT_THAT(first.GetIntegers("truncations"), ElementsAre(0, 1));
  EXPECT_THAT(first.GetIntegers("terminations"), ElementsAre(0, 0));
  const NpzFile second = ReadHdf5Group(path, "episode_1");
  EXPECT_THAT(second.GetIntegers("terminations"), ElementsAre(1));
  // infos begin with one of the reset, which no step has
  EXPECT_THAT(second.GetDoubles("infos/aux"), ElementsAre(0, 2.5));
  EXPECT_THAT(second.GetDoubles("infos/behavior_log_density"), ElementsAre(0, -3));
  EXPECT_THAT(OpenHdf5(path)->attributes(),
              IsSupersetOf({Pair("episode_0@total_steps", "2"), Pair("episode_1@id", "1")}));
}

TEST(MinariLogWriter, MetadataStatesTheSpacesAsJsonTexts) {
  const TestDir dir;
  EpisodeBatch log = SampleLog({2});
  log.actions = MatrixF{{0.0f, 1.0f}, {1.0f, 0.0f}};
  Write(*CreateMinariLog(dir / "set", {.environment = "E", .discrete_actions = 2}), log);
  const auto metadata = nlohmann::json::parse(ReadFile(dir / "set/data/metadata.json"));
  EXPECT_EQ(metadata["environment"], "E");
  EXPECT_EQ(metadata["dataset_id"], "set-v0");
  const auto actions = nlohmann::json::parse(metadata["action_space"].get<std::string>());
  EXPECT_EQ(actions["type"], "Discrete");
  EXPECT_EQ(actions["n"], 2);
  EXPECT_EQ(metadata["observation_space"],
            R"({"type": "Box", "dtype": "float32", "shape": [2], "low": [-Infinity, -Infinity], )"
            R"("high": [Infinity, Infinity]})");
}

}  // namespace
}  // namespace lfiw::core
