#include "experiments/evaluation/fitted_models.h"

#include <gtest/gtest.h>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

class ModelTaskRulesTest : public SmallEvaluation {};

TEST_F(ModelTaskRulesTest, AreTheEnvironmentsWhereNothingIsLearned) {
  const FittedModels models = Fit(1);
  const auto rules =
      ModelTaskRules(TaskKeyOf(Context()), env_.get(), config_.rollout.reward, models);
  MatrixF states = MatrixF::Zero(2, 2), actions(2, 1), aux(2, 0);
  actions << 0.25f, -1.0f;
  std::vector<double> rewards(2);
  rules->Rewards(states, actions, states, aux, rewards);
  EXPECT_EQ(rewards, (std::vector<double>{0.25, -1.0}));
}

}  // namespace
}  // namespace lfiw::experiments
