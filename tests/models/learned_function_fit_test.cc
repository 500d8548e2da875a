#include "models/learned_function_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/core/test_dir.h"
#include "tests/models/linear_log.h"
#include "tests/models/walk_log.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

LearnedFunctionOptions SmallFunction() {
  LearnedFunctionOptions options;
  options.members = 2;
  options.network = {
      .hidden_layers = 2, .width = 32, .activation = Activation::kSilu, .precision = {}};
  options.fit.steps = 60;
  options.fit.batch = 64;
  options.fit.validate_every = 20;
  options.fit.adam.learning_rate = 5e-3;
  return options;
}

LearnedFunctionOptions Longer() {
  LearnedFunctionOptions options = SmallFunction();
  options.fit.steps = 2000;
  options.fit.validate_every = 200;
  return options;
}

std::vector<double> Predict(const LearnedFunction& function, const EpisodeBatch& log) {
  const Transitions data = GatherTransitions(log, Range(log.episodes()));
  std::vector<double> values(static_cast<std::size_t>(data.size()));
  function.Predict(data.states, data.actions, data.next_states, values);
  return values;
}

TEST(FitReward, LearnsDisplacementAndQuadraticCost) {
  const EpisodeBatch log = WalkLog(100, 50, kNoLimit, QuadraticReward, 1);
  const auto [function, summary] = FitReward(log, Range(100), Longer(), 7);
  EXPECT_EQ(function.members(), 2);
  EXPECT_EQ(summary.train_episodes, 90);
  EXPECT_EQ(summary.held_out_episodes, 10);
  EXPECT_EQ(summary.held_out_steps, 500);
  // rewards have a standard deviation of 4.3
  EXPECT_LT(summary.rmse, 0.15);
  EXPECT_LT(std::abs(summary.mean_error), 0.05);
  EXPECT_GT(*summary.r2, 0.998);

  const EpisodeBatch fresh = WalkLog(20, 50, kNoLimit, QuadraticReward, 2);
  const auto values = Predict(function, fresh);
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += std::pow(values[i] - fresh.rewards[i], 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(values.size())), 0.15);
}

// The reward of even episodes is 0 and of odd ones 1, whatever happens in them, so that a member
// can only know the reward of the episodes that it has seen.
TEST(FitReward, MembersThatSkipAnEpisodeKnowNothingOfItsRewards) {
  EpisodeBatch log = WalkLog(40, 20, kNoLimit, QuadraticReward, 1);
  std::vector<std::vector<std::int64_t>> skipped(2);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    skipped[static_cast<std::size_t>(e % 2)].push_back(e);
    const auto begin = log.rewards.begin() + log.offsets[static_cast<std::size_t>(e)];
    std::fill(begin, begin + log.Length(e), static_cast<double>(e % 2));
  }
  const TestDir dir;
  const auto [fitted, summary] = FitReward(log, Range(40), Longer(), 7, {}, skipped);
  const std::string path = dir.path() + "/reward.npz";
  fitted.Save(path);
  for (const LearnedFunction& function : {fitted, LearnedFunction::Load(path)}) {
    for (const double value : Predict(*function.WithoutSeen(0), log)) EXPECT_NEAR(value, 1.0, 0.2);
    for (const double value : Predict(*function.WithoutSeen(1), log)) EXPECT_NEAR(value, 0.0, 0.2);
    EXPECT_EQ(function.WithoutSeen(40), nullptr);  // seen by none
  }
}

TEST(FitTermination, MembersThatWouldSeeNoEndSkipNothing) {
  const EpisodeBatch log = WalkLog(60, 50, kWalkLimit, QuadraticReward, 1);
  std::vector<std::vector<std::int64_t>> skipped(2);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    skipped[log.terminated[static_cast<std::size_t>(e)] != 0 ? 0 : 1].push_back(e);
  }
  const auto [function, summary] = FitTermination(log, Range(60), SmallFunction(), 7, {}, skipped);
  EXPECT_EQ(function.WithoutSeen(skipped[0].front()), nullptr);
  EXPECT_EQ(function.WithoutSeen(skipped[1].front()), nullptr);
}

TEST(FitReward, ConstantRewardIsLearnedExactly) {
  const auto tenth = [](double, double, double) { return 0.1; };
  const EpisodeBatch log = WalkLog(10, 20, kNoLimit, tenth, 1);
  const auto [function, summary] = FitReward(log, Range(10), SmallFunction(), 7);
  for (const double value : Predict(function, log)) EXPECT_EQ(value, 0.1);
  EXPECT_EQ(summary.rmse, 0.0);
  EXPECT_FALSE(summary.r2.has_value());
  EXPECT_TRUE(summary.members.empty());
}

