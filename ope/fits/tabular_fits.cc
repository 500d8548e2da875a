#include "ope/fits/tabular_fits.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::ope {
namespace {

std::size_t Index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Calls f(i, t) for every logged step.
template <class F>
void ForEachStep(const TabularLog& log, const F& f) {
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    for (std::int64_t t = 0; t < log.lengths[Index(i)]; ++t) f(i, t);
  }
}

double MeanOverActions(const TabularPolicy& policy, std::span<const double> q, std::int64_t o) {
  double mean = 0.0;
  for (std::size_t a = 0; a < q.size(); ++a) mean += policy.Row(o)[a] * q[a];
  return mean;
}

// Mean targets r + g V_{t+1}(o') of the transitions of step t, or, for pairs without any, those of
// all steps; [O, A].
Array<double, 2> MeanTargets(const TabularLog& log, const TabularSystem& model,
                             std::span<const double> next, double discount, std::int64_t t) {
  const std::int64_t seen = std::ssize(next), actions = model.actions();
  std::vector<double> next_of_model(Index(model.states()), 0.0);
  std::ranges::copy(next, next_of_model.begin());
  const Array<double, 2> pooled = LookAhead(model, next_of_model, discount);
  Array<double, 2> sums({seen, actions}), counts({seen, actions});
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    if (t >= log.lengths[Index(i)]) continue;
    const std::int64_t o = log.observations(i, t), a = log.actions(i, t);
    const double after = log.ContinuesAfter(i, t) ? next[Index(log.observations(i, t + 1))] : 0.0;
    sums(o, a) += log.rewards(i, t) + discount * after;
    counts(o, a) += 1.0;
  }
  for (std::int64_t o = 0; o < seen; ++o) {
    for (std::int64_t a = 0; a < actions; ++a) {
      sums(o, a) = counts(o, a) > 0.0 ? sums(o, a) / counts(o, a) : pooled(o, a);
    }
  }
  return sums;
}

// The first O of a model's 2 O states, those that go on.
TabularValues OfRunningStates(const TabularValues& values, std::int64_t observations) {
  const std::int64_t actions = values.q.shape()[2];
  TabularValues running{Array<double, 3>({values.q.shape()[0], observations, actions}),
                        Array<double, 2>({values.v.shape()[0], observations})};
  for (std::int64_t t = 0; t < running.q.shape()[0]; ++t) {
    for (std::int64_t o = 0; o < observations; ++o) {
      std::ranges::copy(values.q.Row(t, o), running.q.Row(t, o).begin());
    }
  }
  for (std::int64_t t = 0; t < running.v.shape()[0]; ++t) {
    std::ranges::copy(values.v.Row(t).first(Index(observations)), running.v.Row(t).begin());
  }
  return running;
}

// Probability of state s at t and of no earlier end, [T, S].
Array<double, 2> StateVisitation(const TabularSystem& system, const TabularPolicy& policy,
                                 std::int64_t steps) {
  const Array<double, 3> visited = Visitation(system, policy, steps);
  Array<double, 2> states({steps, system.states()});
  for (std::int64_t t = 0; t < steps; ++t) {
    for (std::int64_t s = 0; s < system.states(); ++s) {
      for (const double p : visited.Row(t, s)) states(t, s) += p;
    }
  }
  return states;
}

// Share of episodes that have not ended before each step: sums of the rows.
std::vector<double> Alive(const Array<double, 2>& visited) {
  std::vector<double> alive(Index(visited.shape()[0]), 0.0);
  for (std::int64_t t = 0; t < visited.shape()[0]; ++t) {
    for (const double p : visited.Row(t)) alive[Index(t)] += p;
  }
  return alive;
}

