#include "ope/rollouts/model_rollout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/parallel.h"
#include "envs/linear_gaussian_env.h"
#include "ope/rollouts/plain_model.h"
#include "tests/core/test_dir.h"
#include "tests/ope/linear_gaussian_model.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHorizon = 6;
constexpr RolloutOptions kOptions{.repetitions = 3, .episodes = 100};

// A rollout of u ~ N(-0.6 x, 0.2^2) in a system, with one exact ratio to another.
struct RolloutProblem {
  explicit RolloutProblem(const LinearGaussianSystem& system = ScalarLinearGaussian())
      : model(system),
        ratio(ScalarLinearGaussian(), system),
        env(MakeLinearGaussianFactory(system)),
        functions(env->MakeTaskRules()),
        starts(MatrixF::Ones(kOptions.repetitions * kOptions.episodes, 1)) {}

  RolloutInputs Inputs() const {
    return {.dynamics = model,
            .ratios = ratios,
            .policy = policy,
            .spec = env->spec(),
            .functions = *functions,
            .start_states = starts,
            .range = range};
  }
  ModelRollouts Run(const RolloutOptions& options = kOptions) const {
    return RollOutInModel(Inputs(), options, kHorizon, 5, nullptr);
  }

  ScalarLinearModel model;
  ExactRatio ratio;
  std::vector<const TransitionRatio*> ratios = {&ratio};
  ScalarLinearPolicy policy{-0.6, 0.2};
  std::shared_ptr<const EnvFactory> env;
  std::unique_ptr<TaskRules> functions;
  MatrixF starts;
  ClampRange range{VectorF::Constant(1, -1e9f), VectorF::Constant(1, 1e9f), {}, {}};
};

TEST(RollOutInModel, KeepsTheMeanRewardsOfEveryMemberAlone) {
  const RolloutProblem problem;
  RolloutOptions options = kOptions;
  options.member_episodes = 50;
  const ModelRollouts rollouts = problem.Run(options);
  ASSERT_EQ(rollouts.member_rewards.shape()[0], problem.model.members());
  ASSERT_EQ(rollouts.member_rewards.shape()[1], kHorizon);
  const TestDir dir;
  rollouts.Save(dir / "rollouts.npz");
  EXPECT_EQ(ModelRollouts::Load(dir / "rollouts.npz").member_rewards, rollouts.member_rewards);
  options.member_episodes = 0;
  EXPECT_EQ(problem.Run(options).member_rewards.shape()[0], 0);
}

LinearGaussianSystem OtherSystem() {
  LinearGaussianSystem system = ScalarLinearGaussian();
  system.state_matrix(0, 0) = 0.7;
  return system;
}

TEST(RollOutInModel, MeanReturnIsTheClosedFormOfTheModel) {
  RolloutProblem problem(OtherSystem());
  RolloutOptions options = kOptions;
  options.episodes = 20'000;
  problem.starts = MatrixF::Ones(options.repetitions * options.episodes, 1);
  const PlainModelEstimate estimate =
      EstimatePlainModel(problem.Run(options).rewards, ValueOptions{});
  const double exact = FiniteHorizonValue(OtherSystem(), problem.policy.AsLinearGaussian(),
                                          kHorizon, 1.0)(VectorD::Ones(1));
  // 5 standard errors of 60,000 episodes
  EXPECT_NEAR(estimate.value, exact, 5 * estimate.se_within / std::sqrt(3.0));
}

TEST(RollOutInModel, PerfectModelWithTheExactRatioHasWeightOneEverywhere) {
  const ModelRollouts rollouts = RolloutProblem().Run();
  for (const double log_weight : rollouts.log_weights.flat()) EXPECT_EQ(log_weight, 0.0);
}

TEST(RollOutInModel, SameBytesForAnyNumberOfThreads) {
  const RolloutProblem problem(OtherSystem());
  SetThreads(1);
  const ModelRollouts one = problem.Run();
  for (const int threads : {2, 8}) {
    SetThreads(threads);
    const ModelRollouts many = problem.Run();
    EXPECT_EQ(one.rewards, many.rewards);
    EXPECT_EQ(one.log_weights, many.log_weights);
    EXPECT_EQ(one.visited_states, many.visited_states);
    EXPECT_EQ(one.visited_steps, many.visited_steps);
  }
  SetThreads(0);
}