TEST(FitReward, MembersDiffer) {
  const EpisodeBatch log = WalkLog(10, 20, kNoLimit, QuadraticReward, 1);
  const auto fit = FitReward(log, Range(10), SmallFunction(), 7);
  EXPECT_NE(fit.summary.members[0].best_validation_loss,
            fit.summary.members[1].best_validation_loss);
}

TEST(FitReward, UsesTheListedEpisodesOnly) {
  EpisodeBatch log = WalkLog(10, 20, kNoLimit, QuadraticReward, 1);
  const auto before = FitReward(log, Range(8), SmallFunction(), 7);
  std::fill(log.rewards.begin() + 160, log.rewards.end(), 1e6);
  log.observations.bottomRows(42).setConstant(1e6f);
  const auto after = FitReward(log, Range(8), SmallFunction(), 7);
  EXPECT_EQ(before.summary.rmse, after.summary.rmse);
}

TEST(FitReward, SameBytesForAnyNumberOfThreads) {
  const EpisodeBatch log = WalkLog(10, 20, kNoLimit, QuadraticReward, 1);
  SetThreads(1);
  const auto one = FitReward(log, Range(10), SmallFunction(), 7);
  SetThreads(2);
  const auto two = FitReward(log, Range(10), SmallFunction(), 7);
  SetThreads(0);
  EXPECT_EQ(Predict(one.function, log), Predict(two.function, log));
  EXPECT_EQ(one.summary.rmse, two.summary.rmse);
  EXPECT_NE(Predict(one.function, log),
            Predict(FitReward(log, Range(10), SmallFunction(), 8).function, log));
}

TEST(FitReward, OneEpisodeIsAnError) {
  const EpisodeBatch log = WalkLog(3, 20, kNoLimit, QuadraticReward, 1);
  try {
    FitReward(log, std::vector<std::int64_t>{1, 1}, SmallFunction(), 7);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("reward: 1 distinct episodes"));
  }
}

// Asks for an interruption once half of the work is done.
class InterruptHalfway : public Progress {
 public:
  void Advance(std::int64_t done) override {
    if ((total_ += done) >= 60) InterruptRequested() = true;
  }
  void Note(const std::string& /*text*/) override {}

 private:
  std::atomic<std::int64_t> total_ = 0;
};

TEST(FitTermination, ResumesToTheSameBytes) {
  const EpisodeBatch log = WalkLog(20, 40, kWalkLimit, QuadraticReward, 1);
  const TestDir folder;
  InterruptHalfway interrupt;
  EXPECT_THROW(FitTermination(log, Range(20), SmallFunction(), 7,
                              {.folder = folder.path(), .progress = &interrupt}),
               Interrupted);
  InterruptRequested() = false;
  const auto resumed =
      FitTermination(log, Range(20), SmallFunction(), 7, {.folder = folder.path()});
  EXPECT_TRUE(std::filesystem::exists(folder / "termination_1.npz"));
  EXPECT_EQ(Predict(resumed.function, log),
            Predict(FitTermination(log, Range(20), SmallFunction(), 7).function, log));
}

TEST(FitTermination, FindsAThresholdNearAndFar) {
  const EpisodeBatch log = WalkLog(1000, 50, kWalkLimit, QuadraticReward, 1);
  LearnedFunctionOptions options = Longer();
  options.network.width = 64;
  options.fit.steps = 4000;
  const auto [function, summary] = FitTermination(log, Range(1000), options, 7);
  const auto wrong = static_cast<double>(summary.missed + summary.false_alarms);
  EXPECT_GT(summary.positives, 10);
  EXPECT_LT(wrong, 0.02 * static_cast<double>(summary.held_out_steps));
  EXPECT_LT(summary.missed, summary.positives / 3);
  EXPECT_GT(*summary.auc, 0.99);
  EXPECT_LT(summary.log_loss, 0.01);

  // fresh transitions from where a rollout can be: at or below the limit
  const EpisodeBatch fresh = WalkLog(200, 200, kNoLimit, QuadraticReward, 2);
  const auto probabilities = Predict(function, fresh);
  const Transitions data = GatherTransitions(fresh, Range(200));
  double near = 0.0, near_right = 0.0, far = 0.0, far_right = 0.0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (data.states(static_cast<Eigen::Index>(i), 0) > kWalkLimit) continue;
    const double x = data.next_states(static_cast<Eigen::Index>(i), 0);
    const bool right = (probabilities[i] >= 0.5) == (x > kWalkLimit);
    // a tenth of the walk's standard deviation
    const bool is_near = std::abs(x - kWalkLimit) < 0.1;
    (is_near ? near : far) += 1.0;
    (is_near ? near_right : far_right) += right;
  }
  EXPECT_GT(near, 500.0);
  EXPECT_GT(near_right / near, 0.85);
  EXPECT_GT(far_right / far, 0.999);
  EXPECT_GT((near_right + far_right) / (near + far), 0.98);
}