// P(o', end | o, a) in `steps` steps of the behavior policy, in the layout of a fitted model:
// [O, A, 2 O]. An unseen state counts in the share in which the policy visits it.
Array<double, 3> SeenTransitions(const TabularSystem& system, const TabularPolicy& behavior,
                                 std::int64_t steps) {
  const std::int64_t seen = system.observation_count(), actions = system.actions();
  const Array<double, 2> visited = StateVisitation(system, behavior, steps);
  Array<double, 3> transitions({seen, actions, 2 * seen});
  std::vector<double> total(Index(seen), 0.0);
  for (std::int64_t s = 0; s < system.states(); ++s) {
    const std::int64_t o = system.observations[Index(s)];
    double share = 0.0;
    for (std::int64_t t = 0; t < steps; ++t) share += visited(t, s);
    if (share == 0.0 || system.terminal[Index(s)] != 0) continue;
    total[Index(o)] += share;
    for (std::int64_t a = 0; a < actions; ++a) {
      for (std::int64_t next = 0; next < system.states(); ++next) {
        const std::int64_t column =
            system.observations[Index(next)] + (system.terminal[Index(next)] != 0 ? seen : 0);
        transitions(o, a, column) += share * system.transitions(s, a, next);
      }
    }
  }
  for (std::int64_t o = 0; o < seen; ++o) {
    for (std::int64_t a = 0; a < actions; ++a) {
      for (double& p : transitions.Row(o, a)) p /= std::max(total[Index(o)], 1e-300);
    }
  }
  return transitions;
}

// Rollouts of the evaluation policy in the model with their log-weights.
void AddRollouts(const TabularSystem& model, const TabularPolicy& evaluation,
                 const Array<double, 3>& truth, std::int64_t steps,
                 const ModelRolloutCounts& counts, std::uint64_t seed, FittedArrays& in) {
  const std::int64_t repetitions = counts.repetitions, n = counts.episodes;
  in.model_rewards = Array<double, 3>({repetitions, n, steps});
  in.model_log_weights = Array<double, 4>({repetitions, 1, n, steps});
  const TabularLog rollouts = SampleLog(model, evaluation, repetitions * n, steps,
                                        Stream(seed, "rollouts in a tabular model"));
  std::ranges::copy(rollouts.rewards.flat(), in.model_rewards.flat().begin());
  ForEachStep(rollouts, [&](std::int64_t i, std::int64_t t) {
    const std::int64_t s = rollouts.states(i, t), a = rollouts.actions(i, t);
    const std::int64_t next = rollouts.states(i, t + 1);
    in.model_log_weights(i / n, 0, i % n, t) =
        std::log(truth(s, a, next)) - std::log(model.transitions(s, a, next));
  });
}

// Weight f(o) pi(a|o) / count(o, a) of each logged (o, a) among `count` [O, A]; 0 for others.
Array<double, 2> WeightTable(std::span<const double> flow, const TabularPolicy& evaluation,
                             const Array<double, 2>& counts) {
  Array<double, 2> table(counts.shape());
  for (std::int64_t o = 0; o < table.shape()[0]; ++o) {
    for (std::int64_t a = 0; a < table.shape()[1]; ++a) {
      if (counts(o, a) > 0.0) table(o, a) = flow[Index(o)] * evaluation(o, a) / counts(o, a);
    }
  }
  return table;
}

std::vector<double> FirstCounts(const TabularLog& log, std::int64_t observations) {
  std::vector<double> counts(Index(observations), 0.0);
  for (std::int64_t i = 0; i < log.episodes(); ++i) counts[Index(log.observations(i, 0))] += 1.0;
  return counts;
}

Array<double, 2> FiniteWeights(const TabularLog& log, const TabularPolicy& evaluation) {
  Array<double, 2> weights({log.episodes(), log.steps()});
  std::vector<double> flow = FirstCounts(log, evaluation.shape()[0]);
  for (std::int64_t t = 0; t < log.steps(); ++t) {
    Array<double, 2> counts(evaluation.shape());
    const auto running = [&](std::int64_t i) { return t < log.lengths[Index(i)]; };
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      if (running(i)) counts(log.observations(i, t), log.actions(i, t)) += 1.0;
    }
    const Array<double, 2> table = WeightTable(flow, evaluation, counts);
    std::ranges::fill(flow, 0.0);
    for (std::int64_t i = 0; i < log.episodes(); ++i) {
      if (!running(i)) continue;
      weights(i, t) = table(log.observations(i, t), log.actions(i, t));
      if (log.ContinuesAfter(i, t)) flow[Index(log.observations(i, t + 1))] += weights(i, t);
    }
  }
  return weights;
}

