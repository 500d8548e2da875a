#include "experiments/evaluation/fitted_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "envs/linear_gaussian.h"
#include "envs/linear_gaussian_env.h"
#include "policies/collect.h"
#include "policies/gaussian_mlp_policy.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kSteps = 30;

LinearGaussianSystem SmallSystem() {
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.state_matrix << 0.9, 0.1, 0.0, 0.8;
  system.action_matrix << 0.0, 0.3;
  system.noise_covariance = 0.01 * MatrixD::Identity(2, 2);
  system.initial_covariance = MatrixD::Identity(2, 2);
  return system;
}

// Fits the models of a log of a small linear system by a few steps each.
class FittedModelsTest : public ::testing::Test {
 protected:
  FittedModelsTest() : env_(MakeLinearGaussianFactory(SmallSystem())), task_{env_->spec(), env_} {
    config_.environment = kLinearGaussianName;
    config_.value.horizon = 5;
    config_.dynamics.members = 2;
    config_.dynamics.network.width = 8;
    config_.dynamics.fit.steps = 20;
    config_.classifiers.fit.network.width = 8;
    config_.classifiers.fit.fit.steps = 20;
    const TanhMlp mlp({2, 1});
    const GaussianMlpPolicy policy(mlp, VectorF::Zero(mlp.parameter_count()), VectorF::Zero(1),
                                   ObservationNormalizer(2, 10.0), "zero");
    log_.log = CollectEpisodes(*env_, policy,
                               {.episodes = 20, .horizon = kSteps, .seed = 1, .purpose = "log"});
    log_.hash = "log";
    split_ = SplitLog(20, config_.log, config_.dynamics.members, 0);
  }

  FittedModels Fit(std::int64_t classifiers) {
    return FitModels({config_, task_, cache_, Verbosity::kQuiet}, log_, split_, classifiers);
  }
  std::vector<std::string> Computed() const {
    std::vector<std::string> names;
    for (const StageRecord& record : cache_.records()) {
      if (record.outcome == StageOutcome::kComputed) names.push_back(record.name);
    }
    return names;
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  std::shared_ptr<const EnvFactory> env_;
  Task task_;
  EvaluationConfig config_;
  LogSource log_;
  LogSplit split_;
};

TEST_F(FittedModelsTest, ALongerHorizonIsJudgedByItsOwnOpenLoopError) {
  const FittedModels near = Fit(1);
  config_.value.horizon = kSteps;
  const FittedModels far = Fit(1);
  EXPECT_THAT(near.dynamics_report.open_loop, SizeIs(5));
  EXPECT_THAT(far.dynamics_report.open_loop, SizeIs(kSteps));
  // nothing was trained again for it
  EXPECT_THAT(Computed(), Contains("dynamics").Times(1));
  EXPECT_THAT(Computed(), Contains("dynamics_report").Times(2));
}

TEST_F(FittedModelsTest, MoreClassifiersCostOnlyTheNewOnes) {
  const FittedModels two = Fit(2);
  const FittedModels three = Fit(3);
  EXPECT_THAT(Computed(), Contains("classifier").Times(3));
  EXPECT_THAT(three.classifiers, SizeIs(3));
  EXPECT_THAT(three.classifier_histories, SizeIs(3));
  EXPECT_EQ(two.model_hashes, three.model_hashes);
  EXPECT_EQ(two.classifier_histories[1], three.classifier_histories[1]);
  EXPECT_EQ(three.held_out.real.size(), three.held_out.generated.size());
}

TEST_F(FittedModelsTest, HistoriesAreOneForEachMember) {
  const FittedModels models = Fit(1);
  ASSERT_THAT(models.dynamics_histories, SizeIs(2));
  EXPECT_EQ(models.dynamics_histories[0].steps.back(), 20);
  EXPECT_NE(models.dynamics_histories[0], models.dynamics_histories[1]);
}

TEST_F(FittedModelsTest, WithoutALoggedEndNoTerminationIsLearned) {
  config_.task.termination = TerminationSource::kLearned;
  const FittedModels models = Fit(1);
  EXPECT_EQ(models.termination, nullptr);
  EXPECT_FALSE(models.learned.termination);
  EXPECT_THAT(models.learned.termination_note, HasSubstr("no episode of the log ends"));
  EXPECT_THAT(Computed(), Not(Contains("learned_function")));
}

TEST_F(FittedModelsTest, ALearnedRewardComesWithItsHeldOutErrors) {
  config_.task.reward = RewardFunction::kLearned;
  config_.task.learned.fit.steps = 20;
  const FittedModels models = Fit(1);
  ASSERT_NE(models.reward, nullptr);
  ASSERT_TRUE(models.learned.reward);
  EXPECT_GE(models.learned.reward->rmse, 0.0);
  EXPECT_THAT(models.model_hashes, SizeIs(2));
}

}  // namespace
}  // namespace lfiw::experiments
