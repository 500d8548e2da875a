#include "policies/collect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "policies/gaussian_mlp_policy.h"
#include "tests/policies/fake_env.h"
#include "tests/policies/fake_policy.h"

namespace lfiw::policies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

void ExpectSame(const EpisodeBatch& a, const EpisodeBatch& b) {
  EXPECT_EQ(a.observations, b.observations);
  EXPECT_EQ(a.actions, b.actions);
  EXPECT_EQ(a.aux, b.aux);
  EXPECT_EQ(a.rewards, b.rewards);
  EXPECT_EQ(a.behavior_log_density, b.behavior_log_density);
  EXPECT_EQ(a.offsets, b.offsets);
  EXPECT_EQ(a.terminated, b.terminated);
}

GaussianMlpPolicy MakeGaussian() {
  TanhMlp mlp({3, 8, 2});
  VectorF parameters = VectorF::Zero(mlp.parameter_count());
  mlp.Initialize(Stream(8, "policy"), 1.0, 1.0, parameters.data());
  return GaussianMlpPolicy(std::move(mlp), std::move(parameters), VectorF{{-0.5f, 0.0f}},
                           ObservationNormalizer(3), "test");
}

// As ProportionalPolicy, but with an undefined action at step 3.
class BrokenPolicy final : public Policy {
 public:
  std::int64_t obs_dim() const override { return 3; }
  std::int64_t action_dim() const override { return 2; }
  std::int64_t noise_dim() const override { return 0; }
  std::string Description() const override { return "broken"; }
  void Sample(ConstMatrixRef observations, std::span<const std::int64_t> steps,
              ConstMatrixRef /*noise*/, MatrixRef actions) const override {
    Mean(observations, steps, actions);
  }
  void Mean(ConstMatrixRef /*observations*/, std::span<const std::int64_t> steps,
            MatrixRef actions) const override {
    actions.setZero();
    if (steps[0] == 3) actions(0, 1) = std::numeric_limits<float>::quiet_NaN();
  }
  bool has_density() const override { return false; }
  void LogDensity(ConstMatrixRef, std::span<const std::int64_t>, ConstMatrixRef, const VectorD&,
                  const VectorD&, std::span<double>) const override {}
};

TEST(CollectEpisodes, LogIsWhatTheEnvironmentDid) {
  const PointFactory factory;
  const EpisodeBatch log =
      CollectEpisodes(factory, ProportionalPolicy(), {.episodes = 19, .horizon = 12, .seed = 1});
  ASSERT_EQ(log.episodes(), 19);
  ASSERT_EQ(log.steps(), 19 * 12);
  EXPECT_NO_THROW(Validate(log, "log"));
  for (std::int64_t e = 0; e < 19; ++e) {
    EXPECT_EQ(log.terminated[std::size_t(e)], 0);
    for (std::int64_t t = 0; t < 12; ++t) {
      const std::int64_t row = log.ObservationRow(e, t), step = e * 12 + t;
      const float x = log.observations(row, 0), next = log.observations(row + 1, 0);
      EXPECT_EQ(log.observations(row, 1), log.observations(row + 1, 1)) << "one goal per episode";
      EXPECT_NEAR(next - x, 0.3f * log.actions(step, 0), 1e-6f);
      EXPECT_NEAR(log.aux(step, 0), next - x, 1e-6f);
      const double gap = next - log.observations(row, 1);
      EXPECT_NEAR(log.rewards[std::size_t(step)],
                  -gap * gap - 0.1 * std::pow(log.actions(step, 1), 2), 1e-5);
    }
  }
}

TEST(CollectEpisodes, ActionsAreLoggedAsExecuted) {
  const PointFactory factory;
  const EpisodeBatch log =
      CollectEpisodes(factory, ProportionalPolicy(9.0f), {.episodes = 20, .horizon = 20});
  EXPECT_EQ(log.actions.col(0).maxCoeff(), 1.0f);
  EXPECT_EQ(log.actions.col(0).minCoeff(), -1.0f);
  EXPECT_EQ(log.actions.col(1).maxCoeff(), 0.4f);
  EXPECT_EQ(log.actions.col(1).minCoeff(), -0.4f);
}

TEST(CollectEpisodes, SameBytesForAnyNumberOfThreads) {
  const PointFactory factory({.wall = 1.1});
  const GaussianMlpPolicy policy = MakeGaussian();
  const EpisodeRequest request{.episodes = 37, .horizon = 15, .seed = 2};
  SetThreads(1);
  const EpisodeBatch one = CollectEpisodes(factory, policy, request);
  for (const int threads : {2, 8}) {
    SetThreads(threads);
    ExpectSame(CollectEpisodes(factory, policy, request), one);
  }
  SetThreads(0);
}