// Discounted visitation of the observations, f = (1 - g) f_0 + g P' f with P of the log's counts.
std::vector<double> DiscountedFlow(const TabularLog& log, const TabularPolicy& evaluation,
                                   const Array<double, 2>& counts, double discount) {
  const std::int64_t seen = evaluation.shape()[0];
  MatrixD system = MatrixD::Identity(seen, seen);
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    if (!log.ContinuesAfter(i, t)) return;
    const std::int64_t o = log.observations(i, t), a = log.actions(i, t);
    system(log.observations(i, t + 1), o) -= discount * evaluation(o, a) / counts(o, a);
  });
  const std::vector<double> first = FirstCounts(log, seen);
  VectorD start(seen);
  for (std::int64_t o = 0; o < seen; ++o) {
    start(o) = (1.0 - discount) * first[Index(o)] / static_cast<double>(log.episodes());
  }
  const VectorD flow = Eigen::PartialPivLU<Eigen::MatrixXd>(system).solve(start);
  return {flow.begin(), flow.end()};
}

Array<double, 2> InfiniteWeights(const TabularLog& log, const TabularPolicy& evaluation,
                                 double discount) {
  if (!(discount < 1.0)) {
    Throw<NumericError>("tabular weights: discount {} over an infinite horizon, expected below 1",
                        discount);
  }
  Array<double, 2> counts(evaluation.shape()), weights({log.episodes(), log.steps()});
  double steps = 0.0;
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    counts(log.observations(i, t), log.actions(i, t)) += 1.0;
    steps += 1.0;
  });
  const Array<double, 2> table =
      WeightTable(DiscountedFlow(log, evaluation, counts, discount), evaluation, counts);
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    weights(i, t) = steps * table(log.observations(i, t), log.actions(i, t));
  });
  return weights;
}

// What can follow a state under the behavior policy: calls f(a, w, next) with the ratio w of the
// action's probabilities; not for terminal states.
template <class F>
void ForEachOutcome(const TabularSystem& system, const TabularPolicy& behavior,
                    const TabularPolicy& evaluation, std::int64_t s, const F& f) {
  if (system.terminal[Index(s)] != 0) return;
  const std::int64_t o = system.observations[Index(s)];
  for (std::int64_t a = 0; a < system.actions(); ++a) {
    if (!(behavior(o, a) > 0.0)) continue;
    for (std::int64_t next = 0; next < system.states(); ++next) {
      if (system.transitions(s, a, next) > 0.0) f(a, evaluation(o, a) / behavior(o, a), next);
    }
  }
}

// The smallest and largest of sum_t g^t w_0 .. w_t r_t over what behavior can do, w the ratios of
// evaluation to behavior.
ReturnRange RangeOf(const TabularSystem& system, const TabularPolicy& behavior,
                    const TabularPolicy& evaluation, std::int64_t horizon, double discount) {
  std::vector<ReturnRange> from(Index(system.states()));
  for (std::int64_t t = 0; t < horizon; ++t) {
    const std::vector<ReturnRange> after = from;
    for (std::int64_t s = 0; s < system.states(); ++s) {
      if (system.terminal[Index(s)] != 0) continue;
      ReturnRange range{HUGE_VAL, -HUGE_VAL};
      ForEachOutcome(system, behavior, evaluation, s,
                     [&](std::int64_t a, double w, std::int64_t next) {
                       const double reward = system.rewards(s, a, next);
                       const ReturnRange& rest = after[Index(next)];
                       range.low = std::min(range.low, w * (reward + discount * rest.low));
                       range.high = std::max(range.high, w * (reward + discount * rest.high));
                     });
      from[Index(s)] = range;
    }
  }
  ReturnRange out{HUGE_VAL, -HUGE_VAL};
  for (std::int64_t s = 0; s < system.states(); ++s) {
    if (!(system.initial[Index(s)] > 0.0)) continue;
    out.low = std::min(out.low, from[Index(s)].low);
    out.high = std::max(out.high, from[Index(s)].high);
  }
  return out;
}

