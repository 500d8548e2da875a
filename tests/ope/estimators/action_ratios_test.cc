#include "ope/estimators/action_ratios.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "tests/core/logs/log_samples.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Two episodes of 2 and 3 steps.
struct RatioProblem {
  EpisodeBatch log = SampleLog({2, 3});
  std::vector<double> evaluation = {0.0, 0.1, 0.2, 0.3, 0.4};
  std::vector<double> behavior = {-1.0, -1.0, -2.0, -2.0, -2.0};
  ActionKind kind = ActionKind::kContinuous;

  Array<double, 2> Ratios() const {
    const std::vector<std::int64_t> episodes = {1, 0};
    return ActionLogRatios(log, episodes, evaluation, behavior, kind, 2, "log.npz");
  }
  std::string Message() const {
    try {
      Ratios();
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }
};

TEST(ActionLogRatios, AreOfTheListedEpisodesUpToTheHorizon) {
  const Array<double, 2> ratios = RatioProblem().Ratios();
  EXPECT_DOUBLE_EQ(ratios(0, 0), 2.2);
  EXPECT_DOUBLE_EQ(ratios(0, 1), 2.3);
  EXPECT_DOUBLE_EQ(ratios(1, 1), 1.1);
}

TEST(ActionLogRatios, AreZeroAfterTheEndOfAnEpisode) {
  RatioProblem problem;
  const std::vector<std::int64_t> episodes = {0, 1};
  const Array<double, 2> ratios = ActionLogRatios(problem.log, episodes, problem.evaluation,
                                                  problem.behavior, problem.kind, 4, "log.npz");
  EXPECT_EQ(ratios(0, 2), 0.0);
  EXPECT_EQ(ratios(1, 3), 0.0);
}

TEST(ActionLogRatios, LetTheEvaluationPolicyRefuseAnAction) {
  RatioProblem problem;
  problem.evaluation[3] = -kInfinity;
  EXPECT_EQ(problem.Ratios()(0, 1), -kInfinity);
}

TEST(ActionLogRatios, RefuseABehaviorThatCouldNotHaveActedSo) {
  for (const double wrong : {-kInfinity, kInfinity, std::nan("")}) {
    RatioProblem problem;
    problem.behavior[3] = wrong;
    EXPECT_THAT(problem.Message(), HasSubstr("log.npz: episode 1, step 1: the behavior policy's"));
  }
}

TEST(ActionLogRatios, TakeADensityAboveOneButNoSuchProbability) {
  RatioProblem problem;
  problem.behavior[0] = std::log(7.99);
  EXPECT_EQ(problem.Message(), "");
  problem.kind = ActionKind::kDiscrete;
  EXPECT_THAT(problem.Message(), HasSubstr("episode 0, step 0"));
}

TEST(ActionLogRatios, RefuseAnEvaluationDensityThatIsNoNumber) {
  RatioProblem problem;
  problem.evaluation[1] = std::nan("");
  EXPECT_THAT(problem.Message(), HasSubstr("episode 0, step 1: the evaluation policy's"));
}

}  // namespace
}  // namespace lfiw::ope
