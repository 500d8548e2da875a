#include "policies/ppo/ppo_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "tests/core/test_dir.h"

namespace lfiw::policies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

PpoState MakeState() {
  PpoState state(2);
  state.update = 2;
  state.learner = {VectorF{{1.0f, 2.0f}}, {640, VectorF{{3.0f, 4.0f}}, VectorF{{5.0f, 6.0f}}}};
  state.observation_moments.Add(std::vector<double>{0.1, 1.0 / 3.0});
  state.return_moments.Add(std::vector<double>{-4.5});
  state.discounted_return = 0.7;
  state.episode = 11;
  state.episode_steps = 12;
  state.episode_return = -13.25;
  state.env = {0.1, 0.2, 0.3};
  state.observation = VectorF{{-1.0f, 9.0f}};
  state.recent_returns = {100.0, 101.5};
  state.recent_lengths = {40.0, 40.0};
  state.history = {{.steps = 2048, .mean_return = 1.5, .steps_per_second = 7.0},
                   {.steps = 4096, .entropy = 2.5, .clip_fraction = 0.25}};
  TanhMlp mlp({2, 4, 1});
  state.snapshots.push_back(
      {2048, GaussianMlpPolicy(mlp, VectorF::Zero(mlp.parameter_count()), VectorF{{0.5f}},
                               ObservationNormalizer(2), "early")});
  return state;
}

TEST(PpoState, LoadGivesWhatWasSaved) {
  const std::string first = TestFile("first.npz"), second = TestFile("second.npz");
  SavePpoState(first, "run", MakeState());
  const PpoState state = LoadPpoState(first, "run", 2);
  EXPECT_EQ(state.update, 2);
  EXPECT_EQ(state.learner.optimizer.steps, 640);
  EXPECT_EQ(state.observation, MakeState().observation);
  EXPECT_EQ(state.history[1].clip_fraction, 0.25);
  EXPECT_THAT(state.snapshots[0].policy.Description(), HasSubstr("early"));

  // saving it again gives the same arrays, so nothing was lost
  SavePpoState(second, "run", state);
  const NpzFile a = NpzFile::Read(first), b = NpzFile::Read(second);
  ASSERT_EQ(a.arrays().size(), b.arrays().size());
  for (const auto& [name, array] : a.arrays()) {
    EXPECT_EQ(array.bytes, b.arrays().at(name).bytes) << name;
    EXPECT_EQ(array.shape, b.arrays().at(name).shape) << name;
  }
}

TEST(PpoState, CheckpointOfAnotherRunIsRefused) {
  const std::string path = TestFile("other.npz");
  PpoOptions options;
  SavePpoState(path, DescribePpoRun("Swimmer", options, 0), MakeState());
  options.discount = 0.995;
  try {
    LoadPpoState(path, DescribePpoRun("Swimmer", options, 0), 2);
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("\"discount\":0.99,"),
                                    HasSubstr("\"discount\":0.995,")));
  }
  EXPECT_THROW(LoadPpoState(path, DescribePpoRun("Swimmer", PpoOptions(), 1), 2), ConfigError);
}

TEST(PpoState, FileThatIsNoCheckpointIsRefused) {
  const std::string path = TestFile("policy.npz");
  NpzFile file;
  file.Put("rewards", std::vector<double>{1.0});
  file.Write(path);
  EXPECT_THROW(LoadPpoState(path, "run", 2), DataError);
}

TEST(DescribePpoRun, NamesEveryOption) {
  EXPECT_THAT(DescribePpoRun("Swimmer", PpoOptions(), 5),
              AllOf(HasSubstr("Swimmer"), HasSubstr("seed 5"), HasSubstr("\"gae_lambda\":0.95"),
                    HasSubstr("\"hidden\":[64,64]")));
}

}  // namespace
}  // namespace lfiw::policies