// Largest product of the ratios of an episode.
double LargestWeight(const TabularSystem& system, const TabularPolicy& behavior,
                     const TabularPolicy& evaluation, std::int64_t horizon) {
  std::vector<double> from(Index(system.states()), 1.0);
  for (std::int64_t t = 0; t < horizon; ++t) {
    const std::vector<double> after = from;
    for (std::int64_t s = 0; s < system.states(); ++s) {
      if (system.terminal[Index(s)] != 0) continue;
      double largest = 0.0;
      ForEachOutcome(system, behavior, evaluation, s,
                     [&](std::int64_t /*a*/, double w, std::int64_t next) {
                       largest = std::max(largest, w * after[Index(next)]);
                     });
      from[Index(s)] = largest;
    }
  }
  double largest = 0.0;
  for (std::int64_t s = 0; s < system.states(); ++s) {
    if (system.initial[Index(s)] > 0.0) largest = std::max(largest, from[Index(s)]);
  }
  return largest;
}

}  // namespace

TabularLog WithSteps(const TabularLog& log, std::int64_t steps) {
  if (log.steps() == steps) return log;
  const std::int64_t n = log.episodes(), kept = std::min(steps, log.steps());
  TabularLog out{.states = Array<std::int64_t, 2>({n, steps + 1}),
                 .observations = Array<std::int64_t, 2>({n, steps + 1}),
                 .actions = Array<std::int64_t, 2>({n, steps}),
                 .rewards = Array<double, 2>({n, steps}),
                 .lengths = log.lengths,
                 .terminated = log.terminated};
  const auto copy = [n](const auto& from, std::int64_t columns, auto& to) {
    for (std::int64_t i = 0; i < n; ++i) {
      std::ranges::copy(from.Row(i).first(Index(columns)), to.Row(i).begin());
    }
  };
  copy(log.states, kept + 1, out.states);
  copy(log.observations, kept + 1, out.observations);
  copy(log.actions, kept, out.actions);
  copy(log.rewards, kept, out.rewards);
  for (std::size_t i = 0; i < out.lengths.size(); ++i) {
    if (out.lengths[i] <= steps) continue;
    out.lengths[i] = steps;
    out.terminated[i] = 0;
  }
  return out;
}

TabularSystem FitTabularModel(const TabularLog& log, std::int64_t observations,
                              std::int64_t actions) {
  TabularSystem model = ZeroTabular(2 * observations, actions);
  for (std::int64_t o = 0; o < observations; ++o) {
    model.observations[Index(observations + o)] = o;
    model.terminal[Index(observations + o)] = 1;
  }
  // counts and sums of rewards first
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    const std::int64_t o = log.observations(i, t), a = log.actions(i, t);
    const std::int64_t next =
        log.observations(i, t + 1) + (log.ContinuesAfter(i, t) ? 0 : observations);
    model.transitions(o, a, next) += 1.0;
    model.rewards(o, a, next) += log.rewards(i, t);
    if (t == 0) model.initial[Index(o)] += 1.0;
  });
  for (double& p : model.initial) p /= static_cast<double>(log.episodes());
  for (std::int64_t o = 0; o < observations; ++o) {
    for (std::int64_t a = 0; a < actions; ++a) {
      const auto counts = model.transitions.Row(o, a), rewards = model.rewards.Row(o, a);
      double total = 0.0;
      for (std::size_t k = 0; k < counts.size(); ++k) {
        total += counts[k];
        if (counts[k] > 0.0) rewards[k] /= counts[k];
      }
      if (total == 0.0) counts[Index(observations + o)] = total = 1.0;
      for (double& count : counts) count /= total;
    }
  }
  return model;
}

