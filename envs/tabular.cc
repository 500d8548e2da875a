#include "envs/tabular.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "core/error.h"
#include "core/index_list.h"
#include "core/matrix.h"
#include "core/parallel.h"

namespace lfiw::envs {
namespace {

constexpr double kProbabilityTolerance = 1e-9;

// `row` makes the name of the row, where there is an error.
template <class RowName>
void CheckProbabilities(std::span<const double> probabilities, std::string_view field,
                        const RowName& row) {
  for (const double p : probabilities) {
    if (!(p >= 0.0 && p <= 1.0 + kProbabilityTolerance)) {
      Throw<ConfigError>("tabular system: {}{} has the probability {}, expected 0 .. 1", field,
                         row(), p);
    }
  }
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  if (std::abs(sum - 1.0) > kProbabilityTolerance) {
    Throw<ConfigError>("tabular system: {}{} sums to {}, expected probabilities that sum to 1",
                       field, row(), sum);
  }
}

void CheckShapes(const TabularSystem& system) {
  const std::int64_t n = system.states(), m = system.actions();
  if (n < 1 || m < 1 || system.transitions.shape()[2] != n) {
    Throw<ConfigError>("tabular system: transitions has shape [{}, {}, {}], expected [S, A, S]", n,
                       m, system.transitions.shape()[2]);
  }
  if (system.rewards.shape() != system.transitions.shape()) {
    const auto& shape = system.rewards.shape();
    Throw<ConfigError>("tabular system: rewards has shape [{}, {}, {}], expected [{}, {}, {}]",
                       shape[0], shape[1], shape[2], n, m, n);
  }
  const auto length = [n](std::string_view field, std::size_t size) {
    if (static_cast<std::int64_t>(size) != n) {
      Throw<ConfigError>("tabular system: {} has {} values, expected one per state, {}", field,
                         size, n);
    }
  };
  length("initial", system.initial.size());
  length("terminal", system.terminal.size());
  length("observations", system.observations.size());
}

void CheckStates(const TabularSystem& system) {
  for (std::size_t s = 0; s < system.terminal.size(); ++s) {
    if (system.observations[s] < 0) {
      Throw<ConfigError>("tabular system: observations[{}] is {}, expected 0 or more", s,
                         system.observations[s]);
    }
    if (system.terminal[s] != 0 && system.initial[s] > 0.0) {
      Throw<ConfigError>(
          "tabular system: initial[{}] is {} although the state is terminal, expected 0", s,
          system.initial[s]);
    }
  }
}

void CheckRow(const TabularSystem& system, std::int64_t s, std::int64_t a) {
  const auto row = [s, a] { return fmt::format("[{}, {}]", s, a); };
  CheckProbabilities(system.transitions.Row(s, a), "transitions", row);
  for (const double reward : system.rewards.Row(s, a)) {
    if (!std::isfinite(reward)) {
      Throw<ConfigError>("tabular system: rewards{} holds {}, expected finite numbers", row(),
                         reward);
    }
  }
}

bool Running(const TabularSystem& system, std::int64_t s) {
  return system.terminal[static_cast<std::size_t>(s)] == 0;
}

std::span<const double> ActionsIn(const TabularSystem& system, const TabularPolicy& policy,
                                  std::int64_t s) {
  return policy.Row(system.observations[static_cast<std::size_t>(s)]);
}

// Mean of q(s, .) under the policy.
double MeanOverActions(const TabularSystem& system, const TabularPolicy& policy,
                       std::span<const double> q, std::int64_t s) {
  const auto probabilities = ActionsIn(system, policy, s);
  return std::inner_product(q.begin(), q.end(), probabilities.begin(), 0.0);
}

// P(s' | s) under the policy between states that are not terminal; other entries are 0.
Eigen::MatrixXd RunningTransitions(const TabularSystem& system, const TabularPolicy& policy) {
  const std::int64_t n = system.states();
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
  for (std::int64_t s = 0; s < n; ++s) {
    if (!Running(system, s)) continue;
    const auto probabilities = ActionsIn(system, policy, s);
    for (std::int64_t a = 0; a < system.actions(); ++a) {
      for (std::int64_t next = 0; next < n; ++next) {
        if (!Running(system, next)) continue;
        p(s, next) += probabilities[static_cast<std::size_t>(a)] * system.transitions(s, a, next);
      }
    }
  }
  return p;
}

// A state from which no terminal one can be reached; -1 if there is none. In a finite system
// episodes end with probability 1 where there is none.
std::int64_t EndlessState(const TabularSystem& system, const Eigen::MatrixXd& running) {
  const std::int64_t n = system.states();
  std::vector<bool> ends(static_cast<std::size_t>(n));
  for (std::int64_t s = 0; s < n; ++s) {
    ends[static_cast<std::size_t>(s)] =
        !Running(system, s) || running.row(s).sum() < 1.0 - kProbabilityTolerance;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::int64_t s = 0; s < n; ++s) {
      if (ends[static_cast<std::size_t>(s)]) continue;
      for (std::int64_t next = 0; next < n; ++next) {
        if (running(s, next) == 0.0 || !ends[static_cast<std::size_t>(next)]) continue;
        ends[static_cast<std::size_t>(s)] = changed = true;
        break;
      }
    }
  }
  const auto endless = std::ranges::find(ends, false);
  return endless == ends.end() ? -1 : endless - ends.begin();
}

// An index with the given probabilities, never one of probability 0.
std::int64_t Draw(std::span<const double> probabilities, Stream& stream) {
  double rest = stream.Uniform();
  std::size_t last = 0;
  for (std::size_t k = 0; k < probabilities.size(); ++k) {
    if (probabilities[k] <= 0.0) continue;
    last = k;
    if (rest < probabilities[k]) break;
    rest -= probabilities[k];
  }
  return static_cast<std::int64_t>(last);
}

void SampleEpisode(const TabularSystem& system, const TabularPolicy& policy, std::int64_t i,
                   Stream stream, TabularLog& log) {
  const auto row = static_cast<std::size_t>(i);
  std::int64_t s = Draw(system.initial, stream);
  std::int64_t t = 0;
  const auto arrive = [&] {
    log.states(i, t) = s;
    log.observations(i, t) = system.observations[static_cast<std::size_t>(s)];
  };
  for (arrive(); t < log.steps() && Running(system, s); arrive()) {
    const std::int64_t a = Draw(ActionsIn(system, policy, s), stream);
    const std::int64_t next = Draw(system.transitions.Row(s, a), stream);
    log.actions(i, t) = a;
    log.rewards(i, t) = system.rewards(s, a, next);
    s = next;
    ++t;
  }
  log.lengths[row] = t;
  log.terminated[row] = Running(system, s) ? 0 : 1;
}

}  // namespace