TEST(RollOutInModel, AddingRepetitionsLeavesTheOthersAsTheyWere) {
  const RolloutProblem all(OtherSystem());
  RolloutProblem first(OtherSystem());
  first.starts = MatrixF::Ones(kOptions.episodes, 1);
  RolloutOptions options = kOptions;
  options.repetitions = 1;
  const ModelRollouts one = first.Run(options), three = all.Run();
  for (std::int64_t i = 0; i < kOptions.episodes; ++i) {
    EXPECT_TRUE(std::ranges::equal(one.rewards.Row(0, i), three.rewards.Row(0, i)));
  }
}

TEST(RollOutInModel, ValuesBeyondTheRangeAreClampedAndCounted) {
  RolloutProblem problem;
  EXPECT_EQ(problem.Run().clamped_values, 0);
  problem.range = {VectorF::Constant(1, 0.25f), VectorF::Constant(1, 0.25f), {}, {}};
  const ModelRollouts rollouts = problem.Run();
  EXPECT_EQ(rollouts.predicted_values, 300 * kHorizon);
  EXPECT_EQ(rollouts.clamped_values, rollouts.predicted_values);
  EXPECT_EQ(rollouts.ClampRate(), 1.0);
}

TEST(RollOutInModel, PredictionThatIsNotFiniteNamesTrajectoryAndStep) {
  RolloutProblem problem;
  problem.starts(170, 0) = std::numeric_limits<float>::quiet_NaN();
  try {
    problem.Run();
    FAIL() << "accepted";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), HasSubstr("trajectory 170, step 0"));
  }
}

// Ends an episode when the next state is below a limit.
class EndsBelow final : public TaskRules {
 public:
  explicit EndsBelow(float limit) : limit_(limit) {}
  void Rewards(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef /*next*/,
               ConstMatrixRef /*aux*/, std::span<double> rewards) const override {
    std::fill(rewards.begin(), rewards.end(), 1.0);
  }
  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef next,
                  std::span<std::uint8_t> terminated) const override {
    for (std::size_t i = 0; i < terminated.size(); ++i) {
      terminated[i] = next(static_cast<Eigen::Index>(i), 0) < limit_;
    }
  }

 private:
  float limit_;
};

TEST(RollOutInModel, AfterTerminationRewardsAndLogWeightsAreZero) {
  RolloutProblem problem(OtherSystem());
  problem.functions = std::make_unique<EndsBelow>(0.0f);
  const ModelRollouts rollouts = problem.Run();
  int ended = 0;
  for (std::int64_t i = 0; i < kOptions.episodes; ++i) {
    const auto rewards = rollouts.rewards.Row(0, i);
    const auto weights = rollouts.log_weights.Row(0, 0, i);
    // the terminating step still counts, so an episode has at least one reward
    EXPECT_EQ(rewards[0], 1.0);
    EXPECT_TRUE(std::ranges::is_sorted(rewards, std::greater<>()));
    for (std::size_t t = 0; t < rewards.size(); ++t) {
      EXPECT_EQ(weights[t] == 0.0, rewards[t] == 0.0);
    }
    ended += rewards.back() == 0.0;
  }
  EXPECT_GT(ended, 10);
}

// Rewards are 1000 s + a, so that a pair shows its step.
class PairReward final : public TaskRules {
 public:
  static double Of(float state, float action) { return 1000.0 * state + action; }
  void Rewards(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef /*next*/,
               ConstMatrixRef /*aux*/, std::span<double> rewards) const override {
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      rewards[static_cast<std::size_t>(i)] = Of(states(i, 0), actions(i, 0));
    }
  }
  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef next,
                  std::span<std::uint8_t> terminated) const override {
    for (std::size_t i = 0; i < terminated.size(); ++i) {
      terminated[i] = next(static_cast<Eigen::Index>(i), 0) < 0.0f;
    }
  }
};

