#include "ope/estimators/doubly_robust_lfiw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

// A system of two states and two actions over three steps, whose logs can be written down in full:
// all probabilities are quarters, so that the 2 * 8^3 equally weighted episodes below have exactly
// the behavior policy's distribution and every mean over them is an expectation.
//   P(s' = 1 | s, a) quarters [2][2], reward(s, a, s'), start uniform; the behavior policy is
//   uniform, the evaluation policy takes action 1 with probability kEvaluation[s].
constexpr int kHorizon = 3;
constexpr int kQuarters[2][2] = {{1, 2}, {3, 2}};
constexpr double kEvaluation[2] = {0.8, 0.3};
constexpr double kDiscount = 0.9;

double Reward(int s, int a, int next) { return 1.0 * s + 0.5 * a + 2.0 * next * (1 - a) - 0.3; }
double Probability(int s, int a, int next) {
  const double one = 0.25 * kQuarters[s][a];
  return next == 1 ? one : 1.0 - one;
}
double Policy(int s, int a) { return a == 1 ? kEvaluation[s] : 1.0 - kEvaluation[s]; }

// A function of step and state.
using StateTable = std::array<std::array<double, 2>, kHorizon + 1>;

// Q_t(s, a) = E[r + g next_{t+1}(s')] under transition probabilities p(s, a, s').
template <class Transition>
double LookAhead(const Transition& p, const StateTable& next, int t, int s, int a) {
  double q = 0.0;
  for (const int s2 : {0, 1}) {
    q += p(s, a, s2) *
         (Reward(s, a, s2) +
          kDiscount * next[static_cast<std::size_t>(t + 1)][static_cast<std::size_t>(s2)]);
  }
  return q;
}

template <class Transition>
StateTable ValuesUnder(const Transition& p) {
  StateTable v{};
  for (int t = kHorizon; t-- > 0;) {
    for (const int s : {0, 1}) {
      double& value = v[static_cast<std::size_t>(t)][static_cast<std::size_t>(s)];
      for (const int a : {0, 1}) value += Policy(s, a) * LookAhead(p, v, t, s, a);
    }
  }
  return v;
}

double TrueValue() {
  const StateTable v = ValuesUnder(Probability);
  return 0.5 * (v[0][0] + v[0][1]);
}

// Visitation probabilities of the states at each step, of a policy's action-1 probabilities.
template <class ActionProbability>
StateTable Visitation(const ActionProbability& policy) {
  StateTable d{};
  d[0] = {0.5, 0.5};
  for (std::size_t t = 0; t < kHorizon; ++t) {
    for (const int s : {0, 1}) {
      for (const int a : {0, 1}) {
        for (const int next : {0, 1}) {
          d[t + 1][static_cast<std::size_t>(next)] +=
              d[t][static_cast<std::size_t>(s)] * policy(s, a) * Probability(s, a, next);
        }
      }
    }
  }
  return d;
}

struct Episode {
  std::array<int, kHorizon + 1> states;
  std::array<int, kHorizon> actions;
};

// Digit t of `index` in base 8 chooses the action and the quarter of the outcome.
Episode EpisodeOf(int index) {
  Episode episode;
  episode.states[0] = index % 2;
  index /= 2;
  for (std::size_t t = 0; t < kHorizon; ++t, index /= 8) {
    const int a = index % 2, quarter = index / 2 % 4;
    episode.actions[t] = a;
    episode.states[t + 1] = quarter < kQuarters[episode.states[t]][a] ? 1 : 0;
  }
  return episode;
}

constexpr std::int64_t kEpisodes = 2 * 8 * 8 * 8;

// The log with Q and V from a model, and U = `fit`.
template <class Transition>
EstimatorInputs Inputs(const Transition& model, const StateTable& fit) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({kEpisodes, kHorizon});
  in.lengths.assign(kEpisodes, kHorizon);
  in.terminated.assign(kEpisodes, 0);
  ValueArrays values{Array<double, 2>({kEpisodes, kHorizon}),
                     Array<double, 2>({kEpisodes, kHorizon + 1}),
                     Array<double, 2>({kEpisodes, kHorizon + 1})};
  Array<double, 2> action({kEpisodes, kHorizon}), state({kEpisodes, kHorizon});
  const StateTable visited = Visitation(Policy);
  const StateTable logged = Visitation([](int, int) { return 0.5; });
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    const Episode e = EpisodeOf(static_cast<int>(i));
    for (int t = 0; t < kHorizon; ++t) {
      const auto step = static_cast<std::size_t>(t);
      const int s = e.states[step], a = e.actions[step];
      const auto index = static_cast<std::size_t>(s);
      in.rewards(i, t) = Reward(s, a, e.states[step + 1]);
      values.q(i, t) = LookAhead(model, fit, t, s, a);
      for (const int b : {0, 1}) values.v(i, t) += Policy(s, b) * LookAhead(model, fit, t, s, b);
      values.v_fit(i, t) = fit[step][index];
      action(i, t) = std::log(Policy(s, a) / 0.5);
      state(i, t) = std::log(visited[step][index] / logged[step][index]);
    }
  }
  in.values["model"] = std::move(values);
  in.log_ratios["action"] = std::move(action);
  in.log_ratios["model_visitation"] = std::move(state);
  return in;
}

