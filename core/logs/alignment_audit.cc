#include "core/logs/alignment_audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/logs/regressions.h"
#include "core/rng.h"

namespace lfiw::core {
namespace {

// Stretches are short so that a few long episodes are seen in many places.
constexpr std::int64_t kStretchSteps = 64;
constexpr std::int64_t kMaxSteps = 16'000;
constexpr double kMaxNumbers = 6e6;       // of the regressions' columns
constexpr std::int64_t kMaxStates = 160;  // dimensions; of more, some at even distances
constexpr std::int64_t kMaxActions = 64;
// Products of pairs are columns only where there are no more of them than this.
constexpr std::int64_t kMaxProducts = 90;
// Fewer rows show nothing reliably.
constexpr std::int64_t kFewestRows = 300;
// 500 rows show an effect that makes up a fiftieth of what is left open; that an observation
// follows from the one before is far plainer.
constexpr std::int64_t kFewestRowsForNoEffect = 500;

// What the action of another row explains, as a share of what the state leaves unexplained, to be
// clear and to be likely; and how much of it the logged row's own action may explain beside it. In
// the shifted logs of the tests the own action explains nothing; in sound ones it explains all.
constexpr double kClearGain = 0.15, kClearOwnPart = 0.1;
constexpr double kLikelyGain = 0.05, kLikelyOwnPart = 0.25;
// How much of a later action s(t) tells beside s(t+1), in parts of that gain.
constexpr double kLeastInverse = 0.05, kInversePart = 0.25;
// The same for rewards: which part of what the own row leaves unexplained another one may leave to
// be clear and to be likely, and how much more of the variance it explains.
constexpr double kClearRewardRest = 0.2, kLikelyRewardRest = 0.5;
constexpr double kLeastRewardGain = 0.01, kLikelyRewardGain = 0.02, kLargeRewardGain = 0.3;
// The deviation of lengths of episodes, as a share of their mean; that of ends by chance is 1.
constexpr double kVariedLengths = 0.5;
// Rewards are rare where more rows than this have the same one.
constexpr double kRareRewards = 0.9;
// What a step may leave unexplained of the change of the reward where rewards are added up, and the
// least that it leaves of the reward itself.
constexpr double kClearSumRest = 0.2, kLeastSumOwn = 0.01;
// Actions vary when this share of their variance does not follow from the state.
constexpr double kFreeAction = 0.02;

std::vector<Eigen::Index> EvenlySpaced(Eigen::Index count, Eigen::Index most) {
  std::vector<Eigen::Index> chosen;
  const Eigen::Index kept = std::min(count, most);
  for (Eigen::Index i = 0; i < kept; ++i) chosen.push_back(i * count / kept);
  return chosen;
}

MatrixF TakeColumns(const MatrixF& rows, Eigen::Index first, Eigen::Index count,
                    Eigen::Index most) {
  const std::vector<Eigen::Index> chosen = EvenlySpaced(rows.cols(), most);
  MatrixF out(count, std::ssize(chosen));
  for (Eigen::Index j = 0; j < out.cols(); ++j) {
    out.col(j) = rows.col(chosen[static_cast<std::size_t>(j)]).segment(first, count);
  }
  return out;
}

// How a fit with the action of another row compares with the own row's.
struct ActionShift {
  int lag = 0;
  double own = 0.0, other = 0.0;            // shares explained by each alone
  double own_part = 0.0, other_part = 0.0;  // and beside the other one
  double inverse = 0.0;                     // share of a(t+lag) that s(t) tells beside s(t+lag)
};

// The columns of all regressions. `lag` counts rows after row t.
class AlignmentData {
 public:
  template <class Stretches>
  explicit AlignmentData(const Stretches& kept) {
    const auto& first = kept.begin()->second;
    states_ = first.observations.cols();
    actions_ = first.actions.cols();
    std::int64_t steps = 0;
    for (const auto& [rank, stretch] : kept) steps += stretch.actions.rows();
    const bool long_enough = steps >= 12 * std::ssize(kept);
    reach_ = long_enough && states_ <= 64 ? 2 : 1;
    MakeLayout();
    Fill(kept);
  }

  int reach() const { return reach_; }
  bool usable() const { return regressions_.has_value(); }
  const Regressions& regressions() const { return *regressions_; }

