#ifndef LFIW_ENVS_TABULAR_SYSTEMS_H_
#define LFIW_ENVS_TABULAR_SYSTEMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/tabular.h"

namespace lfiw::envs {

// What papers on off-policy evaluation test on: a tabular system with the policies and the horizon
// that it is usually run with.
struct TabularProblem {
  std::string name;
  std::string summary;  // one line, with its source
  TabularSystem system;
  TabularPolicy behavior;
  TabularPolicy evaluation;
  std::int64_t horizon = 1;
  double discount = 1.0;
};

// ModelWin, ModelFail and Hybrid (Thomas and Brunskill 2016). ModelWin is fully observed: the
// action decides which of two states the agent is in for a step; the model is easily learned. In
// ModelFail the first action decides the reward of the second step, but nothing that is seen does:
// models fail, importance sampling does not. Hybrid is ModelFail followed by ModelWin.
TabularProblem ModelWin();
TabularProblem ModelFail();
TabularProblem Hybrid();

// Graph (Voloshin et al. 2021): one action moves up, the other down, an upper state pays 1 and a
// lower one -1; the last of `horizon` >= 2 steps pays once more for the state that it leaves.
// Discount 0.98; action 0 (up) with probability 0.8 in the log and 0.2 under evaluation. With p of
// action 0 and a slip s it is worth (2 p - 1) (1 - 2 s) sum_t g^t.
enum class GraphMoves { kDeterministic, kSlipping };  // slipping: the other way with s = 1/4
enum class GraphView { kFull, kPartial };             // partial: all states but the end look alike
TabularProblem Graph(GraphMoves moves, GraphView view, std::int64_t horizon);

// The 4 x 4 gridworld of Thomas (2015): actions down, right, up, left from the upper left to the
// lower right cell, 10 on reaching it, -10 on entering row 1, column 2, 1 on entering row 1, column
// 3, else -1; 0 for bumping into a wall. Discount 0.9. Policies are the best one with a share of
// uniform actions: 0.7 in the log, 0.3 under evaluation.
TabularProblem Gridworld();

// Blackjack (Sutton and Barto, example 5.4): the dealer shows a two, the player has 13 with a
// usable ace. Cards are drawn with replacement; the dealer stops at 17. Actions stick, hit; the log
// is of uniform actions, the evaluation policy sticks on 20 and 21 only. Worth -0.277204
// (the book's -0.27726 is a mean of 10^8 episodes). Observed: sum and usable ace; the three ends
// (lost, drawn, won) are states.
TabularProblem Blackjack();

// Sutton and Barto's example 5.5: `left` returns to the one state with 0.9 and else ends with
// reward 1, `right` ends with 0. Logs are of uniform actions, evaluation is always left: worth 1,
// while ordinary importance sampling has infinite variance. Over the horizon of 200 steps the value
// is 1 to nine digits.
TabularProblem Loop();

// All of the above, Graph in its four kinds over four steps: "model_win", "model_fail", "hybrid",
// "graph", "graph_deterministic", "graph_partial", "graph_partial_deterministic", "gridworld",
// "blackjack", "loop".
std::vector<std::string> TabularProblemNames();
// Throws ConfigError that lists the names.
TabularProblem FindTabularProblem(const std::string& name);

}  // namespace lfiw::envs

#endif  // LFIW_ENVS_TABULAR_SYSTEMS_H_
