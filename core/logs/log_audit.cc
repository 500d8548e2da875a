#include "core/logs/log_audit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::core {
namespace {

// Bootstrap intervals over fewer episodes are not to be relied on.
constexpr std::int64_t kFewEpisodes = 20;
constexpr std::size_t kMaxListed = 8;
// Odd and large, so that every bit of every value moves the hash.
constexpr std::uint64_t kHashFactor = 0x9E3779B97F4A7C15;

Distribution Describe(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  Distribution out;
  if (values.empty()) return out;
  out.count = static_cast<std::int64_t>(values.size());
  out.mean = Mean(values);
  if (values.size() > 1) out.deviation = StandardDeviation(values);
  std::sort(values.begin(), values.end());
  out.min = values.front();
  out.quartile1 = Quantile(values, 0.25);
  out.median = Quantile(values, 0.5);
  out.quartile3 = Quantile(values, 0.75);
  out.max = values.back();
  return out;
}

// "0, 3, 5, ... (12 in all)".
template <class T, class Format>
std::string ListText(const std::vector<T>& items, Format format) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < kMaxListed; ++i) {
    text += (i > 0 ? ", " : "") + format(items[i]);
  }
  if (items.size() > kMaxListed) text += fmt::format(", ... ({} in all)", items.size());
  return text;
}

bool IsConstant(const ColumnSummary& column) {
  return column.finite > 1 && column.not_finite == 0 && column.min == column.max;
}

void FindNotFinite(const std::string& first, AuditReport& report) {
  std::int64_t count = report.reward.not_finite;
  for (const ColumnSummary& column : report.observations) count += column.not_finite;
  for (const ColumnSummary& column : report.actions) count += column.not_finite;
  if (count == 0) return;
  report.AddFinding(Severity::kError, "not_finite",
                    fmt::format("{} values are NaN or infinite, the first in the {}", count, first),
                    "find where they come from; drop those episodes");
}

void FindUselessColumns(AuditReport& report) {
  const auto number = [](std::int64_t i) { return fmt::format("{}", i); };
  if (!report.constant_dims.empty()) {
    report.AddFinding(Severity::kNote, "constant_observation",
                      fmt::format("observation dimensions that never change: {}",
                                  ListText(report.constant_dims, number)));
  }
  if (!report.duplicate_dims.empty()) {
    const auto pair = [](const auto& dims) {
      return fmt::format("{} = {}", dims.second, dims.first);
    };
    report.AddFinding(Severity::kNote, "duplicate_observation",
                      fmt::format("observation dimensions that repeat another: {}",
                                  ListText(report.duplicate_dims, pair)));
  }
  std::vector<std::int64_t> constant;
  for (std::size_t i = 0; i < report.actions.size(); ++i) {
    if (IsConstant(report.actions[i])) constant.push_back(static_cast<std::int64_t>(i));
  }
  if (!constant.empty()) {
    // where all are, there is nothing to learn of any other action
    const bool all = constant.size() == report.actions.size();
    report.AddFinding(
        all ? Severity::kError : Severity::kWarning, "constant_action",
        all ? "all logged actions are the same"
            : fmt::format("action dimensions that never change: {}", ListText(constant, number)),
        "a policy that acts there differently cannot be evaluated from this log");
  }
  if (IsConstant(report.reward) && report.reward.min == 0.0) {
    report.AddFinding(Severity::kError, "no_reward", "every reward is 0",
                      "check which array holds the rewards");
  }
}

void FindBoundaries(const std::vector<std::uint8_t>& terminated, AuditReport& report) {
  const LogCounts& counts = report.counts;
  if (counts.continuity_broken > 0) {
    report.AddFinding(
        Severity::kError, "not_continuous",
        fmt::format("the next observation is not the following one in {} of {} steps, first in {}",
                    counts.continuity_broken, counts.continuity_checked, counts.first_broken),
        "episode boundaries are missing, or one of the two was normalized");
  }
  if (counts.cut_episodes > 0) {
    report.AddFinding(Severity::kWarning, "cut_by_guess",
                      fmt::format("{} episodes end only because they were cut at the step limit",
                                  counts.cut_episodes),
                      "check --max-episode-steps against the environment");
  }
  if (counts.both_flags > 0) {
    report.AddFinding(Severity::kNote, "both_flags",
                      fmt::format("{} steps are marked as terminal and timeout; they count as "
                                  "terminal",
                                  counts.both_flags));
  }
  const auto longest = report.length_distribution.max;
  std::int64_t at_limit = 0;
  std::int64_t terminated_at_limit = 0;
  for (std::size_t e = 0; e < terminated.size(); ++e) {
    if (report.lengths[e] != longest) continue;
    ++at_limit;
    terminated_at_limit += terminated[e];
  }
  if (longest > 1 && at_limit >= 2 && terminated_at_limit == at_limit) {
    report.AddFinding(
        Severity::kWarning, "terminal_at_limit",
        fmt::format(
            "all {} episodes of the longest length ({}) end in a terminal state; that looks "
            "like a time limit",
            at_limit, longest),
        "mark them as timeouts: a terminal state has value 0, a cut one goes on");
  }
  if (report.terminated == 0 && report.length_distribution.min != longest) {
    report.AddFinding(Severity::kWarning, "no_terminals",
                      "episodes have different lengths, but none is marked as terminated",
                      "check that the terminal flags were logged");
  }
  if (longest == 1 && report.episodes > 1) {
    // where the environment ended them all, this is a contextual bandit
    const bool bandit = std::ranges::count(terminated, 0) == 0;
    report.AddFinding(bandit ? Severity::kNote : Severity::kWarning, "single_steps",
                      "every episode has one step",
                      "if these are shuffled transitions, trajectory estimators do not apply");
  }
}

