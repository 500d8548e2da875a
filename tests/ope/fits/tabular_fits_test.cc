#include "ope/fits/tabular_fits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "envs/tabular_systems.h"
#include "ope/estimators/doubly_robust_lfiw.h"
#include "ope/estimators/importance_sampling.h"
#include "ope/fits/closed_form_inputs.h"
#include "ope/rollouts/lfiw.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Estimand Over(std::optional<std::int64_t> horizon, double discount) {
  Estimand estimand;
  estimand.horizon = horizon;
  estimand.discount = discount;
  return estimand;
}

// One episode; observations has one more than actions.
TabularLog OneEpisode(const std::vector<std::int64_t>& observations,
                      const std::vector<std::int64_t>& actions, const std::vector<double>& rewards,
                      std::uint8_t terminated) {
  const std::int64_t steps = std::ssize(actions);
  TabularLog log{.states = Array<std::int64_t, 2>({1, steps + 1}),
                 .observations = Array<std::int64_t, 2>({1, steps + 1}),
                 .actions = Array<std::int64_t, 2>({1, steps}),
                 .rewards = Array<double, 2>({1, steps}),
                 .lengths = {steps},
                 .terminated = {terminated}};
  std::ranges::copy(observations, log.states.flat().begin());
  std::ranges::copy(observations, log.observations.flat().begin());
  std::ranges::copy(actions, log.actions.flat().begin());
  std::ranges::copy(rewards, log.rewards.flat().begin());
  return log;
}

TabularLog LogOf(const TabularProblem& problem, std::int64_t episodes) {
  return SampleLog(problem.system, problem.behavior, episodes, problem.horizon, Stream(3, "log"));
}

double TruthOf(const TabularProblem& problem) {
  return ExpectedValue(problem.system, FiniteHorizonValues(problem.system, problem.evaluation,
                                                           problem.horizon, problem.discount));
}

EstimatorInputs InputsOf(const TabularProblem& problem, std::int64_t episodes,
                         const ModelRolloutCounts& counts = {}) {
  return MakeTabularInputs(problem.system, problem.behavior, problem.evaluation,
                           LogOf(problem, episodes), Over(problem.horizon, problem.discount),
                           counts, 11);
}

double MeanFirstValue(const ValueArrays& values) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < values.v.shape()[0]; ++i) sum += values.v(i, 0);
  return sum / static_cast<double>(values.v.shape()[0]);
}

TEST(TabularQ, ContinuesAfterATimeLimitButNotAfterATerminalState) {
  const TabularPolicy policy({1, 1}, 1.0);
  const std::vector<std::int64_t> zeros(6, 0);
  const std::vector<std::int64_t> actions(5, 0);
  const std::vector<double> rewards(5, 1.0);
  const auto value = [&](std::uint8_t terminated, std::optional<std::int64_t> horizon) {
    return FitTabularQ(OneEpisode(zeros, actions, rewards, terminated), policy, Over(horizon, 0.9))
        .V(0, 0);
  };
  EXPECT_NEAR(value(0, std::nullopt), 10.0, 1e-12);
  EXPECT_NEAR(value(1, std::nullopt), 3.571428571, 1e-9);
  EXPECT_NEAR(value(0, 5), 4.0951, 1e-12);
  // the log's fifth step ended it: beyond, steps count alike
  EXPECT_NEAR(value(1, 5), 4.0951, 1e-12);
}

TEST(TabularQ, LooksAtThePolicysActionInTheNextState) {
  // s0 -a-> s1 -b-> end with 1, s1 -a-> end with -1; the policy takes a, then b
  TabularLog log = OneEpisode({0, 1, 1}, {0, 1}, {0.0, 1.0}, 1);
  TabularPolicy policy({2, 2});
  policy(0, 0) = policy(1, 1) = 1.0;
  for (const std::optional<std::int64_t> horizon : {std::optional<std::int64_t>(2), {}}) {
    const TabularValues values = FitTabularQ(log, policy, Over(horizon, 1.0));
    EXPECT_DOUBLE_EQ(values.V(0, 0), 1.0);
    EXPECT_DOUBLE_EQ(values.Q(1, 1, 0), 0.0);
  }
}

