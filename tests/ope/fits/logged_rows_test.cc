#include "ope/fits/logged_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/error.h"
#include "envs/linear_gaussian_env.h"
#include "tests/ope/linear_gaussian_model.h"
#include "tests/ope/scalar_log.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Episodes of 3 steps that end, and of 2 that a time limit cut; observations count rows.
EpisodeBatch TwoEpisodes() {
  EpisodeBatch log;
  log.observations = VectorF::LinSpaced(7, 0.0f, 6.0f);
  log.actions = VectorF::LinSpaced(5, 10.0f, 14.0f);
  log.aux.resize(5, 0);
  log.rewards = {1.0, 2.0, 4.0, 8.0, 16.0};
  log.offsets = {0, 3, 5};
  log.terminated = {1, 0};
  return log;
}

const std::vector<std::int64_t> kBoth = {0, 1};

TEST(RowsOf, KeepsTheFirstStepsOfAFiniteHorizonAndEndsThem) {
  const LoggedRows rows = RowsOf(TwoEpisodes(), kBoth, FiniteHorizon(2));
  EXPECT_THAT(rows.state, ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(rows.action, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(rows.step, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(rows.last, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(rows.terminal, ElementsAre(0, 0, 0, 0));
}

TEST(RowsOf, ContinuesWhatATimeLimitCutAndEndsWhatTerminated) {
  const LoggedRows rows = RowsOf(TwoEpisodes(), kBoth, InfiniteHorizon(0.9));
  EXPECT_THAT(rows.step, ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(rows.real_step, ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(rows.last, ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(RowsOf(TwoEpisodes(), kBoth, FiniteHorizon(5)).last, ElementsAre(0, 0, 1, 0, 0));
}

TEST(StatesAndActions, GathersPairsAndTheStatesAfterThem) {
  const EpisodeBatch log = TwoEpisodes();
  const LoggedRows rows = RowsOf(log, kBoth, FiniteHorizon(5));
  const std::vector<std::int64_t> picked = {4, 0};
  EXPECT_EQ(StatesAndActions(log, rows, picked), (MatrixF{{5.0f, 14.0f}, {0.0f, 10.0f}}));
  EXPECT_EQ(NextStates(log, rows, picked), (MatrixF{{6.0f}, {1.0f}}));
  EXPECT_THAT(NextSteps(rows, picked, 2), ElementsAre(1, 1));
}

TEST(NextStates, AfterALastStepAreNotAskedFor) {
  const EpisodeBatch log = TwoEpisodes();
  const LoggedRows rows = RowsOf(log, kBoth, FiniteHorizon(5));
  const std::vector<std::int64_t> picked = {1, 2};  // row 2 terminates
  EXPECT_EQ(NextStates(log, rows, picked), (MatrixF{{2.0f}, {2.0f}}));
}

TEST(ReturnsToGo, DiscountsWhatIsLogged) {
  EXPECT_THAT(ReturnsToGo(TwoEpisodes(), kBoth, FiniteHorizon(5, 0.5)),
              ElementsAre(3.0, 4.0, 4.0, 16.0, 16.0));
}

TEST(MeasureScales, AreMeansAndSpreadsOfEachStep) {
  LoggedRows rows;
  rows.step = {0, 0, 1};
  const StepScales scales = MeasureScales(rows, {1.0, 3.0, 5.0}, 2);
  EXPECT_THAT(scales.centers, ElementsAre(2.0, 5.0));
  EXPECT_THAT(scales.widths, ElementsAre(1.0, 5e-3));
}

TEST(CarriedSteps, LastToTheHorizonWhereAnEpisodeTerminated) {
  const EpisodeBatch log = TwoEpisodes();
  const Estimand finite = FiniteHorizon(5), infinite = InfiniteHorizon(0.75);
  EXPECT_THAT(CarriedSteps(RowsOf(log, kBoth, finite), finite),
              ElementsAre(1.0, 1.0, 3.0, 1.0, 1.0));
  EXPECT_THAT(CarriedSteps(RowsOf(log, kBoth, infinite), infinite),
              ElementsAre(1.0, 1.0, 4.0, 1.0, 1.0));
}

TEST(ValuesOnLog, AreMeansOverActionsOfThePolicyAndEndWithTheEpisode) {
  // Q = 100 t + s + a under a = 2 s: V = 100 t + 3 s
  const auto env = MakeLinearGaussianFactory(ScalarLinearGaussian());
  const auto q = [](ConstMatrixRef pairs, std::span<const std::int64_t> steps,
                    std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = static_cast<Eigen::Index>(i);
      values[i] = 100.0 * static_cast<double>(steps[i]) + pairs(row, 0) + pairs(row, 1);
    }
  };
  const ValueArrays values =
      ValuesOnLog(q, {TwoEpisodes(), ScalarLinearPolicy(2.0, 0.0), env->spec(), FiniteHorizon(4)},
                  kBoth, 4, 3, Stream(1, "test"));
  EXPECT_THAT(values.q.Row(0), ElementsAre(10.0, 112.0, 214.0, 0.0));
  EXPECT_THAT(values.q.Row(1), ElementsAre(17.0, 119.0, 0.0, 0.0));
  EXPECT_THAT(values.v.Row(0), ElementsAre(0.0, 103.0, 206.0, 0.0, 0.0));
  EXPECT_THAT(values.v.Row(1), ElementsAre(12.0, 115.0, 218.0, 0.0, 0.0));
}

TEST(RequireDiscount, RefusesAnInfiniteHorizonWithout) {
  EXPECT_NO_THROW(RequireDiscount(FiniteHorizon(3)));
  EXPECT_NO_THROW(RequireDiscount(InfiniteHorizon(0.99)));
  try {
    RequireDiscount(InfiniteHorizon(1.0));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("value.discount"));
  }
}

}  // namespace
}  // namespace lfiw::ope
