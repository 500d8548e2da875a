#include "experiments/evaluation/env_audit.h"

#include <cmath>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "envs/env_registry.h"
#include "policies/log_compatibility.h"

namespace lfiw::experiments {
namespace {

// Bounds are compared as floats, in which actions are stored.
constexpr double kBoundSlack = 1e-5;
// Root mean square differences, in standard deviations of the reward: what float32 observations
// leave when the reward is exact, and what an approximate velocity leaves (0.3 for HalfCheetah
// under random actions; unrelated rewards differ by 1.4).
constexpr double kExact = 1e-2;
constexpr double kApproximate = 0.5;
// A shift is the explanation when it leaves less than this part of the difference.
constexpr double kShiftGain = 0.5;
// So is another version.
constexpr double kVersionGain = 0.5;

// Whether the log marks that step t of an episode terminates it.
bool EndsAt(const EpisodeBatch& batch, std::int64_t episode, std::int64_t t) {
  return t + 1 == batch.Length(episode) && batch.terminated[static_cast<std::size_t>(episode)] != 0;
}

}  // namespace

void EnvAuditor::Mismatch::Add(double logged, double computed) {
  const double difference = logged - computed;
  if (!std::isfinite(difference)) return;
  squares += difference * difference;
  ++count;
}

double EnvAuditor::Mismatch::Rms() const {
  return count == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(count));
}

void EnvAuditor::Add(const EpisodeBatch& batch) {
  if (!misfit_.empty() || batch.episodes() == 0) return;
  try {
    CheckFits(batch, env_->spec(), "the log");
  } catch (const DataError& error) {
    misfit_ = error.what();
    fitting_ = VersionOfSizes(env_->spec(), batch.obs_dim(), batch.action_dim());
    return;
  }
  if (!functions_) {
    // exact where the log has what it needs, else from the velocities before and after
    functions_ = env_->MakeTaskRules(RewardSource::kDisplacement);
    if (functions_->aux_dim() > batch.aux_dim()) {
      source_ = RewardSource::kTrapezoid;
      functions_ = env_->MakeTaskRules(source_);
    }
    FindVersions();
  }
  const std::vector<std::int64_t> all = IndexList(batch.episodes());
  const Transitions steps = GatherTransitions(batch, all);
  CompareActions(batch);
  CompareRewards(batch, steps);
  CompareVersions(batch, steps);
  CompareTermination(batch, steps);
  episodes_ += batch.episodes();
}

void EnvAuditor::CompareActions(const EpisodeBatch& batch) {
  const EnvSpec& spec = env_->spec();
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    for (std::int64_t t = 0; t < batch.Length(e); ++t) {
      const auto action = batch.actions.row(batch.offsets[static_cast<std::size_t>(e)] + t);
      const VectorD values = action.transpose().cast<double>();
      const bool inside = (values.array() >= spec.action_low.array() - kBoundSlack).all() &&
                          (values.array() <= spec.action_high.array() + kBoundSlack).all();
      if (inside || !values.allFinite()) continue;
      if (outside_++ == 0) first_outside_ = fmt::format("episode {}, step {}", episodes_ + e, t);
    }
  }
}

void EnvAuditor::CompareRewards(const EpisodeBatch& batch, const Transitions& steps) {
  std::vector<double> computed(static_cast<std::size_t>(steps.size()));
  functions_->Rewards(steps.states, steps.actions, steps.next_states, steps.aux, computed);
  std::size_t row = 0;
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    const auto first = static_cast<std::size_t>(batch.offsets[static_cast<std::size_t>(e)]);
    const auto count = static_cast<std::size_t>(batch.Outcomes(e));
    for (std::size_t t = 0; t < count; ++t, ++row) {
      const double reward = batch.rewards[first + t];
      same_.Add(reward, computed[row]);
      if (EndsAt(batch, e, static_cast<std::int64_t>(t))) at_ends_.Add(reward, computed[row]);
      if (t > 0) before_.Add(reward, computed[row - 1]);
      if (t + 1 < count) after_.Add(reward, computed[row + 1]);
    }
  }
}

void EnvAuditor::FindVersions() {
  const EnvSpec& spec = env_->spec();
  for (const std::string& name : VersionsOf(spec.name)) {
    const std::shared_ptr<const EnvFactory> other = FindEnv(name);
    const EnvSpec& found = other->spec();
    const bool comparable = found.obs_dim == spec.obs_dim && found.action_dim == spec.action_dim &&
                            found.aux_names == spec.aux_names;
    if (found.name == spec.name || !comparable) continue;
    versions_.push_back({found.name, other->MakeTaskRules(source_), {}, {}});
  }
}

void EnvAuditor::CompareVersions(const EpisodeBatch& batch, const Transitions& steps) {
  std::vector<double> computed(static_cast<std::size_t>(steps.size()));
  for (Version& version : versions_) {
    version.rules->Rewards(steps.states, steps.actions, steps.next_states, steps.aux, computed);
    std::size_t row = 0;
    for (std::int64_t e = 0; e < batch.episodes(); ++e) {
      const std::int64_t first = batch.offsets[static_cast<std::size_t>(e)];
      for (std::int64_t t = 0; t < batch.Outcomes(e); ++t, ++row) {
        const double reward = batch.rewards[static_cast<std::size_t>(first + t)];
        version.all.Add(reward, computed[row]);
        if (EndsAt(batch, e, t)) version.at_ends.Add(reward, computed[row]);
      }
    }
  }
}