  ColumnList States(int lag) const { return states_at_.at(static_cast<std::size_t>(lag + 1)); }
  ColumnList Actions(int lag) const {
    return actions_at_.at(static_cast<std::size_t>(lag + reach_));
  }
  // Of those, the logged numbers without products.
  ColumnList RawActions(int lag) const {
    const ColumnList all = Actions(lag);
    return {all.begin(), all.begin() + actions_};
  }
  ColumnList RawStates(int lag) const {
    const ColumnList all = States(lag);
    return {all.begin(), all.begin() + states_};
  }
  const ColumnList& Changes() const { return changes_; }
  ColumnList Reward(int lag) const {
    return {rewards_at_.at(static_cast<std::size_t>(lag + reach_))};
  }
  // The reward of row t less that of row t - 1.
  const ColumnList& RewardStep() const { return reward_step_; }
  // The share of rows that have the most frequent reward.
  double common_reward_share() const { return common_reward_share_; }
  double reward_variance() const { return reward_variance_; }
  double reward_step_variance() const { return reward_step_variance_; }

 private:
  ColumnList Take(Eigen::Index count) {
    ColumnList out;
    for (Eigen::Index i = 0; i < count; ++i) out.push_back(columns_++);
    return out;
  }

  void MakeLayout() {
    const Eigen::Index pairs = states_ * (states_ + 1) / 2;
    state_products_ = pairs <= kMaxProducts ? pairs : 0;
    action_products_ = states_ * actions_ <= kMaxProducts ? states_ * actions_ : 0;
    for (int lag = -1; lag <= reach_; ++lag) states_at_.push_back(Take(states_ + state_products_));
    for (int lag = -reach_; lag <= reach_; ++lag) {
      actions_at_.push_back(Take(2 * actions_ + action_products_));
      rewards_at_.push_back(columns_++);
    }
    changes_ = Take(states_);
    reward_step_ = Take(1);
  }

  template <class Stretch>
  void FillRow(const Stretch& stretch, Eigen::Index t, Eigen::Ref<Eigen::RowVectorXd> row) const {
    for (int lag = -1; lag <= reach_; ++lag) {
      const auto state = stretch.observations.row(t + lag).template cast<double>();
      const ColumnList& columns = states_at_[static_cast<std::size_t>(lag + 1)];
      std::size_t k = 0;
      for (Eigen::Index i = 0; i < states_; ++i) row[columns[k++]] = state[i];
      if (state_products_ == 0) continue;
      for (Eigen::Index i = 0; i < states_; ++i) {
        for (Eigen::Index j = i; j < states_; ++j) row[columns[k++]] = state[i] * state[j];
      }
    }
    const auto state = stretch.observations.row(t).template cast<double>();
    for (int lag = -reach_; lag <= reach_; ++lag) {
      const auto action = stretch.actions.row(t + lag).template cast<double>();
      const ColumnList& columns = actions_at_[static_cast<std::size_t>(lag + reach_)];
      std::size_t k = 0;
      for (Eigen::Index i = 0; i < actions_; ++i) row[columns[k++]] = action[i];
      for (Eigen::Index i = 0; i < actions_; ++i) row[columns[k++]] = action[i] * action[i];
      for (Eigen::Index i = 0; i < actions_ && action_products_ > 0; ++i) {
        for (Eigen::Index j = 0; j < states_; ++j) row[columns[k++]] = action[i] * state[j];
      }
      row[rewards_at_[static_cast<std::size_t>(lag + reach_)]] =
          stretch.rewards[static_cast<std::size_t>(t + lag)];
    }
    row[reward_step_[0]] = stretch.rewards[static_cast<std::size_t>(t)] -
                           stretch.rewards[static_cast<std::size_t>(t - 1)];
    const auto next = stretch.observations.row(t + 1).template cast<double>();
    for (Eigen::Index i = 0; i < states_; ++i) {
      row[changes_[static_cast<std::size_t>(i)]] = next[i] - state[i];
    }
  }