std::int64_t TabularSystem::observation_count() const {
  return 1 + *std::ranges::max_element(observations);
}

TabularSystem ZeroTabular(std::int64_t states, std::int64_t actions) {
  TabularSystem system{.transitions = Array<double, 3>({states, actions, states}),
                       .rewards = Array<double, 3>({states, actions, states}),
                       .initial = std::vector<double>(static_cast<std::size_t>(states)),
                       .terminal = std::vector<std::uint8_t>(static_cast<std::size_t>(states)),
                       .observations = IndexList(states)};
  return system;
}

void Validate(const TabularSystem& system) {
  CheckShapes(system);
  CheckProbabilities(system.initial, "initial", [] { return std::string(); });
  CheckStates(system);
  for (std::int64_t s = 0; s < system.states(); ++s) {
    if (!Running(system, s)) continue;
    for (std::int64_t a = 0; a < system.actions(); ++a) CheckRow(system, s, a);
  }
}

void Validate(const TabularSystem& system, const TabularPolicy& policy) {
  const std::int64_t seen = system.observation_count();
  if (policy.shape()[0] != seen || policy.shape()[1] != system.actions()) {
    Throw<ConfigError>("tabular system: the policy has shape [{}, {}], expected [{}, {}]",
                       policy.shape()[0], policy.shape()[1], seen, system.actions());
  }
  for (std::int64_t o = 0; o < seen; ++o) {
    CheckProbabilities(policy.Row(o), "policy", [o] { return fmt::format("[{}]", o); });
  }
}

Array<double, 2> LookAhead(const TabularSystem& system, std::span<const double> next,
                           double discount) {
  Array<double, 2> q({system.states(), system.actions()});
  for (std::int64_t s = 0; s < system.states(); ++s) {
    if (!Running(system, s)) continue;
    for (std::int64_t a = 0; a < system.actions(); ++a) {
      const auto p = system.transitions.Row(s, a), r = system.rewards.Row(s, a);
      double sum = 0.0;
      for (std::size_t k = 0; k < p.size(); ++k) sum += p[k] * (r[k] + discount * next[k]);
      q(s, a) = sum;
    }
  }
  return q;
}

TabularValues FiniteHorizonValues(const TabularSystem& system, const TabularPolicy& policy,
                                  std::int64_t horizon, double discount) {
  Validate(system);
  Validate(system, policy);
  const std::int64_t n = system.states();
  TabularValues values{Array<double, 3>({horizon, n, system.actions()}),
                       Array<double, 2>({horizon + 1, n})};
  for (std::int64_t t = horizon; t-- > 0;) {
    const Array<double, 2> q = LookAhead(system, values.v.Row(t + 1), discount);
    for (std::int64_t s = 0; s < n; ++s) {
      std::ranges::copy(q.Row(s), values.q.Row(t, s).begin());
      values.v(t, s) = MeanOverActions(system, policy, q.Row(s), s);
    }
  }
  return values;
}