// What the reader has left out, and what evaluations will.
void FindRepairs(AuditReport& report) {
  const LogCounts& counts = report.counts;
  if (counts.reset_ends > 0) {
    report.AddFinding(
        Severity::kWarning, "reset_next_observation",
        fmt::format("at {} ends the next observation is the first one of the next episode (the "
                    "environment was reset before it was logged), so it is not used",
                    counts.reset_ends),
        "log the observation in which the episode ended (final_observation of Gymnasium's vector "
        "environments)");
  }
  if (counts.reset_steps > 0) {
    report.AddFinding(Severity::kNote, "reset_steps",
                      fmt::format("{} rows after ends of episodes only reset the environment; they "
                                  "count as last observations, not as steps",
                                  counts.reset_steps));
  }
  if (counts.padding_steps > 0) {
    report.AddFinding(Severity::kNote, "padding",
                      fmt::format("the last {} rows of the file hold no data and were left out",
                                  counts.padding_steps));
  }
  if (counts.duplicate_episodes > 0) {
    report.AddFinding(
        Severity::kWarning, "repeated_episodes",
        fmt::format("{} of {} episodes repeat an earlier one to the last bit; evaluations count "
                    "them once",
                    counts.duplicate_episodes, report.episodes),
        "join each part of the log once");
  }
}

void FindDensities(AuditReport& report) {
  const ColumnSummary& density = report.behavior_log_density;
  if (density.finite + density.not_finite == 0) {
    report.AddFinding(Severity::kNote, "no_behavior_density",
                      "no behavior densities: importance sampling needs the behavior policy or an "
                      "estimate of it; LFIW, FQE and the model do not");
    return;
  }
  if (density.not_finite > 0) {
    report.AddFinding(
        Severity::kError, "impossible_action",
        fmt::format("{} logged actions have a behavior log-density that is not finite",
                    density.not_finite),
        "log the density of the action that was drawn");
  }
  if (report.info.discrete_actions > 0 && density.finite > 0 && density.max > 1e-4) {
    report.AddFinding(Severity::kError, "probability_above_one",
                      fmt::format("behavior probabilities reach {:.4g}", std::exp(density.max)),
                      "these are no log-probabilities of discrete actions");
  }
  if (IsConstant(density) && report.info.discrete_actions == 0) {
    report.AddFinding(Severity::kWarning, "constant_density",
                      fmt::format("all behavior log-densities are {:.4g}", density.min),
                      "densities of continuous actions differ from step to step");
  }
}

}  // namespace

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      break;
  }
  return "note";
}

void AuditReport::AddFinding(Severity severity, std::string code, std::string text,
                             std::string cure) {
  // worst first, otherwise in order
  const auto at = std::find_if(findings.begin(), findings.end(), [severity](const Finding& other) {
    return static_cast<int>(other.severity) < static_cast<int>(severity);
  });
  findings.insert(at, {severity, std::move(code), OneLine(text), OneLine(cure)});
}

void LogAuditor::Column::Add(float value) {
  hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * kHashFactor;
  Add(static_cast<double>(value));
}

void LogAuditor::Column::Add(double value) {
  if (!std::isfinite(value)) {
    ++not_finite;
    return;
  }
  if (finite == 0) shift = min = max = value;
  ++finite;
  min = std::min(min, value);
  max = std::max(max, value);
  const double d = value - shift;
  sum += d;
  squares += d * d;
}

ColumnSummary LogAuditor::Column::Summary() const {
  ColumnSummary out{finite, not_finite, min, max, 0.0, 0.0};
  const auto n = static_cast<double>(finite);
  if (finite > 0) out.mean = shift + sum / n;
  if (finite > 1) out.deviation = std::sqrt(std::max(0.0, squares - sum * sum / n) / (n - 1.0));
  return out;
}

