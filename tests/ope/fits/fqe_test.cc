#include "ope/fits/fqe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/statistics.h"
#include "envs/linear_gaussian_env.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"
#include "tests/ope/linear_gaussian_model.h"
#include "tests/ope/scalar_log.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kHorizon = 5;
constexpr double kEvaluationGain = -0.6, kSpread = 0.2;

FqeOptions SmallFqe() {
  FqeOptions options;
  options.members = 2;
  options.network.width = 48;
  options.fit = {.steps = 3000, .batch = 128, .validate_every = 500, .adam = {}};
  return options;
}

struct FqeTestProblem {
  ScalarLinearPolicy policy{kEvaluationGain, kSpread};
  std::shared_ptr<const EnvFactory> env = MakeLinearGaussianFactory(ScalarLinearGaussian());

  std::vector<double> FirstValues(const EpisodeBatch& log, const Estimand& estimand,
                                  const FqeOptions& options) const {
    const LoggedProblem logged{log, policy, env->spec(), estimand};
    const FqeFit fit = FitFqe(logged, options, 3);
    std::vector<std::int64_t> all(static_cast<std::size_t>(log.episodes()));
    for (std::size_t e = 0; e < all.size(); ++e) all[e] = static_cast<std::int64_t>(e);
    const ValueArrays values = FqeValues(fit, logged, all, log.Length(0), options, 4);
    std::vector<double> first;
    for (std::size_t e = 0; e < all.size(); ++e) first.push_back(values.v(all[e], 0));
    return first;
  }
};

TEST(FitFqe, LearnsTheFiniteHorizonValueOfTheEvaluationPolicy) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(kHorizon, 500);
  const auto first = problem.FirstValues(log, FiniteHorizon(kHorizon), SmallFqe());
  const QuadraticValue exact =
      FiniteHorizonValue(ScalarLinearGaussian(), problem.policy.AsLinearGaussian(), kHorizon, 1.0);
  std::vector<double> errors, values;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    values.push_back(exact(VectorD::Constant(1, log.observations(log.ObservationRow(e, 0), 0))));
    errors.push_back(first[static_cast<std::size_t>(e)] - values.back());
  }
  // a twentieth of the spread over first states in the mean, a quarter at each
  EXPECT_NEAR(Mean(errors), 0.0, 0.05 * StandardDeviation(values));
  EXPECT_LT(StandardDeviation(errors), 0.25 * StandardDeviation(values));
}

TEST(FitFqe, LearnsTheInfiniteHorizonValueFromEpisodesThatATimeLimitCut) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(20, 250);
  const auto first = problem.FirstValues(log, InfiniteHorizon(0.8), SmallFqe());
  const QuadraticValue exact =
      InfiniteHorizonValue(ScalarLinearGaussian(), problem.policy.AsLinearGaussian(), 0.8);
  std::vector<double> errors, values;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    values.push_back(exact(VectorD::Constant(1, log.observations(log.ObservationRow(e, 0), 0))));
    errors.push_back(first[static_cast<std::size_t>(e)] - values.back());
  }
  EXPECT_NEAR(Mean(errors), 0.0, 0.1 * StandardDeviation(values));
}

TEST(FitFqe, BootstrapsAtATimeLimitAndNotAtATerminalState) {
  // one state, reward 1, discount 0.9 (case C10): 10 for ever, 1 where the only step ends it
  const FqeTestProblem problem;
  FqeOptions options = SmallFqe();
  options.fit.steps = 6000;
  options.target_every = 50;
  EXPECT_NEAR(problem.FirstValues(ConstantLog(4, 5, 1.0, 0), InfiniteHorizon(0.9), options)[0],
              10.0, 0.1);
  EXPECT_NEAR(problem.FirstValues(ConstantLog(4, 1, 1.0, 1), InfiniteHorizon(0.9), options)[0], 1.0,
              0.01);
}

TEST(FitFqe, GivesNothingAfterTheLastStepOfTheHorizon) {
  const FqeTestProblem problem;
  // case C13: three rewards of 1
  for (const auto& [discount, value] : {std::pair(1.0, 3.0), {0.5, 1.75}, {0.0, 1.0}}) {
    EXPECT_NEAR(
        problem.FirstValues(ConstantLog(4, 8, 1.0, 0), FiniteHorizon(3, discount), SmallFqe())[0],
        value, 0.02);
  }
}