TabularValues InfiniteHorizonValues(const TabularSystem& system, const TabularPolicy& policy,
                                    double discount) {
  Validate(system);
  Validate(system, policy);
  const std::int64_t n = system.states();
  const Eigen::MatrixXd running = RunningTransitions(system, policy);
  if (!(discount >= 0.0 && discount <= 1.0)) {
    Throw<NumericError>("tabular system: discount {}, expected 0 .. 1", discount);
  }
  if (const std::int64_t s = EndlessState(system, running); discount == 1.0 && s >= 0) {
    Throw<NumericError>(
        "tabular system: the policy's episodes from state {} may never end: the infinite-horizon "
        "value needs a discount below 1",
        s);
  }
  TabularValues values{Array<double, 3>({1, n, system.actions()}), Array<double, 2>({1, n})};
  const Array<double, 2> reward = LookAhead(system, values.v.Row(0), discount);
  VectorD mean(n);
  for (std::int64_t s = 0; s < n; ++s) mean(s) = MeanOverActions(system, policy, reward.Row(s), s);
  const Eigen::MatrixXd bellman = Eigen::MatrixXd::Identity(n, n) - discount * running;
  const VectorD v = bellman.partialPivLu().solve(mean);
  std::ranges::copy(v, values.v.Row(0).begin());
  const Array<double, 2> q = LookAhead(system, values.v.Row(0), discount);
  std::ranges::copy(q.flat(), values.q.flat().begin());
  return values;
}

std::vector<double> OptimalValues(const TabularSystem& system, double discount) {
  Validate(system);
  if (!(discount >= 0.0 && discount < 1.0)) {
    Throw<NumericError>("tabular system: optimal values need 0 <= discount < 1, seen {}", discount);
  }
  std::vector<double> v(static_cast<std::size_t>(system.states()), 0.0);
  for (double change = 1.0, scale = 1.0; change > 1e-15 * scale;) {
    const Array<double, 2> q = LookAhead(system, v, discount);
    change = 0.0;
    for (std::size_t s = 0; s < v.size(); ++s) {
      const double best = std::ranges::max(q.Row(static_cast<std::int64_t>(s)));
      change = std::max(change, std::abs(best - v[s]));
      scale = std::max(scale, std::abs(best));
      v[s] = best;
    }
  }
  return v;
}

double ExpectedValue(const TabularSystem& system, const TabularValues& values) {
  const auto first = values.v.Row(0);
  return std::inner_product(first.begin(), first.end(), system.initial.begin(), 0.0);
}

Array<double, 3> Visitation(const TabularSystem& system, const TabularPolicy& policy,
                            std::int64_t horizon) {
  Validate(system);
  Validate(system, policy);
  const std::int64_t n = system.states(), m = system.actions();
  Array<double, 3> visited({horizon, n, m});
  const Eigen::MatrixXd running = RunningTransitions(system, policy);
  VectorD state = VectorD::Map(system.initial.data(), n);
  for (std::int64_t t = 0; t < horizon; ++t) {
    for (std::int64_t s = 0; s < n; ++s) {
      const auto probabilities = ActionsIn(system, policy, s);
      for (std::int64_t a = 0; a < m; ++a) {
        visited(t, s, a) = state(s) * probabilities[static_cast<std::size_t>(a)];
      }
    }
    state = running.transpose() * state;
  }
  return visited;
}

TabularLog SampleLog(const TabularSystem& system, const TabularPolicy& policy,
                     std::int64_t episodes, std::int64_t steps, const Stream& stream) {
  Validate(system);
  Validate(system, policy);
  TabularLog log{.states = Array<std::int64_t, 2>({episodes, steps + 1}),
                 .observations = Array<std::int64_t, 2>({episodes, steps + 1}),
                 .actions = Array<std::int64_t, 2>({episodes, steps}),
                 .rewards = Array<double, 2>({episodes, steps}),
                 .lengths = std::vector<std::int64_t>(static_cast<std::size_t>(episodes)),
                 .terminated = std::vector<std::uint8_t>(static_cast<std::size_t>(episodes))};
  constexpr std::int64_t kBlock = 64;
  ParallelBlocks(episodes, kBlock, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      SampleEpisode(system, policy, i, stream.Child(static_cast<std::uint64_t>(i)), log);
    }
  });
  return log;
}

}  // namespace lfiw::envs