TEST(CollectEpisodes, AnyEpisodeCanBeReplayedAlone) {
  const PointFactory factory({.wall = 1.1});
  const GaussianMlpPolicy policy = MakeGaussian();
  const EpisodeBatch all =
      CollectEpisodes(factory, policy, {.episodes = 12, .horizon = 15, .seed = 3});
  for (const std::int64_t e : {0, 7, 11}) {
    const EpisodeBatch alone = CollectEpisodes(
        factory, policy, {.first_episode = e, .episodes = 1, .horizon = 15, .seed = 3});
    ExpectSame(alone, SelectEpisodes(all, std::vector<std::int64_t>{e}));
  }
}

TEST(CollectEpisodes, TerminationEndsAnEpisodeAndLeavesNoGap) {
  const PointFactory factory({.wall = 1.0});
  const EpisodeBatch log =
      CollectEpisodes(factory, MakeGaussian(), {.episodes = 50, .horizon = 30, .seed = 4});
  EXPECT_NO_THROW(Validate(log, "log"));
  int short_episodes = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t last = log.ObservationRow(e, log.Length(e));
    const bool outside = std::abs(log.observations(last, 0)) > 1.0f;
    EXPECT_EQ(log.terminated[std::size_t(e)] != 0, outside);
    if (!outside) {
      EXPECT_EQ(log.Length(e), 30);
    }
    short_episodes += log.Length(e) < 30;
  }
  EXPECT_GT(short_episodes, 5);
  EXPECT_LT(short_episodes, 50);
}

TEST(CollectEpisodes, DensityIsThePolicysAtTheLoggedAction) {
  const PointFactory factory;
  const GaussianMlpPolicy policy = MakeGaussian();
  const EpisodeBatch log = CollectEpisodes(factory, policy, {.episodes = 3, .horizon = 10});
  const std::vector<std::int64_t> steps = {0};
  for (std::int64_t e = 0; e < 3; ++e) {
    for (std::int64_t t = 0; t < 10; ++t) {
      double density = 0.0;
      policy.LogDensity(log.observations.middleRows(log.ObservationRow(e, t), 1), steps,
                        log.actions.middleRows(e * 10 + t, 1), factory.spec().action_low,
                        factory.spec().action_high, {&density, 1});
      EXPECT_EQ(log.behavior_log_density[std::size_t(e * 10 + t)], density);
    }
  }
  EXPECT_TRUE(CollectEpisodes(factory, ProportionalPolicy(), {.episodes = 1, .horizon = 2})
                  .behavior_log_density.empty());
}

TEST(CollectEpisodes, ErrorsNameEpisodeAndStep) {
  const auto message = [](const EnvFactory& factory, const Policy& policy) -> std::string {
    try {
      CollectEpisodes(factory, policy, {.first_episode = 5, .episodes = 1, .horizon = 50});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message(PointFactory({.cliff = 1.2}), ProportionalPolicy(-5.0f)),
              AllOf(HasSubstr("episode 5, step "), HasSubstr("x is")));
  EXPECT_THAT(message(PointFactory(), BrokenPolicy()),
              AllOf(HasSubstr("episode 5, step 3"), HasSubstr("nan")));
}

TEST(MonteCarloValue, IsTheMeanOfTheEpisodesReturns) {
  const PointFactory factory({.wall = 1.1});
  const GaussianMlpPolicy policy = MakeGaussian();
  const EpisodeRequest request{.episodes = 30, .horizon = 15, .seed = 5};
  const std::vector<double> returns = Returns(CollectEpisodes(factory, policy, request), 0.9);
  double mean = 0.0, squares = 0.0;
  for (const double r : returns) mean += r / 30.0;
  for (const double r : returns) squares += (r - mean) * (r - mean);
  const MonteCarloEstimate estimate = MonteCarloValue(factory, policy, request, 0.9);
  EXPECT_NEAR(estimate.value, mean, 1e-12);
  EXPECT_NEAR(estimate.standard_error, std::sqrt(squares / 29.0 / 30.0), 1e-12);
  EXPECT_EQ(estimate.episodes, 30);
  EXPECT_GT(estimate.mean_length, 1.0);
  EXPECT_LT(estimate.mean_length, 15.0);
}

TEST(MonteCarloValue, InterruptStopsIt) {
  InterruptRequested() = true;
  EXPECT_THROW(MonteCarloValue(PointFactory(), ProportionalPolicy(), {}, 1.0), Interrupted);
  InterruptRequested() = false;
}

}  // namespace
}  // namespace lfiw::policies