TEST(TabularQ, HasThePublishedValuesAlongAnEpisode) {
  const std::vector<double> expected = {-2.4977, -1.5128, -.5180, .4869, 1.5019, 2.5272, 3.5628,
                                        4.6089,  5.6656,  6.7329, 7.811, 8.9,    10.0};
  std::vector<std::int64_t> states(14);
  for (std::size_t s = 0; s < states.size(); ++s) states[s] = static_cast<std::int64_t>(s);
  std::vector<double> rewards(13, -1.0);
  rewards.back() = 10.0;
  const TabularLog log = OneEpisode(states, std::vector<std::int64_t>(13, 0), rewards, 1);
  const TabularPolicy policy({14, 1}, 1.0);
  for (const std::optional<std::int64_t> horizon : {std::optional<std::int64_t>(13), {}}) {
    const ValueArrays values = ValuesAtSteps(FitTabularQ(log, policy, Over(horizon, 0.99)), log);
    for (std::int64_t t = 0; t < 13; ++t) {
      EXPECT_NEAR(values.q(0, t), expected[static_cast<std::size_t>(t)], 6e-5);
      EXPECT_DOUBLE_EQ(values.q(0, t), values.v(0, t));
    }
    EXPECT_EQ(values.v(0, 13), 0.0);
  }
}

TEST(TabularModel, CountsWhatWasSeenAndEndsUnseenPairs) {
  const TabularLog log = OneEpisode({0, 1, 0, 1}, {0, 1, 0}, {1.0, 5.0, 2.0}, 1);
  const TabularSystem model = FitTabularModel(log, 2, 2);
  EXPECT_NO_THROW(Validate(model));
  EXPECT_EQ(model.states(), 4);
  EXPECT_EQ(model.transitions(0, 0, 1), 0.5);  // went on in 1
  EXPECT_EQ(model.transitions(0, 0, 3), 0.5);  // ended in 1
  EXPECT_EQ(model.rewards(0, 0, 1), 1.0);
  EXPECT_EQ(model.rewards(0, 0, 3), 2.0);
  EXPECT_EQ(model.transitions(1, 1, 0), 1.0);
  EXPECT_EQ(model.transitions(0, 1, 2), 1.0);  // unseen
  EXPECT_EQ(model.rewards(0, 1, 2), 0.0);
  EXPECT_EQ(model.initial[0], 1.0);
}

TEST(TabularFits, ModelAndFqeApproachTheTruthWhereStatesAreSeen) {
  for (const char* name : {"model_win", "graph", "graph_deterministic", "blackjack"}) {
    SCOPED_TRACE(name);
    const TabularProblem problem = FindTabularProblem(name);
    const EstimatorInputs in = InputsOf(problem, 20'000);
    EXPECT_NEAR(MeanFirstValue(in.values.at("model")), TruthOf(problem), 0.06);
    EXPECT_NEAR(MeanFirstValue(in.values.at("fqe")), TruthOf(problem), 0.12);
  }
}

TEST(TabularFits, ModelAndFqeFailWhereStatesLookAlike) {
  // whatever the action seems to do, the reward of a second step is the log's mean, 0.76; and the
  // model takes half the steps for second ones: 1/2 0.76 + 1/4 0.76
  const EstimatorInputs in = InputsOf(ModelFail(), 20'000);
  EXPECT_NEAR(MeanFirstValue(in.values.at("fqe")), 0.76, 0.03);
  EXPECT_NEAR(MeanFirstValue(in.values.at("model")), 0.57, 0.03);
}

TEST(TabularFits, AnInfiniteHorizonsFqeIsTheModelsValue) {
  const TabularProblem problem = Gridworld();
  const EstimatorInputs in = MakeTabularInputs(problem.system, problem.behavior, problem.evaluation,
                                               LogOf(problem, 50), Over({}, 0.9), {}, 11);
  const ValueArrays &fqe = in.values.at("fqe"), &model = in.values.at("model");
  for (std::size_t k = 0; k < fqe.q.flat().size(); ++k) {
    EXPECT_NEAR(fqe.q.flat()[k], model.q.flat()[k], 1e-12);
  }
  EXPECT_TRUE(in.model_rewards.empty());
  EXPECT_THAT(in.missing.at("rollouts"), HasSubstr("value.horizon"));
}

// Weighted rewards of all steps over the number of episodes, g^t or, without a horizon, all alike.
double Weighted(const EstimatorInputs& in, const Array<double, 2>& weights,
                std::optional<double> discount) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    double factor = 1.0;
    for (std::int64_t t = 0; t < in.lengths[static_cast<std::size_t>(i)]; ++t) {
      sum += factor * weights(i, t) * in.rewards(i, t);
      factor *= discount.value_or(1.0);
    }
  }
  return sum / static_cast<double>(in.episodes());
}