TabularValues FitTabularQ(const TabularLog& log, const TabularPolicy& evaluation,
                          const Estimand& estimand) {
  const std::int64_t observations = evaluation.shape()[0], actions = evaluation.shape()[1];
  const TabularSystem model = FitTabularModel(log, observations, actions);
  if (!estimand.horizon) {
    // the fixed point of the mean targets is the value in the model of the same counts
    return OfRunningStates(InfiniteHorizonValues(model, evaluation, estimand.discount),
                           observations);
  }
  TabularValues values{Array<double, 3>({*estimand.horizon, observations, actions}),
                       Array<double, 2>({*estimand.horizon + 1, observations})};
  for (std::int64_t t = *estimand.horizon; t-- > 0;) {
    const Array<double, 2> q = MeanTargets(log, model, values.v.Row(t + 1), estimand.discount, t);
    for (std::int64_t o = 0; o < observations; ++o) {
      std::ranges::copy(q.Row(o), values.q.Row(t, o).begin());
      values.v(t, o) = MeanOverActions(evaluation, q.Row(o), o);
    }
  }
  return values;
}

ValueArrays ValuesAtSteps(const TabularValues& values, const TabularLog& log) {
  ValueArrays out{Array<double, 2>({log.episodes(), log.steps()}),
                  Array<double, 2>({log.episodes(), log.steps() + 1}),
                  {}};
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    out.q(i, t) = values.Q(t, log.observations(i, t), log.actions(i, t));
    out.v(i, t) = values.V(t, log.observations(i, t));
    if (log.ContinuesAfter(i, t)) out.v(i, t + 1) = values.V(t + 1, log.observations(i, t + 1));
  });
  return out;
}

Array<double, 2> TabularWeights(const TabularLog& log, const TabularPolicy& evaluation,
                                const Estimand& estimand) {
  return estimand.horizon ? FiniteWeights(log, evaluation)
                          : InfiniteWeights(log, evaluation, estimand.discount);
}

ReturnRange PerDecisionRange(const TabularSystem& system, const TabularPolicy& behavior,
                             const TabularPolicy& evaluation, std::int64_t horizon,
                             double discount) {
  return RangeOf(system, behavior, evaluation, horizon, discount);
}

ReturnRange TrajectoryRange(const TabularSystem& system, const TabularPolicy& behavior,
                            const TabularPolicy& evaluation, std::int64_t horizon,
                            double discount) {
  const ReturnRange returns = RangeOf(system, behavior, behavior, horizon, discount);
  const double weight = LargestWeight(system, behavior, evaluation, horizon);
  return {std::min(0.0, weight * returns.low), std::max(0.0, weight * returns.high)};
}

Array<double, 2> ActionLogRatios(const TabularPolicy& behavior, const TabularPolicy& evaluation,
                                 const TabularLog& log) {
  Array<double, 2> ratios({log.episodes(), log.steps()});
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    const std::int64_t o = log.observations(i, t), a = log.actions(i, t);
    if (!(behavior(o, a) > 0.0)) {
      Throw<DataError>(
          "tabular log: episode {}, step {}: the behavior policy takes action {} at observation {} "
          "with probability {}, expected above 0; is it the policy that made the log?",
          i, t, a, o, behavior(o, a));
    }
    ratios(i, t) = std::log(evaluation(o, a)) - std::log(behavior(o, a));
  });
  return ratios;
}

Array<double, 2> VisitationLogRatios(const TabularSystem& system, const TabularPolicy& behavior,
                                     const TabularPolicy& evaluation, const TabularLog& log) {
  const Array<double, 2> wanted = StateVisitation(system, evaluation, log.steps());
  const Array<double, 2> logged = StateVisitation(system, behavior, log.steps());
  const std::vector<double> wanted_alive = Alive(wanted), logged_alive = Alive(logged);
  Array<double, 2> ratios({log.episodes(), log.steps()});
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    const std::int64_t s = log.states(i, t);
    if (!(logged(t, s) > 0.0)) {
      Throw<DataError>(
          "tabular log: episode {}, step {}: the behavior policy comes to state {} with "
          "probability "
          "0; is it the policy that made the log?",
          i, t, s);
    }
    // where no episode of the evaluation policy runs, none comes to s either
    ratios(i, t) =
        std::log(wanted(t, s)) - std::log(logged(t, s)) +
        (wanted(t, s) > 0.0 ? std::log(logged_alive[Index(t)] / wanted_alive[Index(t)]) : 0.0);
  });
  return ratios;
}