double Value(const EpisodeTerms& terms) {
  double value = 0.0;
  for (std::int64_t k = 0; k < terms.numerators.shape()[1]; ++k) {
    double numerator = 0.0, denominator = 0.0;
    for (std::int64_t i = 0; i < terms.numerators.shape()[0]; ++i) {
      numerator += terms.numerators(i, k);
      denominator += terms.denominators(i, k);
    }
    value += numerator / denominator;
  }
  return value;
}

double Estimated(const EstimatorInputs& in, double state_power, double action_power,
                 WeightKind kind = WeightKind::kMarginal) {
  Estimand estimand;
  estimand.horizon = kHorizon;
  estimand.discount = kDiscount;
  DoublyRobustLfiwOptions options;
  options.state_power = state_power;
  options.action_power = action_power;
  options.weights = kind;
  return Value(EstimateDoublyRobustLfiw(in, estimand, options).terms);
}

double WrongModel(int s, int a, int next) {
  const double one = s == a ? 0.9 : 0.05;
  return next == 1 ? one : 1.0 - one;
}

constexpr StateTable kWrongFit = {{{3.0, -2.0}, {0.5, 4.0}, {-1.0, 1.0}, {0.0, 0.0}}};

TEST(DoublyRobustLfiw, TrueRatiosGiveTheTrueValueWhateverModelAndFit) {
  EXPECT_NEAR(Estimated(Inputs(WrongModel, kWrongFit), 1.0, 1.0), TrueValue(), 1e-12);
  EXPECT_NEAR(Estimated(Inputs(WrongModel, ValuesUnder(WrongModel)), 1.0, 1.0), TrueValue(), 1e-12);
  EXPECT_NEAR(Estimated(Inputs(Probability, kWrongFit), 1.0, 1.0), TrueValue(), 1e-12);
}

TEST(DoublyRobustLfiw, TheTrueModelGivesTheTrueValueWhateverTheWeights) {
  EstimatorInputs in = Inputs(Probability, ValuesUnder(Probability));
  for (const double a : {0.0, 0.5, 1.0}) {
    for (const double b : {0.0, 0.5, 1.0}) EXPECT_NEAR(Estimated(in, a, b), TrueValue(), 1e-12);
  }
  for (double& ratio : in.log_ratios["model_visitation"].flat()) ratio = -3.0 * ratio;
  for (double& ratio : in.log_ratios["action"].flat()) ratio = -2.0 * ratio;
  EXPECT_NEAR(Estimated(in, 1.0, 1.0), TrueValue(), 1e-12);
}

TEST(DoublyRobustLfiw, CumulatedActionRatiosAreTrueRatiosToo) {
  EXPECT_NEAR(Estimated(Inputs(WrongModel, kWrongFit), 0.0, 1.0, WeightKind::kCumulative),
              TrueValue(), 1e-12);
}

// The log with fitted weights that are the true ratios of states and actions.
EstimatorInputs InputsWithFittedWeights() {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  Array<double, 2> fitted({kEpisodes, kHorizon});
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    for (std::int64_t t = 0; t < kHorizon; ++t) {
      fitted(i, t) = in.log_ratios["action"](i, t) + in.log_ratios["model_visitation"](i, t);
    }
  }
  in.log_ratios = {{"dual_dice", std::move(fitted)}};
  return in;
}

TEST(DoublyRobustLfiw, FittedRatiosOfStatesAndActionsGiveTheTrueValue) {
  EXPECT_NEAR(Estimated(InputsWithFittedWeights(), 0.0, 1.0, WeightKind::kFitted), TrueValue(),
              1e-12);
}

TEST(DoublyRobustLfiw, TakesFittedWeightsAsTheyAreOrAsLogarithms) {
  EstimatorInputs in = InputsWithFittedWeights();
  const double expected = Estimated(in, 0.0, 0.5, WeightKind::kFitted);
  Array<double, 2> weights = in.log_ratios["dual_dice"];
  for (double& w : weights.flat()) w = std::exp(w);
  in.log_ratios.clear();
  in.weights["dual_dice"] = weights;
  EXPECT_NEAR(Estimated(in, 0.0, 0.5, WeightKind::kFitted), expected, 1e-12);
}