const EnvAuditor::Version* EnvAuditor::BetterVersion(double tolerance) const {
  for (const Version& version : versions_) {
    if (version.all.Rms() > tolerance) continue;
    // versions that differ at ends alone differ little over all steps
    if (version.all.Rms() < kVersionGain * same_.Rms()) return &version;
    if (version.at_ends.Rms() < kVersionGain * at_ends_.Rms()) return &version;
  }
  return nullptr;
}

void EnvAuditor::CompareTermination(const EpisodeBatch& batch, const Transitions& steps) {
  std::vector<std::uint8_t> terminal(static_cast<std::size_t>(steps.size()));
  functions_->Terminated(steps.states, steps.actions, steps.next_states, terminal);
  std::size_t row = 0;
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    const std::int64_t count = batch.Outcomes(e);
    for (std::int64_t t = 0; t < count; ++t, ++row) {
      const bool marked = EndsAt(batch, e, t);
      if (marked && terminal[row] == 0) ++false_terminals_;
      if (!marked && terminal[row] != 0) ++missed_terminals_;
    }
  }
}

void EnvAuditor::ReportRewards(AuditReport& report) const {
  const std::string& name = env_->spec().name;
  const double scale = std::max(report.reward.deviation, 1e-6);
  const double tolerance = source_ == RewardSource::kDisplacement ? kExact : kApproximate;
  const auto from = source_ == RewardSource::kDisplacement ? "" : " (velocity from observations)";
  if (const Version* other = BetterVersion(tolerance * scale)) {
    report.AddFinding(Severity::kWarning, "environment_version",
                      fmt::format("rewards are those of {} rather than {}'s: where episodes end "
                                  "they differ from its by {:.2g} (rms), from {}'s by {:.2g}, and "
                                  "over all steps by {:.2g} and {:.2g}",
                                  other->name, name, other->at_ends.Rms(), name, at_ends_.Rms(),
                                  other->all.Rms(), same_.Rms()),
                      fmt::format("use --env {}", other->name));
    return;
  }
  if (same_.Rms() <= tolerance * scale) {
    report.AddFinding(
        Severity::kNote, "reward_agrees",
        fmt::format("rewards are {}'s{}: they differ by {:.2g} (rms)", name, from, same_.Rms()));
    return;
  }
  for (const auto& [shifted, which] : {std::pair(before_, "late"), std::pair(after_, "early")}) {
    if (shifted.count == 0 || shifted.Rms() > tolerance * scale) continue;
    if (shifted.Rms() > kShiftGain * same_.Rms()) continue;
    report.AddFinding(Severity::kError, "reward_shifted",
                      fmt::format("rewards come one step too {}: shifted they differ from {}'s by "
                                  "{:.2g} (rms), as they stand by {:.2g}",
                                  which, name, shifted.Rms(), same_.Rms()),
                      "reward t must be that of the step from observation t to t + 1");
    return;
  }
  report.AddFinding(Severity::kWarning, "reward_differs",
                    fmt::format("rewards differ from {}'s{} by {:.2g} (rms; their standard "
                                "deviation is {:.2g})",
                                name, from, same_.Rms(), report.reward.deviation),
                    "another environment or version, or rewards that were scaled or clipped");
}

void EnvAuditor::ReportTermination(AuditReport& report) const {
  if (false_terminals_ > 0) {
    report.AddFinding(Severity::kError, "false_terminal",
                      fmt::format("{} of {} terminated episodes end in a state that {} does not "
                                  "terminate in",
                                  false_terminals_, report.terminated, env_->spec().name),
                      "these are time limits: mark them as timeouts");
  }
  if (missed_terminals_ > 0) {
    report.AddFinding(Severity::kWarning, "missed_terminal",
                      fmt::format("{} steps lead to a state in which {} terminates, but are not "
                                  "marked as terminal",
                                  missed_terminals_, env_->spec().name),
                      "terminal flags are missing, or the log is from another version");
  }
  const auto limit = static_cast<double>(env_->spec().max_episode_steps);
  if (report.length_distribution.max > limit) {
    report.AddFinding(Severity::kWarning, "too_long",
                      fmt::format("episodes of up to {} steps, {} has at most {}",
                                  report.length_distribution.max, env_->spec().name, limit),
                      "episode boundaries are missing");
  }
}

void EnvAuditor::Finish(AuditReport& report) const {
  if (!misfit_.empty()) {
    report.AddFinding(Severity::kError, "wrong_environment", misfit_,
                      fitting_.empty() ? "name the environment that the log is from"
                                       : fmt::format("use --env {}", fitting_));
    return;
  }
  if (report.episodes == 0) return;
  if (outside_ > 0) {
    report.AddFinding(Severity::kWarning, "action_outside",
                      fmt::format("{} steps have an action outside {}'s bounds, first {}", outside_,
                                  env_->spec().name, first_outside_),
                      "log the executed (clipped) action");
  }
  ReportRewards(report);
  ReportTermination(report);
}

}  // namespace lfiw::experiments