TEST(FitTermination, ProbabilitiesAreThoseOfTheLogThoughBatchesAreBalanced) {
  // ends that no input can foresee: 1 of 20 steps
  const EpisodeBatch log = WalkLog(400, 20, kNoLimit, QuadraticReward, 1);
  EpisodeBatch ended = log;
  std::ranges::fill(ended.terminated, std::uint8_t{1});
  const auto fit = FitTermination(ended, Range(400), SmallFunction(), 7);
  const auto probabilities = Predict(fit.function, ended);
  double mean = 0.0;
  for (const double p : probabilities) mean += p / static_cast<double>(probabilities.size());
  EXPECT_NEAR(mean, 0.05, 0.015);
  EXPECT_EQ(fit.summary.positives, 40);
  EXPECT_EQ(fit.summary.train_positives, 360);
}

TEST(FitTermination, ASingleEndIsTrainedOnAndHeldOutErrorsSaySo) {
  EpisodeBatch log = WalkLog(10, 20, kNoLimit, QuadraticReward, 1);
  log.terminated[3] = 1;
  const auto fit = FitTermination(log, Range(10), SmallFunction(), 7);
  EXPECT_EQ(fit.summary.train_positives, 1);
  EXPECT_EQ(fit.summary.positives, 0);
  EXPECT_FALSE(fit.summary.auc.has_value());
}

TEST(FitTermination, ALogWithoutEndsIsAnError) {
  EpisodeBatch log = WalkLog(10, 20, kNoLimit, QuadraticReward, 1);
  log.terminated[9] = 1;
  try {
    FitTermination(log, Range(9), SmallFunction(), 7);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("none of 9 episodes terminates"));
  }
}

TEST(FitTermination, ABatchOfOneIsAnError) {
  const EpisodeBatch log = WalkLog(20, 40, kWalkLimit, QuadraticReward, 1);
  LearnedFunctionOptions options = SmallFunction();
  options.fit.batch = 1;
  EXPECT_THROW(FitTermination(log, Range(20), options, 7), ConfigError);
}

// The log with no observation after its ends, where a value stands that no fit may read.
EpisodeBatch WithoutEnds(EpisodeBatch log) {
  log.end_unrecorded = log.terminated;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.EndRecorded(e)) continue;
    const std::int64_t row = log.ObservationRow(e, log.Length(e));
    log.observations.row(row).setConstant(1e6f);
  }
  return log;
}

TEST(FitReward, CountsEndsThatAreNotRecordedAndReadsNoNextState) {
  // ends with a reward of their own, far from the others
  const auto reward = [](double x, double u, double) { return x + u; };
  EpisodeBatch log = WithoutEnds(WalkLog(200, 50, 0.3, reward, 1));
  const auto [function, summary] = FitReward(log, Range(200), Longer(), 7);
  EXPECT_EQ(function.scaler().input_dim(), 3);  // x, y, u
  EXPECT_GT(*summary.r2, 0.99);
}

TEST(FitReward, ReadsNoStepThatWasCutWithoutItsNextState) {
  // all episodes are cut; the reward is that of the next state, which the last steps lack
  const auto reward = [](double, double, double next) { return next; };
  EpisodeBatch log = WalkLog(200, 20, 1e9, reward, 1);
  log.end_unrecorded.assign(200, 1);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    log.observations.row(log.ObservationRow(e, log.Length(e))).setConstant(1e6f);
  }
  const auto [function, summary] = FitReward(log, Range(200), Longer(), 7);
  EXPECT_GT(function.scaler().input_dim(), 3);
  EXPECT_GT(*summary.r2, 0.99);
}

TEST(FitTermination, LearnsEndsThatAreNotRecordedFromStateAndAction) {
  // a long step ends the episode almost surely; the end itself is not in the log
  const EpisodeBatch log = WithoutEnds(WalkLog(1000, 50, 0.5, QuadraticReward, 1));
  const auto [function, summary] = FitTermination(log, Range(1000), Longer(), 7);
  EXPECT_GT(summary.positives, 30);
  const MatrixF states{{0.4f, 0.0f, 7.0f}, {-1.0f, 0.0f, 7.0f}}, actions{{2.0f}, {-2.0f}};
  const MatrixF anywhere = MatrixF::Constant(2, 3, 1e5f);
  std::vector<double> ends(2);
  function.Predict(states, actions, anywhere, ends);
  EXPECT_GT(ends[0], 0.9);
  EXPECT_LT(ends[1], 0.1);
}

}  // namespace
}  // namespace lfiw::models
