#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/statistics.h"
#include "tests/fuzz/mistakes.h"

namespace lfiw::core {
namespace {

// Gives each row the row `lag` before it (behind it, if negative): within its episode, with the
// first one repeated, or through the whole file.
std::vector<std::int64_t> ShiftedRows(const StepTable& table, std::int64_t lag, bool whole) {
  std::vector<std::int64_t> rows;
  const std::vector<std::int64_t> starts = table.Starts();
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
    for (std::int64_t i = starts[e]; i < starts[e + 1]; ++i) {
      rows.push_back(whole ? (i - lag + table.steps()) % table.steps()
                           : std::clamp(i - lag, starts[e], starts[e + 1] - 1));
    }
  }
  return rows;
}

void TakeActions(Case& c, const std::vector<std::int64_t>& rows) {
  const StepTable from = c.table.Rows(rows);
  c.table.actions = from.actions;
  c.table.log_densities = from.log_densities;
}

void TakeRewards(Case& c, const std::vector<std::int64_t>& rows) {
  c.table.rewards = c.table.Rows(rows).rewards;
}

std::int64_t RandomLag(Stream& stream) { return 1 + static_cast<std::int64_t>(stream.Below(2)); }

std::vector<std::int64_t> AllRows(const StepTable& table) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.steps()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

// Numbers episodes and steps by the ends that rows have.
void Renumber(StepTable& table) {
  std::int64_t episode = 0, t = 0;
  for (std::size_t i = 0; i < table.episodes.size(); ++i) {
    table.episodes[i] = episode;
    table.times[i] = t++;
    if (table.terminals[i] == 0 && table.timeouts[i] == 0) continue;
    ++episode;
    t = 0;
  }
}

}  // namespace

void ShiftBoth(Case& c, Stream& stream) {
  const auto rows = ShiftedRows(c.table, RandomLag(stream), Coin(stream));
  TakeActions(c, rows);
  TakeRewards(c, rows);
}

void ShiftActionsLate(Case& c, Stream& stream) {
  TakeActions(c, ShiftedRows(c.table, RandomLag(stream), Coin(stream)));
}

void ShiftActionsEarly(Case& c, Stream& stream) {
  TakeActions(c, ShiftedRows(c.table, -RandomLag(stream), Coin(stream)));
}

void ShiftRewardsLate(Case& c, Stream& stream) {
  TakeRewards(c, ShiftedRows(c.table, RandomLag(stream), Coin(stream)));
}

void ShiftRewardsEarly(Case& c, Stream& stream) {
  TakeRewards(c, ShiftedRows(c.table, -RandomLag(stream), Coin(stream)));
}

void PermuteActions(Case& c, Stream& stream) {
  TakeActions(c, stream.Permutation(c.table.steps()));
}

void PermuteRewards(Case& c, Stream& stream) {
  TakeRewards(c, stream.Permutation(c.table.steps()));
}

void HoldActions(Case& c, Stream& /*stream*/) { c.table.actions.setConstant(0.0f); }

void SwapObservations(Case& c, Stream& /*stream*/) {
  std::swap(c.table.observations, c.table.next_observations);
}

// Joins some of the episodes again, the best ones.
void RepeatEpisodes(Case& c, Stream& stream) {
  const std::vector<double> returns = ReturnsOf(c.table);
  const double level = Quantile(returns, stream.Uniform(0.0, 0.7));
  const std::vector<std::int64_t> starts = c.table.Starts();
  std::vector<std::int64_t> rows = AllRows(c.table);
  for (std::size_t e = 0; e < returns.size(); ++e) {
    if (returns[e] < level) continue;
    for (std::int64_t i = starts[e]; i < starts[e + 1]; ++i) rows.push_back(i);
  }
  c.table = c.table.Rows(rows);
  Renumber(c.table);
}

void ResetAsNext(Case& c, Stream& /*stream*/) {
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    if (!c.table.Ends(i)) continue;
    c.table.next_observations.row(i) = c.table.observations.row((i + 1) % c.table.steps());
  }
}

// A row of Gymnasium's vector environments behind each end, whose action is ignored.
void ResetRows(Case& c, Stream& /*stream*/) {
  std::vector<std::int64_t> rows;
  std::vector<bool> is_reset;
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    rows.push_back(i);
    is_reset.push_back(false);
    if (!c.table.Ends(i)) continue;
    rows.push_back(i);
    is_reset.push_back(true);
  }
  StepTable table = c.table.Rows(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!is_reset[i]) continue;
    const auto row = static_cast<Eigen::Index>(i);
    table.observations.row(row) = table.next_observations.row(row);
    table.next_observations.row(row) =
        table.observations.row(static_cast<Eigen::Index>((i + 1) % rows.size()));
    table.rewards[i] = 0.0;
    table.terminals[i] = table.timeouts[i] = 0;
  }
  c.table = std::move(table);
}

void PadRows(Case& c, Stream& stream) {
  std::vector<std::int64_t> rows = AllRows(c.table);
  const auto used = static_cast<Eigen::Index>(rows.size());
  rows.resize(rows.size() + 50 + stream.Below(500), 0);
  c.table = c.table.Rows(rows);
  const Eigen::Index padding = c.table.steps() - used;
  c.table.observations.bottomRows(padding).setZero();
  c.table.next_observations.bottomRows(padding).setZero();
  c.table.actions.bottomRows(padding).setZero();
  for (auto i = static_cast<std::size_t>(used); i < rows.size(); ++i) {
    c.table.rewards[i] = 0.0;
    c.table.terminals[i] = c.table.timeouts[i] = 0;
  }
}

// Sessions end at random.
void CutEpisodes(Case& c, Stream& stream) {
  const std::vector<std::int64_t> starts = c.table.Starts();
  std::vector<std::int64_t> rows, cuts;
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
    const std::int64_t length = starts[e + 1] - starts[e];
    std::int64_t kept = length;
    if (stream.Uniform() < 0.4) {
      kept = std::min(length, 3 + static_cast<std::int64_t>(stream.Below(
                                      static_cast<std::uint64_t>(c.world.system.horizon - 3))));
    }
    for (std::int64_t i = starts[e]; i < starts[e] + kept; ++i) rows.push_back(i);
    if (kept < length) cuts.push_back(std::ssize(rows) - 1);
  }
  c.table = c.table.Rows(rows);
  for (const std::int64_t row : cuts) c.table.timeouts[static_cast<std::size_t>(row)] = 1;
}

void ShuffleRows(Case& c, Stream& stream) {
  c.table = c.table.Rows(stream.Permutation(c.table.steps()));
  Renumber(c.table);
}

// A full ring buffer: the newest row, inside an episode, stands before the oldest one.
void WrapBuffer(Case& c, Stream& stream) {
  std::vector<std::int64_t> rows = AllRows(c.table);
  rows.erase(rows.begin(), rows.begin() + 3 + static_cast<std::ptrdiff_t>(stream.Below(40)));
  rows.resize(rows.size() - 3 - stream.Below(40));
  std::rotate(rows.begin(),
              rows.begin() + static_cast<std::ptrdiff_t>(1 + stream.Below(rows.size() - 2)),
              rows.end());
  c.table = c.table.Rows(rows);
}

}  // namespace lfiw::core