  template <class Stretches>
  void Fill(const Stretches& kept) {
    const auto most = static_cast<Eigen::Index>(kMaxNumbers / static_cast<double>(columns_));
    std::vector<std::pair<const typename Stretches::mapped_type*, Eigen::Index>> rows;
    std::set<std::int64_t> episodes;
    for (const auto& [rank, stretch] : kept) {
      if (std::ssize(rows) >= most) break;
      for (Eigen::Index t = reach_; t + reach_ < stretch.actions.rows(); ++t) {
        rows.emplace_back(&stretch, t);
      }
      episodes.insert(stretch.episode);
    }
    if (std::ssize(rows) < std::max<Eigen::Index>(kFewestRows, 3 * columns_)) return;
    MatrixD columns(std::ssize(rows), columns_);
    std::vector<int> folds;
    Eigen::RowVectorXd row(columns_);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [stretch, t] = rows[i];
      FillRow(*stretch, t, row);
      columns.row(static_cast<Eigen::Index>(i)) = row;
      // few episodes are held out by stretches
      const auto unit = std::ssize(episodes) >= 2 * Regressions::kFolds
                            ? std::distance(episodes.begin(), episodes.find(stretch->episode))
                            : t / 8;
      folds.push_back(static_cast<int>(unit % Regressions::kFolds));
    }
    if (!columns.allFinite()) return;
    MeasureRewards(columns.col(rewards_at_[static_cast<std::size_t>(reach_)]),
                   columns.col(reward_step_[0]));
    regressions_.emplace(std::move(columns), folds);
  }

  void MeasureRewards(const Eigen::Ref<const VectorD>& rewards,
                      const Eigen::Ref<const VectorD>& steps) {
    reward_variance_ = (rewards.array() - rewards.mean()).square().mean();
    reward_step_variance_ = (steps.array() - steps.mean()).square().mean();
    std::map<double, std::int64_t> counts;
    std::int64_t most = 0;
    for (const double reward : rewards) most = std::max(most, ++counts[reward]);
    common_reward_share_ = static_cast<double>(most) / static_cast<double>(rewards.size());
  }