TEST(DoublyRobustLfiw, CountsNegativeFittedWeightsAsZero) {
  EstimatorInputs in = InputsWithFittedWeights();
  Array<double, 2> weights({kEpisodes, kHorizon}, 1.0);
  for (std::int64_t t = 0; t < kHorizon; ++t) weights(3, t) = 0.0;
  in.weights["dual_dice"] = weights;
  const double expected = Estimated(in, 0.0, 1.0, WeightKind::kFitted);
  for (std::int64_t t = 0; t < kHorizon; ++t) in.weights["dual_dice"](3, t) = -5.0;
  EXPECT_EQ(Estimated(in, 0.0, 1.0, WeightKind::kFitted), expected);
}

TEST(DoublyRobustLfiw, WrongWeightsAndAWrongModelLeaveAnError) {
  EXPECT_GT(std::abs(Estimated(Inputs(WrongModel, kWrongFit), 0.0, 0.0) - TrueValue()), 0.01);
}

TEST(DoublyRobustLfiw, AddsAnyConstantRewardExactly) {
  EstimatorInputs in = Inputs(WrongModel, ValuesUnder(WrongModel));
  const double before = Estimated(in, 0.5, 0.5);
  for (double& reward : in.rewards.flat()) reward += 10.0;
  EXPECT_NEAR(Estimated(in, 0.5, 0.5) - before, 10.0 * (1 + 0.9 + 0.81), 1e-10);
}

TEST(DoublyRobustLfiw, ValuesWithoutALookaheadUseVOnBothSides) {
  EstimatorInputs in = Inputs(Probability, ValuesUnder(Probability));
  in.values["model"].v_fit = {};
  EXPECT_NEAR(Estimated(in, 0.0, 0.0), TrueValue(), 1e-12);
}

TEST(DoublyRobustLfiw, WeighsEndedEpisodesByTheirShareInModelAndLog) {
  // two episodes; the first ends after one step. At t = 1 only the second has a residual, 3.
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 2});
  in.rewards(1, 1) = 3.0;
  in.lengths = {1, 2};
  in.terminated = {1, 0};
  in.values["model"] = {Array<double, 2>({2, 2}), Array<double, 2>({2, 3}),
                        Array<double, 2>({2, 3})};
  in.log_ratios["action"] = in.log_ratios["model_visitation"] = Array<double, 2>({2, 2});
  in.model_alive = {1.0, 0.25};
  const Estimate estimate = EstimateDoublyRobustLfiw(in, {}, {});
  // at t = 1 one of two logged episodes goes on, and a quarter of the model's; the power is 1/2
  EXPECT_DOUBLE_EQ(Value(estimate.terms), 0.5 * (0.25 + 0.5) * 3.0);
  EXPECT_DOUBLE_EQ(*estimate.ess, 2.0);

  DoublyRobustLfiwOptions options;
  options.state_power = 1.0;
  EXPECT_DOUBLE_EQ(Value(EstimateDoublyRobustLfiw(in, {}, options).terms), 0.25 * 3.0);
  options.state_power = 0.0;
  EXPECT_DOUBLE_EQ(Value(EstimateDoublyRobustLfiw(in, {}, options).terms), 0.5 * 3.0);
}

TEST(DoublyRobustLfiw, TheModelsShareCountsWhereNoLoggedEpisodeEnded) {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 2});
  in.rewards(0, 1) = in.rewards(1, 1) = 3.0;
  in.lengths = {2, 2};
  in.terminated = {0, 0};
  in.values["model"] = {Array<double, 2>({2, 2}), Array<double, 2>({2, 3}),
                        Array<double, 2>({2, 3})};
  in.log_ratios["action"] = in.log_ratios["model_visitation"] = Array<double, 2>({2, 2});
  in.model_alive = {1.0, 0.25};
  DoublyRobustLfiwOptions options;
  options.state_power = 1.0;
  EXPECT_DOUBLE_EQ(Value(EstimateDoublyRobustLfiw(in, {}, options).terms), 0.25 * 3.0);
  // nobody is left: no correction, and no refusal
  in.model_alive = {1.0, 0.0};
  const std::optional<double> uncorrected =
      ValueOf(EstimateDoublyRobustLfiw(in, {}, options).terms);
  ASSERT_TRUE(uncorrected);
  EXPECT_DOUBLE_EQ(*uncorrected, 0.0);
  // a mean of ones over folds may be a rounding above 1
  in.model_alive = {1.0, 1.0 + 2e-16};
  EXPECT_DOUBLE_EQ(Value(EstimateDoublyRobustLfiw(in, {}, options).terms), 3.0);
}