TEST(FitFqe, GivesTheSameBytesForAnyNumberOfThreadsAndResumed) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(kHorizon, 50);
  FqeOptions options = SmallFqe();
  options.fit.steps = 250;
  SetThreads(1);
  const auto one = problem.FirstValues(log, FiniteHorizon(kHorizon), options);
  SetThreads(2);
  EXPECT_EQ(one, problem.FirstValues(log, FiniteHorizon(kHorizon), options));
  SetThreads(0);

  // a checkpoint after every step, and a fit that goes on from the one at its end
  const TestDir dir;
  const FitRun run{.folder = dir.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  const auto member = [&](const FitRun& with) {
    return FitFqe({log, problem.policy, problem.env->spec(), FiniteHorizon(kHorizon)}, options, 3,
                  with)
        .residual;
  };
  const double undisturbed = member({});
  EXPECT_EQ(member(run), undisturbed);
  EXPECT_EQ(member(run), undisturbed);
}

// The values on one episode do not see its own rewards when two folds divide the log.
TEST(FitFqeValues, FoldsKeepTheRewardsOfAnEpisodeFromItsOwnValues) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(kHorizon, 40);
  EpisodeBatch other = log;
  constexpr std::int64_t kChanged = 1;  // of the training episodes
  for (std::int64_t t = 0; t < kHorizon; ++t) {
    other.rewards[static_cast<std::size_t>(kChanged * kHorizon + t)] += 100.0;
  }
  const std::vector<std::int64_t> episodes = {0, 1, 2, 3, 4, 5, 6, 7};
  FqeOptions options = SmallFqe();
  options.fit.steps = 50;
  options.fit.validate_every = 50;
  const auto values = [&](const EpisodeBatch& of, std::int64_t folds) {
    options.folds = folds;
    return FitFqeValues({of, problem.policy, problem.env->spec(), FiniteHorizon(kHorizon)},
                        episodes, kHorizon, options, 3)
        .values;
  };
  const auto changed = [&](std::int64_t folds) {
    const ValueArrays before = values(log, folds), after = values(other, folds);
    std::vector<bool> rows;
    for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
      rows.push_back(before.v(i, 0) != after.v(i, 0) || before.q(i, 0) != after.q(i, 0));
    }
    return rows;
  };
  EXPECT_THAT(changed(1), ::testing::Each(true));
  const std::vector<bool> folded = changed(2);
  EXPECT_FALSE(folded[kChanged]);
  EXPECT_THAT(folded, ::testing::Contains(true));
}

TEST(FitFqeValues, SaysWhenRewardsCannotReachTheFirstStep) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(kHorizon, 40);
  FqeOptions options = SmallFqe();
  options.fit.steps = 100;
  const auto notes = [&](std::int64_t every) {
    options.target_every = every;
    return FitFqeValues({log, problem.policy, problem.env->spec(), FiniteHorizon(kHorizon)},
                        std::vector<std::int64_t>{0, 1}, kHorizon, options, 3)
        .notes;
  };
  EXPECT_THAT(notes(20), ::testing::ElementsAre(HasSubstr("Bellman error")));
  EXPECT_THAT(notes(50), ::testing::Contains(HasSubstr("2 renewals of the targets")));
}

TEST(FitFqe, RefusesTheCheckpointOfOtherOptionsOrAnotherEstimand) {
  const FqeTestProblem problem;
  const EpisodeBatch log = ScalarLog(kHorizon, 6);
  const LoggedProblem logged{log, problem.policy, problem.env->spec(), FiniteHorizon(kHorizon)};
  ExpectEveryFieldCounts(TinyFit<FqeOptions>(), [&](const auto& options, const FitRun& run) {
    FitFqe(logged, options, 3, run);
  });
  const TestDir dir;
  const FitRun run{.folder = dir.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  FitFqe(logged, TinyFit<FqeOptions>(), 3, run);
  LoggedProblem discounted = logged;
  discounted.estimand.discount = 0.5;
  EXPECT_THROW(FitFqe(discounted, TinyFit<FqeOptions>(), 3, run), DataError);
}

TEST(FitFqe, RefusesAnInfiniteHorizonWithoutDiscount) {
  const FqeTestProblem problem;
  try {
    problem.FirstValues(ScalarLog(kHorizon, 500), InfiniteHorizon(1.0), SmallFqe());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("value.discount"));
  }
}

}  // namespace
}  // namespace lfiw::ope
