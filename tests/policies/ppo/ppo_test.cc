#include "policies/ppo/ppo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "policies/collect.h"
#include "tests/core/test_dir.h"
#include "tests/policies/fake_env.h"

namespace lfiw::policies {
namespace {

using ::testing::HasSubstr;

PpoOptions SmallOptions(std::int64_t updates) {
  PpoOptions options;
  options.rollout_steps = 256;
  options.total_steps = 256 * updates;
  options.minibatches = 4;
  options.epochs = 4;
  options.hidden = {16, 16};
  options.learning_rate = 3e-3;
  return options;
}

// The bytes of a policy's arrays, origin included.
std::map<std::string, std::vector<std::byte>> Bytes(const GaussianMlpPolicy& policy) {
  NpzFile file;
  policy.Put("", file);
  std::map<std::string, std::vector<std::byte>> bytes;
  for (const auto& [name, array] : file.arrays()) bytes[name] = array.bytes;
  return bytes;
}

// Asks for an interrupt once the given number of environment steps is done.
class InterruptAfter final : public Progress {
 public:
  explicit InterruptAfter(std::int64_t steps) : steps_(steps) {}
  ~InterruptAfter() override { InterruptRequested() = false; }
  void Advance(std::int64_t done) override {
    steps_ -= done;
    InterruptRequested() = steps_ == 0;
  }
  void Note(const std::string& /*text*/) override {}

 private:
  std::int64_t steps_;
};

TEST(TrainPpo, LearnsToReachTheGoal) {
  const PointFactory factory;
  const PpoResult result = TrainPpo(factory, SmallOptions(80), 0);
  const double early = result.history[1].mean_return, late = result.history.back().mean_return;
  EXPECT_LT(early, -15.0);
  EXPECT_GT(late, 0.3 * early);
  EXPECT_EQ(result.history.back().mean_length, 40.0);
  // the frozen policy is as good as training said
  const MonteCarloEstimate value =
      MonteCarloValue(factory, result.policy, {.episodes = 100, .horizon = 40}, 1.0);
  EXPECT_NEAR(value.value, late, 5.0 * value.standard_error + 0.1 * std::abs(late));
}

TEST(TrainPpo, SameSeedGivesTheSameBytesAndAnotherSeedDoesNot) {
  const PointFactory factory;
  const auto first = Bytes(TrainPpo(factory, SmallOptions(4), 1).policy);
  EXPECT_EQ(Bytes(TrainPpo(factory, SmallOptions(4), 1).policy), first);
  EXPECT_NE(Bytes(TrainPpo(factory, SmallOptions(4), 2).policy), first);
}

TEST(TrainPpo, ResumedRunGivesTheBytesOfAnUndisturbedOne) {
  const PointFactory factory;
  PpoOptions options = SmallOptions(7);
  options.snapshots = {512, 1500};
  const PpoResult undisturbed = TrainPpo(factory, options, 3);

  // 256 is no multiple of the episode length, so the interrupt falls inside an episode
  const std::string path = TestFile("resume.npz");
  for (const std::int64_t updates : {3, 5}) {
    InterruptAfter interrupt(256 * updates);
    EXPECT_THROW(TrainPpo(factory, options, 3, {.checkpoint = path, .progress = &interrupt}),
                 Interrupted);
  }
  const PpoResult resumed = TrainPpo(factory, options, 3, {.checkpoint = path});
  EXPECT_EQ(Bytes(resumed.policy), Bytes(undisturbed.policy));
  ASSERT_EQ(resumed.snapshots.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(Bytes(resumed.snapshots[i].policy), Bytes(undisturbed.snapshots[i].policy));
  }
  ASSERT_EQ(resumed.history.size(), undisturbed.history.size());
  for (std::size_t i = 0; i < resumed.history.size(); ++i) {
    EXPECT_EQ(resumed.history[i].mean_return, undisturbed.history[i].mean_return);
    EXPECT_EQ(resumed.history[i].policy_loss, undisturbed.history[i].policy_loss);
  }
  // the finished run is read back
  EXPECT_EQ(Bytes(TrainPpo(factory, options, 3, {.checkpoint = path}).policy),
            Bytes(undisturbed.policy));
}

TEST(TrainPpo, SnapshotIsThePolicyOfThatStep) {
  const PointFactory factory;
  PpoOptions options = SmallOptions(6);
  options.snapshots = {0, 256 * 2 + 100, 256 * 6};
  const PpoResult result = TrainPpo(factory, options, 4);
  ASSERT_EQ(result.snapshots.size(), 3u);
  EXPECT_EQ(result.snapshots[1].steps, 612);

  // interrupted after two updates, a run without snapshots leaves the same network
  const std::string path = TestFile("snapshot.npz");
  options.snapshots = {256 * 2};
  InterruptAfter interrupt(256 * 2);
  EXPECT_THROW(TrainPpo(factory, options, 4, {.checkpoint = path, .progress = &interrupt}),
               Interrupted);
  const NpzFile file = NpzFile::Read(path);
  const VectorF& parameters = result.snapshots[1].policy.parameters();
  EXPECT_EQ(file.GetVector("parameters").head(parameters.size()), parameters);
  const VectorD& mean = result.snapshots[1].policy.normalizer().mean();
  EXPECT_EQ(file.GetDoubles("observation_mean"), std::vector<double>(mean.begin(), mean.end()));

  EXPECT_EQ(result.snapshots[2].policy.parameters(), result.policy.parameters());
  EXPECT_NE(result.snapshots[0].policy.parameters(), result.policy.parameters());
}

TEST(TrainPpo, EarlyTerminationShortensEpisodes) {
  const PointFactory factory({.wall = 1.2});
  const PpoResult result = TrainPpo(factory, SmallOptions(1), 0);
  EXPECT_LT(result.history[0].mean_length, 40.0);
}

TEST(TrainPpo, OptionsThatDoNotFitTogetherAreRefused) {
  const PointFactory factory;
  PpoOptions minibatches = SmallOptions(2);
  minibatches.minibatches = 5;
  EXPECT_THROW(TrainPpo(factory, minibatches, 0), ConfigError);
  PpoOptions steps = SmallOptions(2);
  steps.total_steps = 100;
  EXPECT_THROW(TrainPpo(factory, steps, 0), ConfigError);
  PpoOptions snapshots = SmallOptions(2);
  snapshots.snapshots = {513};
  EXPECT_THROW(TrainPpo(factory, snapshots, 0), ConfigError);
}

TEST(TrainPpo, UnstablePhysicsNamesTheStep) {
  const PointFactory factory({.cliff = 1.5});
  try {
    TrainPpo(factory, SmallOptions(10), 0);
    FAIL() << "no error";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), HasSubstr("environment step"));
  }
}

}  // namespace
}  // namespace lfiw::policies
