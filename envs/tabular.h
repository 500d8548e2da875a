#ifndef LFIW_ENVS_TABULAR_H_
#define LFIW_ENVS_TABULAR_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "core/rng.h"

namespace lfiw::envs {

// A finite Markov decision process, of which several states may look alike: a policy and a log see
// observations only. Its values and visitation are known exactly: the oracle for estimators on
// discrete data. S states, A actions, O observations.
struct TabularSystem {
  Array<double, 3> transitions;            // [S, A, S], P(s' | s, a)
  Array<double, 3> rewards;                // [S, A, S], of (s, a, s')
  std::vector<double> initial;             // [S], probabilities of the first state
  std::vector<std::uint8_t> terminal;      // [S], 1: reaching it ends the episode; its rows of
                                           // transitions and rewards are not read
  std::vector<std::int64_t> observations;  // [S], 0 .. O - 1, what is seen in each state

  std::int64_t states() const { return transitions.shape()[0]; }
  std::int64_t actions() const { return transitions.shape()[1]; }
  std::int64_t observation_count() const;  // O, the largest observation + 1
};

// A system in which everything is zero, no state is terminal and all are seen as they are.
TabularSystem ZeroTabular(std::int64_t states, std::int64_t actions);

// Probabilities of the actions for each observation, [O, A].
using TabularPolicy = Array<double, 2>;

// Throws ConfigError that names the field and its row where a shape or an index is wrong, a reward
// is not finite or probabilities do not sum to 1. A first state must not be terminal.
void Validate(const TabularSystem& system);
// Throws ConfigError that names the observation whose probabilities are wrong.
void Validate(const TabularSystem& system, const TabularPolicy& policy);

// Q and V of a policy at every step, or at any step: one row, for an infinite horizon.
struct TabularValues {
  Array<double, 3> q;  // [T or 1, S, A]
  Array<double, 2> v;  // [T + 1 or 1, S]; 0 in terminal states
  bool stationary() const { return q.shape()[0] == v.shape()[0]; }
  double Q(std::int64_t t, std::int64_t s, std::int64_t a) const {
    return q(stationary() ? 0 : t, s, a);
  }
  double V(std::int64_t t, std::int64_t s) const { return v(stationary() ? 0 : t, s); }
};

// E[r(s, a, s') + discount * next(s')] for every state and action, [S, A]; 0 in terminal states.
// next [S] must be 0 in terminal states.
Array<double, 2> LookAhead(const TabularSystem& system, std::span<const double> next,
                           double discount);

// Expected sum of discount^k r_{t+k} up to step T - 1, backward from V_T = 0.
TabularValues FiniteHorizonValues(const TabularSystem& system, const TabularPolicy& policy,
                                  std::int64_t horizon, double discount);

// The same without an end, by one linear solve. Throws NumericError unless 0 <= discount < 1, or
// discount 1 and every state's episodes end under the policy with probability 1.
TabularValues InfiniteHorizonValues(const TabularSystem& system, const TabularPolicy& policy,
                                    double discount);

// Largest value of each state over all policies that see the state, [S], without an end, by value
// iteration to rounding. Throws NumericError unless 0 <= discount < 1.
std::vector<double> OptimalValues(const TabularSystem& system, double discount);

// Mean of V_0 over first states.
double ExpectedValue(const TabularSystem& system, const TabularValues& values);

// Probability that the episode has not ended before t, is in s at t and acts a: [T, S, A]. The sum
// over s and a is the share of episodes still running.
Array<double, 3> Visitation(const TabularSystem& system, const TabularPolicy& policy,
                            std::int64_t horizon);

// Episodes of at most T steps; what is beyond the end of an episode is 0.
struct TabularLog {
  Array<std::int64_t, 2> states;         // [n, T + 1], the one after the last step included
  Array<std::int64_t, 2> observations;   // [n, T + 1]
  Array<std::int64_t, 2> actions;        // [n, T]
  Array<double, 2> rewards;              // [n, T]
  std::vector<std::int64_t> lengths;     // [n], 1 .. T
  std::vector<std::uint8_t> terminated;  // [n], 1: a terminal state was reached; 0: time limit T

  std::int64_t episodes() const { return actions.shape()[0]; }
  std::int64_t steps() const { return actions.shape()[1]; }
  // Whether the episode goes on in the state after step t of episode i, logged or not.
  bool ContinuesAfter(std::int64_t i, std::int64_t t) const {
    const auto row = static_cast<std::size_t>(i);
    return t + 1 < lengths[row] || terminated[row] == 0;
  }
};

// Simulates episodes; the random numbers of each are those of its own child of `stream`, so that
// the log does not depend on the number of threads. episodes, steps >= 1.
TabularLog SampleLog(const TabularSystem& system, const TabularPolicy& policy,
                     std::int64_t episodes, std::int64_t steps, const Stream& stream);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_TABULAR_H_