  Eigen::Index states_ = 0, actions_ = 0, state_products_ = 0, action_products_ = 0;
  int reach_ = 1;
  Eigen::Index columns_ = 0;
  std::vector<ColumnList> states_at_, actions_at_;
  ColumnList rewards_at_, changes_, reward_step_;
  double common_reward_share_ = 0.0;
  double reward_variance_ = 0.0, reward_step_variance_ = 0.0;
  std::optional<Regressions> regressions_;
};

// The share of a(t + lag) that s(t) .. s(t + lag - 1) tell beside s(t + lag). An action that
// follows from s(t + lag) has nothing left to tell.
double InverseShare(const AlignmentData& data, int lag) {
  const Regressions& fits = data.regressions();
  const ColumnList targets = data.RawActions(lag);
  ColumnList all = data.States(lag);
  for (int k = 0; k < lag; ++k) all = all + data.States(k);
  const VectorD alone = fits.Fit(data.States(lag), targets).held_out;
  const VectorD both = fits.Fit(all, targets).held_out;
  const VectorD totals = fits.Totals(targets);
  double sum = 0.0;
  int count = 0;
  for (Eigen::Index i = 0; i < alone.size(); ++i) {
    if (totals[i] == 0.0 || alone[i] < 1e-3 * totals[i]) continue;
    sum += 1.0 - both[i] / alone[i];
    ++count;
  }
  return count > 0 ? sum / count : 0.0;
}

// Compares the action of row t + lag with that of row t over the dimensions of the state that
// either explains.
ActionShift CompareActionRows(const AlignmentData& data, int lag) {
  const Regressions& fits = data.regressions();
  const ColumnList states = data.States(0) + data.States(-1);
  const VectorD totals = fits.Totals(data.Changes());
  const auto rest = [&](const ColumnList& actions) {
    return fits.Fit(states + actions, data.Changes()).held_out;
  };
  const VectorD none = rest({});
  const VectorD own = rest(data.Actions(0));
  const VectorD other = rest(data.Actions(lag));
  const VectorD both = rest(data.Actions(0) + data.Actions(lag));
  ActionShift shift{.lag = lag};
  double count = 0.0;
  for (Eigen::Index i = 0; i < none.size(); ++i) {
    if (none[i] <= 1e-6 * totals[i]) continue;  // the state alone tells it
    const double by_own = 1.0 - own[i] / none[i], by_other = 1.0 - other[i] / none[i];
    if (std::max(by_own, by_other) < kLikelyGain) continue;
    shift.own += std::max(by_own, 0.0);
    shift.other += std::max(by_other, 0.0);
    shift.own_part += std::max((other[i] - both[i]) / none[i], 0.0);
    shift.other_part += std::max((own[i] - both[i]) / none[i], 0.0);
    count += 1.0;
  }
  if (count == 0.0) return shift;
  for (double* share : {&shift.own, &shift.other, &shift.own_part, &shift.other_part}) {
    *share /= count;
  }
  return shift;
}

std::optional<Severity> GradeOf(const ActionShift& shift) {
  if (shift.lag > 0 && shift.inverse < std::max(kLeastInverse, kInversePart * shift.other_part)) {
    return std::nullopt;
  }
  if (shift.other_part >= kClearGain && shift.own_part <= kClearOwnPart * shift.other_part) {
    return Severity::kError;
  }
  // earlier actions of a deterministic policy tell of earlier states, and so a little of a curved
  // system's next one
  if (shift.lag < 0 && shift.own > kClearOwnPart * shift.other) return std::nullopt;
  if (shift.other_part >= kLikelyGain && shift.own_part <= kLikelyOwnPart * shift.other_part) {
    return Severity::kWarning;
  }
  return std::nullopt;
}

std::string Rows(int lag) {
  const int rows = std::abs(lag);
  return rows == 1 ? "one row" : fmt::format("{} rows", rows);
}

// "t + 1".
std::string Shifted(int lag) { return fmt::format("t {} {}", lag > 0 ? '+' : '-', std::abs(lag)); }

// The shift of actions, if there is one; adds it to the findings.
int FindActionShift(const AlignmentData& data, std::vector<Finding>& findings) {
  std::optional<ActionShift> best;
  for (int lag = -data.reach(); lag <= data.reach(); ++lag) {
    if (lag == 0) continue;
    ActionShift shift = CompareActionRows(data, lag);
    if (shift.other_part < kLikelyGain) continue;
    if (lag > 0) shift.inverse = InverseShare(data, lag);
    if (!GradeOf(shift)) continue;
    if (!best || shift.other > best->other) best = shift;
  }
  if (!best) return 0;
  const Severity grade = *GradeOf(*best);
  findings.push_back(
      {grade, "action_shifted",
       fmt::format("actions {} come {} too {}: the change from observation t to t + 1, given "
                   "observation t, is explained by the action of row {} (R^2 {:.2f}) and not by "
                   "that of row t (R^2 {:.2f})",
                   grade == Severity::kError ? "seem to" : "may", Rows(best->lag),
                   best->lag > 0 ? "late" : "early", Shifted(best->lag), best->other, best->own),
       fmt::format("action t must be the one that leads from observation t to t + 1: write the "
                   "action of row {} into row t{}",
                   Shifted(best->lag),
                   best->lag < 0 ? ", or, where actions do act late, put the latest actions into "
                                   "the observation"
                                 : "")});
  return best->lag;
}

// Compares the rewards of other rows with that of row t; `action_lag` tells which row's action
// belongs to step t.
void FindRewardShift(const AlignmentData& data, int action_lag, std::vector<Finding>& findings) {
  const Regressions& fits = data.regressions();
  const ColumnList features = data.States(0) + data.States(1) + data.Actions(action_lag);
  const auto unexplained = [&](int lag) {
    const ColumnList target = data.Reward(lag);
    const double total = fits.Totals(target)[0];
    return total > 0.0 ? fits.Fit(features, target).held_out[0] / total : 1.0;
  };
  const double own = unexplained(0);
  int best = 0;
  double least = own;
  for (int lag = -data.reach(); lag <= data.reach(); ++lag) {
    const double rest = lag == 0 ? own : unexplained(lag);
    if (rest < least) {
      least = rest;
      best = lag;
    }
  }
  if (best == 0) return;
  const double gain = std::min(own, 1.0) - least;
  const bool likely = least <= kLikelyRewardRest * own && gain >= kLikelyRewardGain;
  const bool clear = (least <= kClearRewardRest * own && gain >= kLeastRewardGain) ||
                     (likely && gain >= kLargeRewardGain);
  if (!likely && !clear) return;
  findings.push_back(
      {clear ? Severity::kError : Severity::kWarning, "reward_row_shifted",
       fmt::format("rewards {} come {} too {}: that of row {} fits the step from observation t to "
                   "t + 1 better (R^2 {:.3f}) than that of row t (R^2 {:.3f})",
                   clear ? "seem to" : "may", Rows(best), best > 0 ? "late" : "early",
                   Shifted(best), 1.0 - least, std::max(1.0 - own, 0.0)),
       fmt::format("reward t must be that of the step from observation t to t + 1: write the "
                   "reward of row {} into row t",
                   Shifted(best))});
}

std::ptrdiff_t CountVarying(const Regressions& fits, const ColumnList& columns) {
  return std::ranges::count_if(columns, [&](Eigen::Index column) { return fits.Varies(column); });
}

// Whether F statistics of `features` columns say that none of the targets depends on them.
bool AreIndifferent(const VectorD& without, const VectorD& with, double features, double rows) {
  double sum = 0.0, largest = 0.0, count = 0.0;
  for (Eigen::Index i = 0; i < without.size(); ++i) {
    if (without[i] <= 1e-9 * rows) continue;
    const double f = (without[i] - with[i]) / features / (with[i] / rows);
    sum += f;
    largest = std::max(largest, f);
    count += 1.0;
  }
  if (count == 0.0) return true;
  return sum / count < 1.0 + 4.0 * std::sqrt(2.0 / (features * count)) &&
         largest < 1.0 + 8.0 * std::sqrt(2.0 / features);
}

void FindNoEffect(const AlignmentData& data, std::vector<Finding>& findings) {
  const Regressions& fits = data.regressions();
  if (fits.rows() < kFewestRowsForNoEffect) return;
  const ColumnList states = data.States(0) + data.States(-1);
  const VectorD free = fits.Fit(states, data.RawActions(0)).held_out;
  const VectorD totals = fits.Totals(data.RawActions(0));
  bool varies = false;
  for (Eigen::Index i = 0; i < free.size(); ++i) {
    varies = varies || (totals[i] > 0.0 && free[i] > kFreeAction * totals[i]);
  }
  if (!varies) return;  // nothing tells the action's effect from the state's
  const auto effects = static_cast<double>(CountVarying(fits, data.Actions(0)));
  const ColumnList targets = data.Changes() + data.Reward(0);
  const VectorD without = fits.Fit(states, targets).in_sample;
  const VectorD with = fits.Fit(states + data.Actions(0), targets).in_sample;
  if (!AreIndifferent(without, with, effects, static_cast<double>(fits.rows()))) return;
  findings.push_back(
      {Severity::kError, "no_action_effect",
       fmt::format("neither the next observation nor the reward depends on the action in {} steps, "
                   "although the actions vary",
                   fits.rows()),
       "check that the actions are those of these rows; if they have no effect, all policies have "
       "the same value"});
}

// Finds rows of which none follows from the one before.
void FindNoOrder(const AlignmentData& data, std::vector<Finding>& findings) {
  const Regressions& fits = data.regressions();
  const ColumnList features = data.States(0) + data.States(-1) + data.Actions(0);
  if (!AreIndifferent(
          fits.Totals(data.RawStates(1)), fits.Fit(features, data.RawStates(1)).in_sample,
          static_cast<double>(CountVarying(fits, features)), static_cast<double>(fits.rows()))) {
    return;
  }
  findings.push_back(
      {Severity::kError, "no_order",
       fmt::format("no observation depends on the one before it or on the action, in {} steps: the "
                   "rows seem to be shuffled",
                   fits.rows()),
       "write the steps of an episode in their order; where every observation is drawn anew, as in "
       "a contextual bandit, write each step as an episode of its own"});
}

// Finds rewards that nothing tells. Rare ones are not judged: they may belong to rare states.
void FindUnrelatedRewards(const AlignmentData& data, std::vector<Finding>& findings) {
  const Regressions& fits = data.regressions();
  if (fits.rows() < kFewestRowsForNoEffect || data.common_reward_share() > kRareRewards) return;
  const ColumnList features = data.States(0) + data.States(1) + data.Actions(0);
  const ColumnList target = data.Reward(0);
  if (!fits.Varies(target[0]) ||
      !AreIndifferent(fits.Totals(target), fits.Fit(features, target).in_sample,
                      static_cast<double>(CountVarying(fits, features)),
                      static_cast<double>(fits.rows()))) {
    return;
  }
  findings.push_back(
      {Severity::kError, "unrelated_rewards",
       fmt::format("the rewards vary, but depend neither on the observations nor on the action, in "
                   "{} steps",
                   fits.rows()),
       "check that the rewards are those of these rows"});
}

// Finds rewards that are added up within an episode.
void FindSums(const AlignmentData& data, std::vector<Finding>& findings) {
  const Regressions& fits = data.regressions();
  const ColumnList features = data.States(0) + data.States(1) + data.Actions(0);
  const ColumnList reward = data.Reward(0);
  const ColumnList& step = data.RewardStep();
  if (!fits.Varies(reward[0]) || !fits.Varies(step[0])) return;
  const double own = fits.Fit(features, reward).held_out[0] / fits.Totals(reward)[0];
  const double of_step = fits.Fit(features, step).held_out[0] / fits.Totals(step)[0];
  // in the reward's own unit the step leaves less open than the reward, which holds all before it
  const double left = of_step * data.reward_step_variance() / data.reward_variance();
  if (of_step > kClearSumRest || own < kLeastSumOwn || left > kClearSumRest * own) return;
  findings.push_back(
      {Severity::kError, "rewards_added_up",
       fmt::format(
           "the change of the reward from row t - 1 to t fits the step from observation t "
           "to t + 1 (R^2 {:.3f}), the reward itself does not (R^2 {:.3f}): rewards seem to "
           "be added up",
           1.0 - of_step, std::max(1.0 - own, 0.0)),
       "log the reward of each step, not the return so far"});
}

}  // namespace