TEST(TabularFits, WeightsApproachTheTruthWhereStatesAreSeen) {
  for (const char* name : {"model_win", "graph", "graph_deterministic", "blackjack"}) {
    SCOPED_TRACE(name);
    const TabularProblem problem = FindTabularProblem(name);
    const EstimatorInputs in = InputsOf(problem, 20'000);
    EXPECT_NEAR(Weighted(in, in.weights.at("mwl"), problem.discount), TruthOf(problem), 0.12);
    EXPECT_EQ(in.weights.at("mwl"), in.weights.at("gen_dice"));
  }
}

TEST(TabularFits, WeightsAreTheExactRatiosInTheLimit) {
  const TabularProblem problem = FindTabularProblem("graph");
  const EstimatorInputs in = InputsOf(problem, 20'000);
  const Array<double, 2>& states = in.log_ratios.at("visitation");
  const Array<double, 2>& actions = in.log_ratios.at("action");
  for (std::int64_t i = 0; i < 100; ++i) {
    for (std::int64_t t = 0; t < in.lengths[static_cast<std::size_t>(i)]; ++t) {
      const double exact = std::exp(states(i, t) + actions(i, t));
      EXPECT_NEAR(in.weights.at("mwl")(i, t), exact, 0.1 * exact);
    }
  }
}

TEST(TabularFits, InfiniteHorizonsWeightsHaveTheValueOfFqe) {
  const TabularProblem problem = Gridworld();
  const TabularLog log = LogOf(problem, 400);
  const EstimatorInputs in = MakeTabularInputs(problem.system, problem.behavior, problem.evaluation,
                                               log, Over({}, problem.discount), {}, 11);
  double steps = 0.0;
  for (const std::int64_t length : in.lengths) steps += static_cast<double>(length);
  const double value = Weighted(in, in.weights.at("mwl"), {}) * 400.0 / steps;
  EXPECT_NEAR(value / (1.0 - problem.discount), MeanFirstValue(in.values.at("fqe")), 1e-9);
}

// The smallest and largest contribution of many episodes to a plain mean.
ReturnRange Seen(const TabularProblem& problem, WeightedBy by) {
  const TabularLog log = LogOf(problem, 5000);
  const Array<double, 2> ratios = ActionLogRatios(problem.behavior, problem.evaluation, log);
  ReturnRange seen{HUGE_VAL, -HUGE_VAL};
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    double rho = 0.0, sum = 0.0, factor = 1.0;
    for (std::int64_t t = 0; t < log.lengths[static_cast<std::size_t>(i)]; ++t) {
      rho += ratios(i, t);
      sum += factor * (by == WeightedBy::kStep ? std::exp(rho) : 1.0) * log.rewards(i, t);
      factor *= problem.discount;
    }
    if (by == WeightedBy::kTrajectory) sum *= std::exp(rho);
    seen = {std::min(seen.low, sum), std::max(seen.high, sum)};
  }
  return seen;
}

TEST(TabularRanges, HoldWhatEpisodesAddAndAreReached) {
  for (const char* name : {"model_win", "model_fail", "hybrid", "graph", "gridworld"}) {
    SCOPED_TRACE(name);
    const TabularProblem p = FindTabularProblem(name);
    const ReturnRange steps =
        PerDecisionRange(p.system, p.behavior, p.evaluation, p.horizon, p.discount);
    const ReturnRange whole =
        TrajectoryRange(p.system, p.behavior, p.evaluation, p.horizon, p.discount);
    const ReturnRange seen_steps = Seen(p, WeightedBy::kStep),
                      seen_whole = Seen(p, WeightedBy::kTrajectory);
    EXPECT_LE(steps.low, seen_steps.low + 1e-9);
    EXPECT_GE(steps.high, seen_steps.high - 1e-9);
    EXPECT_LE(whole.low, seen_whole.low + 1e-9);
    EXPECT_GE(whole.high, seen_whole.high - 1e-9);
  }
  const TabularProblem fail = ModelFail();
  const ReturnRange range =
      PerDecisionRange(fail.system, fail.behavior, fail.evaluation, fail.horizon, fail.discount);
  EXPECT_NEAR(range.high, Seen(fail, WeightedBy::kStep).high, 1e-9);
  EXPECT_NEAR(range.low, Seen(fail, WeightedBy::kStep).low, 1e-9);
}

TEST(TabularFits, VisitationRatiosAreThoseOfUnseenStates) {
  const TabularProblem problem = ModelFail();
  const TabularLog log = LogOf(problem, 200);
  const Array<double, 2> ratios =
      VisitationLogRatios(problem.system, problem.behavior, problem.evaluation, log);
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    EXPECT_NEAR(ratios(i, 0), 0.0, 1e-14);
    EXPECT_NEAR(ratios(i, 1), std::log(log.states(i, 1) == 1 ? 0.12 / 0.88 : 0.88 / 0.12), 1e-12);
  }
}

