#include "envs/tabular_systems.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "core/error.h"

namespace lfiw::envs {
namespace {

// Adds an outcome of (s, a); one of the same next state must have the same reward.
void AddOutcome(TabularSystem& system, std::int64_t s, std::int64_t a, std::int64_t next,
                double probability, double reward) {
  system.transitions(s, a, next) += probability;
  system.rewards(s, a, next) = reward;
}

// The same two probabilities for every observation.
TabularPolicy Constant(std::int64_t observations, double first) {
  TabularPolicy policy({observations, 2});
  for (std::int64_t o = 0; o < observations; ++o) {
    policy(o, 0) = first;
    policy(o, 1) = 1.0 - first;
  }
  return policy;
}

// ModelWin with its states from `start` on.
void AddModelWin(TabularSystem& system, std::int64_t start) {
  for (const std::int64_t a : {0, 1}) {
    const double win = a == 0 ? 0.4 : 0.6;
    AddOutcome(system, start, a, start + 1, win, 1.0);
    AddOutcome(system, start, a, start + 2, 1.0 - win, -1.0);
    AddOutcome(system, start + 1, a, start, 1.0, 0.0);
    AddOutcome(system, start + 2, a, start, 1.0, 0.0);
  }
}

// ModelFail in states 0, 1 and 2, which look alike, and then in state 3.
void AddModelFail(TabularSystem& system) {
  for (const std::int64_t a : {0, 1}) {
    AddOutcome(system, 0, a, 1 + a, 1.0, 0.0);
    AddOutcome(system, 1, a, 3, 1.0, 1.0);
    AddOutcome(system, 2, a, 3, 1.0, -1.0);
  }
}

constexpr double kModelWinBehavior = 0.73;
constexpr double kModelFailBehavior = 0.88;

constexpr std::int64_t kSide = 4;

// Cell and reward of an action of the gridworld.
std::pair<std::int64_t, double> Move(std::int64_t cell, std::int64_t action) {
  constexpr std::array<std::array<std::int64_t, 2>, 4> kMoves = {
      {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  const auto& move = kMoves[static_cast<std::size_t>(action)];
  const std::int64_t row = cell / kSide + move[0], column = cell % kSide + move[1];
  if (row < 0 || row >= kSide || column < 0 || column >= kSide) return {cell, 0.0};
  const std::int64_t next = row * kSide + column;
  if (next == kSide * kSide - 1) return {next, 10.0};
  if (row == 1 && column == 2) return {next, -10.0};
  if (row == 1 && column == 3) return {next, 1.0};
  return {next, -1.0};
}

// The first of the best actions, with a share of uniform ones.
TabularPolicy NearlyBest(const TabularSystem& system, double discount, double uniform_share) {
  const Array<double, 2> q = LookAhead(system, OptimalValues(system, discount), discount);
  const double uniform = uniform_share / static_cast<double>(system.actions());
  TabularPolicy policy({system.states(), system.actions()}, uniform);
  for (std::int64_t s = 0; s < system.states(); ++s) {
    const auto row = q.Row(s);
    policy(s, std::ranges::max_element(row) - row.begin()) += 1.0 - uniform_share;
  }
  return policy;
}

// A hand of blackjack, with the ace counted as 11 where that does not exceed 21.
struct Hand {
  std::int64_t sum = 0;
  bool usable_ace = false;

  Hand With(std::int64_t card) const {
    Hand hand{sum + card, usable_ace};
    if (card == 1 && hand.sum + 10 <= 21) hand = {hand.sum + 10, true};
    if (hand.sum > 21 && hand.usable_ace) hand = {hand.sum - 10, false};
    return hand;
  }
};

double CardProbability(std::int64_t card) { return card == 10 ? 4.0 / 13.0 : 1.0 / 13.0; }
constexpr std::int64_t kCards = 10;
constexpr std::int64_t kMostPoints = 21;

// Adds `probability` times the distribution of the dealer's final points, from a hand on; points
// [23], the last of them for above 21.
void AddDealerPoints(const Hand& hand, double probability, std::span<double> points) {
  constexpr std::int64_t kDealerStops = 17;
  if (hand.sum >= kDealerStops) {
    points[static_cast<std::size_t>(std::min(hand.sum, kMostPoints + 1))] += probability;
    return;
  }
  for (std::int64_t card = 1; card <= kCards; ++card) {
    AddDealerPoints(hand.With(card), probability * CardProbability(card), points);
  }
}

// States of blackjack: the player's sums 12 .. 21 without, then with a usable ace, then the ends.
constexpr std::int64_t kLowestSum = 12;
constexpr std::int64_t kHands = 20, kLost = 20, kDrawn = 21, kWon = 22;

std::int64_t StateOf(const Hand& hand) {
  return hand.sum > kMostPoints ? kLost : hand.sum - kLowestSum + (hand.usable_ace ? 10 : 0);
}

Hand HandOf(std::int64_t state) { return {kLowestSum + state % 10, state >= 10}; }

void AddHand(TabularSystem& system, std::int64_t state, std::span<const double> dealer) {
  constexpr std::int64_t kStick = 0, kHit = 1;
  const Hand hand = HandOf(state);
  for (std::int64_t points = 0; points <= kMostPoints + 1; ++points) {
    const double probability = dealer[static_cast<std::size_t>(points)];
    const bool won = points > kMostPoints || points < hand.sum;
    const double reward = won ? 1.0 : points == hand.sum ? 0.0 : -1.0;
    AddOutcome(system, state, kStick,
               won                  ? kWon
               : points == hand.sum ? kDrawn
                                    : kLost,
               probability, reward);
  }
  for (std::int64_t card = 1; card <= kCards; ++card) {
    const std::int64_t next = StateOf(hand.With(card));
    AddOutcome(system, state, kHit, next, CardProbability(card), next == kLost ? -1.0 : 0.0);
  }
}

void SetEnd(TabularSystem& system, std::int64_t state) {
  system.terminal[static_cast<std::size_t>(state)] = 1;
}

using Maker = std::function<TabularProblem()>;

std::vector<std::pair<std::string, Maker>> Makers() {
  constexpr std::int64_t kGraphSteps = 4;
  const auto graph = [](GraphMoves moves, GraphView view) {
    return [moves, view] { return Graph(moves, view, kGraphSteps); };
  };
  return {{"model_win", ModelWin},
          {"model_fail", ModelFail},
          {"hybrid", Hybrid},
          {"graph", graph(GraphMoves::kSlipping, GraphView::kFull)},
          {"graph_deterministic", graph(GraphMoves::kDeterministic, GraphView::kFull)},
          {"graph_partial", graph(GraphMoves::kSlipping, GraphView::kPartial)},
          {"graph_partial_deterministic", graph(GraphMoves::kDeterministic, GraphView::kPartial)},
          {"gridworld", Gridworld},
          {"blackjack", Blackjack},
          {"loop", Loop}};
}

}  // namespace

TabularProblem ModelWin() {
  TabularSystem system = ZeroTabular(3, 2);
  AddModelWin(system, 0);
  system.initial[0] = 1.0;
  return {.name = "model_win",
          .summary = "the action decides between two seen states (Thomas and Brunskill 2016)",
          .system = std::move(system),
          .behavior = Constant(3, kModelWinBehavior),
          .evaluation = Constant(3, 1.0 - kModelWinBehavior),
          .horizon = 20};
}

TabularProblem ModelFail() {
  TabularSystem system = ZeroTabular(4, 2);
  AddModelFail(system);
  system.initial[0] = 1.0;
  system.observations = {0, 0, 0, 1};
  SetEnd(system, 3);
  return {.name = "model_fail",
          .summary = "the action decides between unseen states (Thomas and Brunskill 2016)",
          .system = std::move(system),
          .behavior = Constant(2, kModelFailBehavior),
          .evaluation = Constant(2, 1.0 - kModelFailBehavior),
          .horizon = 2};
}

TabularProblem Hybrid() {
  TabularSystem system = ZeroTabular(6, 2);
  AddModelFail(system);
  AddModelWin(system, 3);
  system.initial[0] = 1.0;
  system.observations = {0, 0, 0, 1, 2, 3};
  const auto policy = [](double fail, double win) {
    TabularPolicy probabilities = Constant(4, win);
    std::ranges::copy(Constant(1, fail).Row(0), probabilities.Row(0).begin());
    return probabilities;
  };
  return {.name = "hybrid",
          .summary = "model_fail, then model_win (Thomas and Brunskill 2016)",
          .system = std::move(system),
          .behavior = policy(kModelFailBehavior, kModelWinBehavior),
          .evaluation = policy(1.0 - kModelFailBehavior, 1.0 - kModelWinBehavior),
          .horizon = 22};
}

TabularProblem Graph(GraphMoves moves, GraphView view, std::int64_t horizon) {
  if (horizon < 2) Throw<ConfigError>("graph: horizon is {}, expected at least 2", horizon);
  // upper states are odd: level k has 2 k - 1 and 2 k
  const std::int64_t levels = horizon - 1, end = 2 * levels + 1;
  const double slip = moves == GraphMoves::kSlipping ? 0.25 : 0.0;
  TabularSystem system = ZeroTabular(end + 1, 2);
  for (std::int64_t s = 0; s < end; ++s) {
    const std::int64_t level = (s + 1) / 2;
    for (const std::int64_t a : {0, 1}) {
      if (level == levels) {
        AddOutcome(system, s, a, end, 1.0, s % 2 == 1 ? 1.0 : -1.0);
        continue;
      }
      AddOutcome(system, s, a, 2 * level + 1, a == 0 ? 1.0 - slip : slip, 1.0);
      AddOutcome(system, s, a, 2 * level + 2, a == 0 ? slip : 1.0 - slip, -1.0);
    }
  }
  system.initial[0] = 1.0;
  SetEnd(system, end);
  if (view == GraphView::kPartial) {
    std::ranges::fill(system.observations, std::int64_t{0});
    system.observations.back() = 1;
  }
  const std::int64_t seen = system.observation_count();
  return {.name = std::string("graph") + (view == GraphView::kPartial ? "_partial" : "") +
                  (moves == GraphMoves::kDeterministic ? "_deterministic" : ""),
          .summary = "two rows of states, paid for the upper one (Voloshin et al. 2021)",
          .system = std::move(system),
          .behavior = Constant(seen, 0.8),
          .evaluation = Constant(seen, 0.2),
          .horizon = horizon,
          .discount = 0.98};
}

TabularProblem Gridworld() {
  constexpr std::int64_t kActions = 4;
  constexpr double kDiscount = 0.9;
  TabularSystem system = ZeroTabular(kSide * kSide, kActions);
  for (std::int64_t cell = 0; cell + 1 < system.states(); ++cell) {
    for (std::int64_t a = 0; a < kActions; ++a) {
      const auto [next, reward] = Move(cell, a);
      AddOutcome(system, cell, a, next, 1.0, reward);
    }
  }
  system.initial[0] = 1.0;
  SetEnd(system, system.states() - 1);
  TabularPolicy behavior = NearlyBest(system, kDiscount, 0.7);
  TabularPolicy evaluation = NearlyBest(system, kDiscount, 0.3);
  return {.name = "gridworld",
          .summary = "4 x 4 cells with a trap and a bonus (Thomas 2015)",
          .system = std::move(system),
          .behavior = std::move(behavior),
          .evaluation = std::move(evaluation),
          .horizon = 100,
          .discount = kDiscount};
}

TabularProblem Blackjack() {
  TabularSystem system = ZeroTabular(kHands + 3, 2);
  std::vector<double> dealer(kMostPoints + 2, 0.0);
  AddDealerPoints(Hand{}.With(2), 1.0, dealer);
  for (std::int64_t state = 0; state < kHands; ++state) AddHand(system, state, dealer);
  for (const std::int64_t state : {kLost, kDrawn, kWon}) SetEnd(system, state);
  system.initial[static_cast<std::size_t>(StateOf({13, true}))] = 1.0;
  TabularPolicy evaluation = Constant(system.states(), 0.0);
  for (std::int64_t state = 0; state < kHands; ++state) {
    if (HandOf(state).sum < 20) continue;
    evaluation(state, 0) = 1.0;
    evaluation(state, 1) = 0.0;
  }
  TabularPolicy behavior = Constant(system.states(), 0.5);
  return {.name = "blackjack",
          .summary = "13 with a usable ace against a two (Sutton and Barto 2018, example 5.4)",
          .system = std::move(system),
          .behavior = std::move(behavior),
          .evaluation = std::move(evaluation),
          .horizon = 20};
}

TabularProblem Loop() {
  TabularSystem system = ZeroTabular(2, 2);
  AddOutcome(system, 0, 0, 0, 0.9, 0.0);
  AddOutcome(system, 0, 0, 1, 0.1, 1.0);
  AddOutcome(system, 0, 1, 1, 1.0, 0.0);
  system.initial[0] = 1.0;
  SetEnd(system, 1);
  return {.name = "loop",
          .summary = "infinite variance of importance sampling (Sutton and Barto, example 5.5)",
          .system = std::move(system),
          .behavior = Constant(2, 0.5),
          .evaluation = Constant(2, 1.0),
          .horizon = 200};
}

std::vector<std::string> TabularProblemNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Makers()) names.push_back(name);
  return names;
}

TabularProblem FindTabularProblem(const std::string& name) {
  for (const auto& [known, make] : Makers()) {
    if (known == name) return make();
  }
  Throw<ConfigError>("unknown tabular problem \"{}\", expected one of {}", name,
                     fmt::join(TabularProblemNames(), ", "));
}

}  // namespace lfiw::envs
