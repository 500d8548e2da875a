#include "ope/rollouts/learned_task_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// value = s + 2 a + 3 (s' - s) + 4 s' - 5, for one state and one action
std::shared_ptr<const LearnedFunction> Linear(FunctionKind kind) {
  const Scaler one(VectorF::Zero(1), VectorF::Ones(1));
  std::vector<Mlp> networks;
  networks.emplace_back(
      4, 1, MlpOptions{.hidden_layers = 0, .width = 1, .activation = {}, .precision = {}},
      Stream(1, "w"));
  networks.back().parameters() << 1, 2, 3, 4, -5;
  return std::make_shared<const LearnedFunction>(kind, TransitionScaler{one, one, one, one},
                                                 OutputScale{}, std::move(networks));
}

// Rewards are aux; an episode ends where the action is above 1.
class ActionEnds final : public TaskRules {
 public:
  std::int64_t aux_dim() const override { return 1; }
  void Rewards(ConstMatrixRef /*states*/, ConstMatrixRef /*actions*/, ConstMatrixRef /*next*/,
               ConstMatrixRef aux, std::span<double> rewards) const override {
    for (std::size_t i = 0; i < rewards.size(); ++i) {
      rewards[i] = aux(static_cast<Eigen::Index>(i), 0);
    }
  }
  void Terminated(ConstMatrixRef /*states*/, ConstMatrixRef actions, ConstMatrixRef /*next*/,
                  std::span<std::uint8_t> terminated) const override {
    for (std::size_t i = 0; i < terminated.size(); ++i) {
      terminated[i] = actions(static_cast<Eigen::Index>(i), 0) > 1.0f;
    }
  }
};

struct Outcome {
  std::vector<double> rewards = std::vector<double>(3);
  std::vector<std::uint8_t> terminated = std::vector<std::uint8_t>(3, 9);
  std::int64_t aux_dim = 0;
};

// Of three steps whose learned values are -5 + 2, 0 and 2.25.
Outcome Evaluate(LearnedParts parts) {
  const LearnedTaskRules functions(std::move(parts));
  const MatrixF states{{0.0f}, {1.0f}, {0.0f}}, actions{{1.0f}, {0.0f}, {1.5f}},
      next_states{{0.0f}, {1.0f}, {0.75f}}, aux{{7.0f}, {8.0f}, {9.0f}};
  Outcome out;
  functions.Rewards(states, actions, next_states, aux, out.rewards);
  functions.Terminated(states, actions, next_states, out.terminated);
  out.aux_dim = functions.aux_dim();
  return out;
}

TEST(LearnedTaskRules, LearnedPartsNeedNoEnvironment) {
  const Outcome out = Evaluate({.reward = Linear(FunctionKind::kReward),
                                .termination = Linear(FunctionKind::kTermination),
                                .termination_source = TerminationSource::kLearned});
  EXPECT_THAT(out.rewards, ElementsAre(-3.0, 0.0, 3.25));
  // a probability of exactly 1/2 ends the episode
  EXPECT_THAT(out.terminated, ElementsAre(0, 1, 1));
  EXPECT_EQ(out.aux_dim, 0);
}

TEST(LearnedTaskRules, TheEnvironmentGivesWhatIsNotLearned) {
  const auto environment = std::make_shared<ActionEnds>();
  const Outcome out =
      Evaluate({.environment = environment, .termination_source = TerminationSource::kEnvironment});
  EXPECT_THAT(out.rewards, ElementsAre(7.0, 8.0, 9.0));
  EXPECT_THAT(out.terminated, ElementsAre(0, 0, 1));
  EXPECT_EQ(out.aux_dim, 1);

  const Outcome learned = Evaluate({.environment = environment,
                                    .termination = Linear(FunctionKind::kTermination),
                                    .termination_source = TerminationSource::kLearned});
  EXPECT_THAT(learned.rewards, ElementsAre(7.0, 8.0, 9.0));
  EXPECT_THAT(learned.terminated, ElementsAre(0, 1, 1));
}

TEST(LearnedTaskRules, NoneNeverEnds) {
  const Outcome out = Evaluate({.environment = std::make_shared<ActionEnds>(),
                                .termination = Linear(FunctionKind::kTermination),
                                .termination_source = TerminationSource::kNone});
  EXPECT_THAT(out.terminated, ElementsAre(0, 0, 0));
}

TEST(LearnedTaskRules, AStateThatIsNotANumberEnds) {
  const LearnedTaskRules functions({.reward = Linear(FunctionKind::kReward),
                                    .termination = Linear(FunctionKind::kTermination),
                                    .termination_source = TerminationSource::kLearned});
  std::vector<std::uint8_t> terminated(1);
  functions.Terminated(MatrixF::Zero(1, 1), MatrixF::Zero(1, 1),
                       MatrixF::Constant(1, 1, std::nanf("")), terminated);
  EXPECT_THAT(terminated, ElementsAre(1));
}

std::string ErrorOf(LearnedParts parts) {
  try {
    const LearnedTaskRules functions(std::move(parts));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(LearnedTaskRules, MissingPartsAreErrors) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("reward: no function and no environment"));
  EXPECT_THAT(ErrorOf({.reward = Linear(FunctionKind::kReward),
                       .termination_source = TerminationSource::kEnvironment}),
              HasSubstr("environment, but none is given"));
  EXPECT_THAT(ErrorOf({.reward = Linear(FunctionKind::kReward),
                       .termination_source = TerminationSource::kLearned}),
              HasSubstr("learned, but none was fitted"));
}

}  // namespace
}  // namespace lfiw::ope