TEST(DoublyRobustLfiw, SaysWhereTheLogEndsBeforeTheHorizon) {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  in.lengths.assign(kEpisodes, 2);
  const Estimate estimate = EstimateDoublyRobustLfiw(in, {}, {});
  ASSERT_EQ(estimate.notes.size(), 1u);
  EXPECT_THAT(estimate.notes[0], HasSubstr("longer than 2 steps"));
  EXPECT_TRUE(ValueOf(estimate.terms));
}

TEST(DoublyRobustLfiw, RefusesAStepWithoutSupport) {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    in.log_ratios["action"](i, 1) = -std::numeric_limits<double>::infinity();
  }
  const Estimate estimate = EstimateDoublyRobustLfiw(in, {}, {});
  EXPECT_FALSE(estimate.value);
  EXPECT_THAT(estimate.reason, HasSubstr("no support: all weights of step 1 are 0"));
}

Estimand FiniteEstimand() {
  Estimand estimand;
  estimand.horizon = kHorizon;
  estimand.discount = kDiscount;
  return estimand;
}

TEST(ChooseDoublyRobustLfiw, PrefersNoWeightsWhereTheModelIsTrue) {
  const ChosenDoublyRobust chosen = ChooseDoublyRobustLfiw(
      Inputs(Probability, ValuesUnder(Probability)), FiniteEstimand(), {}, {});
  EXPECT_EQ(chosen.power, 0.0);
  EXPECT_EQ(chosen.candidates.size(), 5u);
}

TEST(ChooseDoublyRobustLfiw, PrefersFullWeightsWhereWeakerOnesAreVisiblyBiased) {
  // the log's 1024 episodes, each fifty times over in precision: differences that tell
  PowerChoiceOptions choice;
  choice.width = 0.02;
  const EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  const ChosenDoublyRobust chosen = ChooseDoublyRobustLfiw(in, FiniteEstimand(), {}, choice);
  EXPECT_EQ(chosen.power, 1.0);
  EXPECT_NEAR(*chosen.estimate.value, TrueValue(), 1e-12);
  EXPECT_TRUE(chosen.estimate.standard_error);
}

TEST(ChooseDoublyRobustLfiw, LeavesOutWeightsThatKeepTooFewEpisodes) {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  for (std::int64_t t = 0; t < kHorizon; ++t) in.log_ratios["action"](0, t) = 30.0;
  const ChosenDoublyRobust chosen = ChooseDoublyRobustLfiw(in, FiniteEstimand(), {}, {});
  EXPECT_EQ(chosen.power, 0.0);
  EXPECT_THAT(chosen.candidates[0].left_out, HasSubstr("effective episodes, fewer than"));
}

TEST(ChooseDoublyRobustLfiw, SaysThatOnlyStatesAreWeighedWithoutActionRatios) {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  in.log_ratios.erase("action");
  in.missing["action"] = "the evaluation policy has no density";
  const ChosenDoublyRobust chosen = ChooseDoublyRobustLfiw(in, FiniteEstimand(), {}, {});
  ASSERT_TRUE(chosen.estimate.value);
  EXPECT_THAT(chosen.estimate.notes.back(), HasSubstr("has no density): only the states"));
}

TEST(ChooseDoublyRobustLfiw, NeedsNoActionRatiosForFittedWeights) {
  DoublyRobustLfiwOptions options;
  options.weights = WeightKind::kFitted;
  PowerChoiceOptions choice;
  choice.width = 0.02;
  const ChosenDoublyRobust chosen =
      ChooseDoublyRobustLfiw(InputsWithFittedWeights(), FiniteEstimand(), options, choice);
  EXPECT_EQ(chosen.power, 1.0);
  EXPECT_NEAR(*chosen.estimate.value, TrueValue(), 1e-12);
}

TEST(ChooseDoublyRobustLfiw, RefusesWhereNoWeightsHaveSupport) {
  EstimatorInputs in = Inputs(WrongModel, kWrongFit);
  in.values.clear();
  in.missing["model"] = "no dynamics model was fitted";
  const ChosenDoublyRobust chosen = ChooseDoublyRobustLfiw(in, FiniteEstimand(), {}, {});
  EXPECT_FALSE(chosen.estimate.value);
  EXPECT_THAT(chosen.estimate.reason, HasSubstr("no dynamics model"));
}

}  // namespace
}  // namespace lfiw::ope