TEST(RollOutInModel, VisitedPairsAreOfRandomStepsBeforeTheEnd) {
  RolloutProblem problem(OtherSystem());
  problem.functions = std::make_unique<PairReward>();
  const ModelRollouts rollouts = problem.Run();
  const auto m = static_cast<Eigen::Index>(rollouts.visited_steps.size());
  ASSERT_EQ(m, 300 * 4);
  ASSERT_EQ(rollouts.visited_states.rows(), m);
  std::vector<int> drawn(kHorizon);
  for (Eigen::Index row = 0; row < m; ++row) {
    const std::int64_t step = rollouts.visited_steps[static_cast<std::size_t>(row)];
    // not 0, as it is after the end
    EXPECT_EQ(rollouts.rewards(row / 400, row / 4 % 100, step),
              PairReward::Of(rollouts.visited_states(row, 0), rollouts.visited_actions(row, 0)));
    ++drawn[static_cast<std::size_t>(step)];
  }
  for (const int count : drawn) EXPECT_GT(count, 0);
}

TEST(RollOutInModel, KeepingVisitedPairsChangesNothingElse) {
  const RolloutProblem problem(OtherSystem());
  RolloutOptions options = kOptions;
  options.visited_per_episode = 0;
  const ModelRollouts none = problem.Run(options), some = problem.Run();
  EXPECT_EQ(none.rewards, some.rewards);
  EXPECT_EQ(none.log_weights, some.log_weights);
  EXPECT_TRUE(none.visited_steps.empty());
}

TEST(ModelRollouts, FileGivesTheSameBack) {
  const TestDir dir;
  const ModelRollouts rollouts = RolloutProblem(OtherSystem()).Run();
  rollouts.Save(dir / "rollouts.npz");
  const ModelRollouts loaded = ModelRollouts::Load(dir / "rollouts.npz");
  EXPECT_EQ(loaded.rewards, rollouts.rewards);
  EXPECT_EQ(loaded.log_weights, rollouts.log_weights);
  EXPECT_EQ(loaded.predicted_values, rollouts.predicted_values);
  EXPECT_EQ(loaded.visited_states, rollouts.visited_states);
  EXPECT_EQ(loaded.visited_actions, rollouts.visited_actions);
  EXPECT_EQ(loaded.visited_steps, rollouts.visited_steps);
}

TEST(ModelRollouts, FileWithoutVisitedPairsOrWithTooFewIsAnError) {
  const TestDir dir;
  const std::string path = dir / "rollouts.npz";
  ModelRollouts rollouts = RolloutProblem(OtherSystem()).Run();
  rollouts.visited_steps.pop_back();
  rollouts.Save(path);
  EXPECT_THROW(ModelRollouts::Load(path), DataError);
  const NpzFile file = NpzFile::Read(path);
  NpzFile older;
  for (const auto& [name, array] : file.arrays()) {
    if (!name.starts_with("visited")) older.Put(name, array);
  }
  older.Write(path);
  EXPECT_THROW(ModelRollouts::Load(path), DataError);
}

EpisodeBatch LogWithStarts(const std::vector<float>& starts) {
  EpisodeBatch log;
  const auto n = static_cast<Eigen::Index>(starts.size());
  log.observations = MatrixF::Zero(2 * n, 1);
  log.actions = MatrixF::Zero(n, 1);
  log.aux.resize(n, 0);
  for (Eigen::Index e = 0; e < n; ++e) {
    log.observations(2 * e, 0) = starts[static_cast<std::size_t>(e)];
    log.rewards.push_back(0.0);
    log.offsets.push_back(e + 1);
    log.terminated.push_back(0);
  }
  return log;
}

TEST(StartStatesFromLog, UseEachFirstStateEquallyOften) {
  const MatrixF starts = StartStatesFromLog(LogWithStarts({1, 2, 3, 4}), 8, 0);
  for (const float state : {1.0f, 2.0f, 3.0f, 4.0f}) {
    EXPECT_EQ((starts.array() == state).count(), 2);
  }
}

TEST(RangeOfLog, WidensByTheMarginOnBothSides) {
  const ClampRange range = RangeOfLog(LogWithStarts({-1, 3}), 0.1);
  EXPECT_FLOAT_EQ(range.state_low(0), -1.4f);
  EXPECT_FLOAT_EQ(range.state_high(0), 3.4f);
}

}  // namespace
}  // namespace lfiw::ope