Array<double, 2> ModelVisitationLogRatios(const TabularSystem& model,
                                          const TabularPolicy& evaluation, const TabularLog& log) {
  const Array<double, 2> visited = StateVisitation(model, evaluation, log.steps());
  const std::vector<double> alive = Alive(visited);
  Array<double, 2> counts({log.steps(), evaluation.shape()[0]});
  std::vector<double> running(Index(log.steps()), 0.0);
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    counts(t, log.observations(i, t)) += 1.0;
    running[Index(t)] += 1.0;
  });
  Array<double, 2> ratios({log.episodes(), log.steps()});
  ForEachStep(log, [&](std::int64_t i, std::int64_t t) {
    constexpr double kSmoothing = 0.5;
    const std::int64_t o = log.observations(i, t);
    const double share = visited(t, o) == 0.0 ? 0.0 : visited(t, o) / alive[Index(t)];
    ratios(i, t) = std::log((running[Index(t)] * share + kSmoothing) / (counts(t, o) + kSmoothing));
  });
  return ratios;
}

TabularSource::TabularSource(const TabularSystem& of, const TabularPolicy& logs,
                             const TabularPolicy& evaluated, const TabularLog& episodes,
                             const Estimand& value, const ModelRolloutCounts& draw,
                             std::uint64_t root)
    : system(of),
      behavior(logs),
      evaluation(evaluated),
      log(WithSteps(episodes, value.horizon.value_or(episodes.steps()))),
      model(FitTabularModel(log, of.observation_count(), of.actions())),
      estimand(value),
      counts(draw),
      seed(root) {}

const ValueArrays& TabularSource::FittedQ() const {
  if (!q_) q_ = ValuesAtSteps(FitTabularQ(log, evaluation, estimand), log);
  return *q_;
}

const Array<double, 2>& TabularSource::Weights() const {
  if (!weights_) weights_ = TabularWeights(log, evaluation, estimand);
  return *weights_;
}

FittedArrays TabularQ(const TabularSource& source, const std::string& name) {
  FittedArrays out;
  out.values[name] = source.FittedQ();
  return out;
}

FittedArrays TabularMarginalWeights(const TabularSource& source, const std::string& name) {
  FittedArrays out;
  if (!source.estimand.horizon && !(source.estimand.discount < 1.0)) {
    out.missing[name] =
        "an infinite horizon without discount has no distribution of steps to weigh";
    return out;
  }
  out.weights[name] = source.Weights();
  out.notes[name] = {
      "MWL, DualDICE and GenDICE have one solution where every step, observation and action has "
      "a weight"};
  return out;
}

FittedArrays TabularModelValues(const TabularSource& source) {
  const Estimand& estimand = source.estimand;
  const TabularValues exact =
      estimand.horizon ? FiniteHorizonValues(source.model, source.evaluation, *estimand.horizon,
                                             estimand.discount)
                       : InfiniteHorizonValues(source.model, source.evaluation, estimand.discount);
  FittedArrays out;
  ValueArrays& values = out.values["model"] =
      ValuesAtSteps(OfRunningStates(exact, source.system.observation_count()), source.log);
  values.v_fit = values.v;
  out.log_ratios["model_visitation"] =
      ModelVisitationLogRatios(source.model, source.evaluation, source.log);
  out.model_alive = Alive(StateVisitation(source.model, source.evaluation, source.log.steps()));
  return out;
}

FittedArrays TabularRollouts(const TabularSource& source) {
  FittedArrays out;
  if (source.estimand.horizon) {
    const std::int64_t steps = source.log.steps();
    AddRollouts(source.model, source.evaluation,
                SeenTransitions(source.system, source.behavior, steps), steps, source.counts,
                source.seed, out);
  } else {
    out.missing["rollouts"] = "rollouts of a tabular model have an end; set value.horizon";
  }
  return out;
}

}  // namespace lfiw::ope
