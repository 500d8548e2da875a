#include "core/logs/cut_audit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kMaxCutNumbers = 4'000'000;
constexpr Eigen::Index kMaxDimensions = 32;
constexpr std::size_t kFewestCuts = 8, kFewestMates = 5;
// Standard errors that a mean rank is away from that of uniform ranks, over all dimensions.
constexpr double kClearScore = 6.0, kLikelyScore = 5.0;
// How far the mean rank is from one half, or the mean distance from one half from a quarter, both
// as shares of what is possible. Where a threshold ends episodes, all ranks are 0 or 1.
constexpr double kClearShift = 0.6, kLikelyShift = 0.25;

// How far the mean of numbers that are uniform in [0, 1] without a dependence is from 1/2.
struct Shift {
  double size = 0.0;   // in [0, 1]
  double score = 0.0;  // in standard errors
};

Shift ShiftOf(double size, std::size_t count) {
  return {size, size * std::sqrt(3.0 * static_cast<double>(count))};
}

}  // namespace

void CutAuditor::Add(const EpisodeBatch& batch) {
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    const std::int64_t steps = batch.Length(e);
    const bool cut = batch.terminated[static_cast<std::size_t>(e)] == 0;
    ++(cut ? cut_lengths_ : ended_lengths_)[steps];
    const double rank =
        Stream(0, "cut sample", {static_cast<std::uint64_t>(episodes_++)}).Uniform();
    if (rank >= threshold_) continue;
    const Eigen::Index rows = steps + (batch.EndRecorded(e) ? 1 : 0);
    Episode kept{.observations = batch.observations.middleRows(batch.ObservationRow(e, 0), rows)
                                     .leftCols(std::min(batch.obs_dim(), kMaxDimensions)),
                 .steps = steps,
                 .cut = cut};
    kept_numbers_ += kept.observations.size();
    kept_.emplace(rank, std::move(kept));
    while (kept_numbers_ > kMaxCutNumbers && kept_.size() > 1) {
      const auto last = std::prev(kept_.end());
      threshold_ = last->first;
      kept_numbers_ -= last->second.observations.size();
      kept_.erase(last);
    }
  }
}

std::vector<double> CutAuditor::Ranks(Eigen::Index dimension) const {
  std::vector<double> ranks;
  for (const auto& [own_rank, episode] : kept_) {
    if (!episode.cut || episode.observations.rows() == 0) continue;
    const Eigen::Index at = episode.observations.rows() - 1;
    const float last = episode.observations(at, dimension);
    double below = 0.0, mates = 0.0;
    for (const auto& [rank, mate] : kept_) {
      if (mate.steps <= episode.steps) continue;
      const float value = mate.observations(at, dimension);
      below += value < last ? 1.0 : value == last ? 0.5 : 0.0;
      mates += 1.0;
    }
    if (mates < static_cast<double>(kFewestMates)) continue;
    ranks.push_back(below / mates);
  }
  return ranks;
}

void CutAuditor::FindSwappedFlags(std::vector<Finding>& findings) const {
  if (cut_lengths_.empty() || ended_lengths_.empty()) return;
  const std::int64_t longest = ended_lengths_.rbegin()->first;
  std::int64_t shorter = 0, others = 0;
  for (const auto& [length, count] : cut_lengths_) (length < longest ? shorter : others) += count;
  // all that ended have one length, which hardly any that was cut reaches
  const bool swapped = ended_lengths_.size() == 1 && 10 * others <= shorter;
  const std::int64_t ended = ended_lengths_.begin()->second;
  if (!swapped || longest < 2 || ended < 5 || shorter < 5) return;
  findings.push_back(
      {Severity::kError, "flags_swapped",
       fmt::format("the environment ended {} episodes, all of the longest length {}, and a limit "
                   "cut the {} shorter ones: the flags for the two seem to be exchanged",
                   ended, longest, shorter),
       "mark as terminal where the environment ended an episode, as timeout where a limit cut it"});
}

std::vector<Finding> CutAuditor::Findings() const {
  std::vector<Finding> findings;
  FindSwappedFlags(findings);
  if (!findings.empty() || kept_.empty()) return findings;
  Shift largest;
  Eigen::Index at = 0;
  std::size_t count = 0;
  const Eigen::Index dimensions = kept_.begin()->second.observations.cols();
  for (Eigen::Index k = 0; k < dimensions; ++k) {
    std::vector<double> ranks = Ranks(k);
    if (ranks.size() < kFewestCuts) return findings;
    const Shift to_one_side = ShiftOf(2.0 * std::abs(Mean(ranks) - 0.5), ranks.size());
    for (double& rank : ranks) rank = 2.0 * std::abs(rank - 0.5);
    // equal values lie in the middle, which is no edge
    const Shift to_the_edge = ShiftOf(2.0 * Mean(ranks) - 1.0, ranks.size());
    for (const Shift& shift : {to_one_side, to_the_edge}) {
      if (shift.score <= largest.score) continue;
      largest = shift;
      at = k;
      count = ranks.size();
    }
  }
  const bool clear = largest.score > kClearScore && largest.size > kClearShift;
  const bool likely = largest.score > kLikelyScore && largest.size > kLikelyShift;
  if (!clear && !likely) return findings;
  findings.push_back(
      {clear ? Severity::kError : Severity::kWarning, "cut_by_state",
       fmt::format(
           "{} episodes are marked as cut where observation[{}] is extreme among those that "
           "go on at the same step ({:.1f} standard errors): what is marked as a limit "
           "{} the environment's end",
           count, at, largest.score, clear ? "seems to be" : "may be"),
       "mark as terminal where the environment ended an episode"});
  return findings;
}

}  // namespace lfiw::core