void AlignmentAuditor::Consider(const EpisodeBatch& batch, std::int64_t e, std::int64_t first,
                                std::int64_t steps) {
  const double rank =
      Stream(0, "alignment sample", {static_cast<std::uint64_t>(stretches_++)}).Uniform();
  if (rank >= threshold_) return;
  const std::int64_t step = batch.offsets[static_cast<std::size_t>(e)] + first;
  Stretch stretch{.episode = episodes_ + e,
                  .observations = TakeColumns(batch.observations, batch.ObservationRow(e, first),
                                              steps + 1, kMaxStates),
                  .actions = TakeColumns(batch.actions, step, steps, kMaxActions),
                  .rewards = {batch.rewards.begin() + step, batch.rewards.begin() + step + steps}};
  kept_.emplace(rank, std::move(stretch));
  kept_steps_ += steps;
  while (kept_steps_ > kMaxSteps && kept_.size() > 1) {
    const auto last = std::prev(kept_.end());
    threshold_ = last->first;
    kept_steps_ -= last->second.actions.rows();
    kept_.erase(last);
  }
}

void AlignmentAuditor::Add(const EpisodeBatch& batch) {
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    const auto length = static_cast<double>(batch.Length(e));
    length_sum_ += length;
    length_squares_ += length * length;
    // the observation after a terminal step may be made up
    const std::int64_t end =
        std::min(batch.Length(e) - (batch.terminated[static_cast<std::size_t>(e)] != 0 ? 1 : 0),
                 batch.Outcomes(e));
    for (std::int64_t first = 0; first + 3 <= end; first += kStretchSteps) {
      Consider(batch, e, first, std::min(kStretchSteps, end - first));
    }
  }
  episodes_ += batch.episodes();
}

// Shuffled flags leave episodes of all lengths. Where every observation is drawn anew, as in a
// contextual bandit, no observation follows from another one either.
bool AlignmentAuditor::LengthsVary() const {
  const double mean = length_sum_ / static_cast<double>(episodes_);
  const double variance = length_squares_ / static_cast<double>(episodes_) - mean * mean;
  return variance > kVariedLengths * kVariedLengths * mean * mean;
}

std::vector<Finding> AlignmentAuditor::Findings() const {
  std::vector<Finding> findings;
  if (kept_.empty()) return findings;
  const AlignmentData data(kept_);
  if (!data.usable()) return findings;
  const int shift = FindActionShift(data, findings);
  FindRewardShift(data, shift, findings);
  if (findings.empty()) FindSums(data, findings);
  if (findings.empty() && LengthsVary()) FindNoOrder(data, findings);
  if (findings.empty()) FindNoEffect(data, findings);
  if (findings.empty()) FindUnrelatedRewards(data, findings);
  return findings;
}

}  // namespace lfiw::core