TEST(TabularFits, ModelVisitationApproachesTheExactRatiosWhereStatesAreSeen) {
  const TabularProblem problem = FindTabularProblem("graph");
  const EstimatorInputs in = InputsOf(problem, 50'000);
  const Array<double, 2>& exact = in.log_ratios.at("visitation");
  const Array<double, 2>& fitted = in.log_ratios.at("model_visitation");
  for (std::int64_t i = 0; i < 200; ++i) {
    for (std::int64_t t = 0; t < in.steps(); ++t) EXPECT_NEAR(fitted(i, t), exact(i, t), 0.05);
  }
}

TEST(TabularFits, ExactRatiosCorrectWhatTheModelGetsWrong) {
  for (const char* name : {"model_fail", "graph_partial", "hybrid", "graph"}) {
    SCOPED_TRACE(name);
    const TabularProblem problem = FindTabularProblem(name);
    EstimatorInputs in = InputsOf(problem, 20'000);
    // all episodes run to the horizon, which a model of states that look alike does not know
    in.model_alive.clear();
    DoublyRobustLfiwOptions options;
    options.state_ratio = "visitation";
    options.state_power = options.action_power = 1.0;
    const Estimator estimator{
        .name = "exact",
        .summary = {},
        .horizons = HorizonSupport::kBoth,
        .needs = {"model", "fqe", "action", "visitation", "model_visitation", "rollouts"},
        .estimate = [&](const EstimatorInputs& inputs, const Estimand& estimand) {
          return EstimateDoublyRobustLfiw(inputs, estimand, options);
        }};
    const Estimate estimate = RunEstimator(estimator, in, Over(problem.horizon, problem.discount));
    ASSERT_TRUE(estimate.value) << estimate.reason;
    EXPECT_NEAR(*estimate.value, TruthOf(problem), 5.0 * *estimate.standard_error + 1e-9);
    EXPECT_LT(*estimate.standard_error, 0.1);
  }
}

TEST(TabularFits, RolloutsHaveTheModelsValueAndTheirWeightsGiveTheTruth) {
  const TabularProblem problem = FindTabularProblem("graph");
  const EstimatorInputs in = InputsOf(problem, 400, {.repetitions = 40, .episodes = 10'000});
  ASSERT_EQ(in.model_rewards.shape(), (std::array<std::int64_t, 3>{40, 10'000, 4}));
  ASSERT_EQ(in.model_log_weights.shape(), (std::array<std::int64_t, 4>{40, 1, 10'000, 4}));
  const LfiwResult result =
      EstimateLfiw(in.model_rewards, in.model_log_weights, Over(4, problem.discount), {});
  const LfiwEstimate &plain = result.horizons.front(), &weighted = result.horizons.back();
  const double model = MeanFirstValue(in.values.at("model"));
  EXPECT_NEAR(*plain.value, model, 5.0 * *plain.standard_error);
  EXPECT_NEAR(*weighted.value, TruthOf(problem), 5.0 * *weighted.standard_error);
  EXPECT_GT(std::abs(model - TruthOf(problem)), 5.0 * *weighted.standard_error);
}

TEST(TabularFits, TheModelsShareOfRunningEpisodesFalls) {
  const EstimatorInputs in = InputsOf(Loop(), 1000);
  ASSERT_EQ(std::ssize(in.model_alive), 200);
  EXPECT_EQ(in.model_alive[0], 1.0);
  EXPECT_NEAR(in.model_alive[5], std::pow(0.9, 5), 0.05);
}

TEST(TabularFits, ALogIsCutAndPaddedToTheHorizon) {
  const TabularLog log = OneEpisode({0, 1, 2}, {0, 1}, {1.0, 2.0}, 1);
  const TabularLog cut = WithSteps(log, 1);
  EXPECT_EQ(cut.lengths[0], 1);
  EXPECT_EQ(cut.terminated[0], 0);
  EXPECT_EQ(cut.observations(0, 1), 1);
  const TabularLog padded = WithSteps(log, 4);
  EXPECT_EQ(padded.lengths[0], 2);
  EXPECT_EQ(padded.terminated[0], 1);
  EXPECT_EQ(padded.observations(0, 2), 2);
  EXPECT_EQ(padded.rewards(0, 3), 0.0);
}

TEST(TabularFits, AnyNumberOfThreadsGivesTheSameInputs) {
  SetThreads(1);
  const EstimatorInputs one = InputsOf(Hybrid(), 100);
  SetThreads(2);
  const EstimatorInputs two = InputsOf(Hybrid(), 100);
  SetThreads(0);
  EXPECT_EQ(one.model_rewards, two.model_rewards);
  EXPECT_EQ(one.model_log_weights, two.model_log_weights);
  EXPECT_EQ(one.values.at("fqe").q, two.values.at("fqe").q);
}

TEST(TabularFits, ABehaviorPolicyThatDidNotMakeTheLogIsNamed) {
  TabularPolicy never({2, 2});
  never(0, 1) = never(1, 1) = 1.0;
  const TabularLog log = OneEpisode({0, 1}, {0}, {1.0}, 0);
  EXPECT_THAT(
      [&] {
        ActionLogRatios(never, TabularPolicy({2, 2}, 0.5), log);
      },
      ThrowsMessage<DataError>(HasSubstr("episode 0, step 0: the behavior policy takes "
                                         "action 0 at observation 0 with probability 0")));
  // an action that the evaluation policy does not take has no weight
  EXPECT_EQ(ActionLogRatios(TabularPolicy({2, 2}, 0.5), never, log)(0, 0),
            -std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace lfiw::ope