void LogAuditor::AddRows(const MatrixF& rows, std::vector<Column>& columns) const {
  columns.resize(static_cast<std::size_t>(rows.cols()));
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const float* row = rows.data() + i * rows.cols();
    for (std::size_t k = 0; k < columns.size(); ++k) columns[k].Add(row[k]);
  }
}

// The first value that is not finite, to be named.
void LogAuditor::NoteFirst(const EpisodeBatch& batch) {
  const auto name = [&](const char* what, std::int64_t e, std::int64_t t) {
    const auto episode = static_cast<std::int64_t>(lengths_.size()) - batch.episodes() + e;
    first_not_finite_ = fmt::format("{} of episode {}, step {}", what, episode, t);
  };
  for (std::int64_t e = 0; e < batch.episodes() && first_not_finite_.empty(); ++e) {
    const std::int64_t first = batch.offsets[static_cast<std::size_t>(e)];
    for (std::int64_t t = 0; t <= batch.Length(e) && first_not_finite_.empty(); ++t) {
      if (!batch.observations.row(batch.ObservationRow(e, t)).allFinite())
        name("observation", e, t);
      if (t == batch.Length(e)) continue;
      if (!batch.actions.row(first + t).allFinite()) name("action", e, t);
      if (!std::isfinite(batch.rewards[static_cast<std::size_t>(first + t)])) name("reward", e, t);
    }
  }
}

void LogAuditor::Add(const EpisodeBatch& batch) {
  AddRows(batch.observations, observations_);
  AddRows(batch.actions, actions_);
  for (const double reward : batch.rewards) reward_.Add(reward);
  for (const double density : batch.behavior_log_density) density_.Add(density);
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    lengths_.push_back(static_cast<double>(batch.Length(e)));
  }
  const std::vector<double> returns = Returns(batch);
  returns_.insert(returns_.end(), returns.begin(), returns.end());
  terminated_.insert(terminated_.end(), batch.terminated.begin(), batch.terminated.end());
  steps_ += batch.steps();
  repeated_.Add(batch);
  alignment_.Add(batch);
  cuts_.Add(batch);
  drift_.Add(batch);
  outliers_.Add(batch);
  resets_.Add(batch);
  if (first_not_finite_.empty()) NoteFirst(batch);
}

AuditReport LogAuditor::Finish(const LogInfo& info, const LogCounts& counts) const {
  AuditReport report;
  report.info = info;
  report.counts = counts;
  report.episodes = static_cast<std::int64_t>(lengths_.size());
  report.steps = steps_;
  report.terminated = std::count(terminated_.begin(), terminated_.end(), 1);
  report.lengths = lengths_;
  report.returns = returns_;
  report.length_distribution = Describe(lengths_);
  report.return_distribution = Describe(returns_);
  std::map<std::uint64_t, std::int64_t> first_with_hash;
  for (std::size_t k = 0; k < observations_.size(); ++k) {
    report.observations.push_back(observations_[k].Summary());
    const auto dim = static_cast<std::int64_t>(k);
    if (IsConstant(report.observations.back())) {
      report.constant_dims.push_back(dim);
    } else if (const auto [at, is_new] = first_with_hash.emplace(observations_[k].hash, dim);
               !is_new) {
      report.duplicate_dims.emplace_back(at->second, dim);
    }
  }
  for (const Column& column : actions_) report.actions.push_back(column.Summary());
  report.reward = reward_.Summary();
  report.behavior_log_density = density_.Summary();

  if (report.episodes == 0) {
    report.AddFinding(Severity::kError, "empty", "no episode with a usable step");
    for (const std::string& note : info.notes) report.AddFinding(Severity::kNote, "reader", note);
    return report;
  }
  FindNotFinite(first_not_finite_, report);
  FindBoundaries(terminated_, report);
  report.counts.duplicate_episodes = std::ssize(repeated_.repeats());
  FindRepairs(report);
  FindUselessColumns(report);
  FindDensities(report);
  for (std::vector<Finding> found :
       {alignment_.Findings(), cuts_.Findings(), drift_.Findings(), outliers_.Findings()}) {
    for (Finding& finding : found) {
      report.AddFinding(finding.severity, std::move(finding.code), std::move(finding.text),
                        std::move(finding.cure));
    }
  }
  if (const std::optional<Finding> found = resets_.Find()) {
    report.AddFinding(found->severity, found->code, found->text, found->cure);
  }
  if (report.episodes < kFewEpisodes) {
    report.AddFinding(
        Severity::kWarning, "few_episodes",
        fmt::format("{} episodes only; intervals from so few are too narrow", report.episodes),
        fmt::format("log {} or more", kFewEpisodes));
  }
  for (const std::string& note : info.notes) report.AddFinding(Severity::kNote, "reader", note);
  return report;
}

}  // namespace lfiw::core
