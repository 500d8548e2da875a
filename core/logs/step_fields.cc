#include "core/logs/step_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/quoted.h"

namespace lfiw::core {
namespace {

constexpr auto kFields = std::to_array<std::pair<std::string_view, StepField>>({
    {"episode", StepField::kEpisode},
    {"episode_id", StepField::kEpisode},
    {"episode_ids", StepField::kEpisode},
    {"trajectory_id", StepField::kEpisode},
    {"t", StepField::kTime},
    {"step", StepField::kTime},
    {"timestep", StepField::kTime},
    {"transition_number", StepField::kTime},
    {"obs", StepField::kObservation},
    {"observation", StepField::kObservation},
    {"action", StepField::kAction},
    {"reward", StepField::kReward},
    {"terminated", StepField::kTerminated},
    {"terminal", StepField::kTerminated},
    {"termination", StepField::kTerminated},
    {"terminals", StepField::kTerminated},
    {"terminations", StepField::kTerminated},
    {"truncated", StepField::kTruncated},
    {"timeout", StepField::kTruncated},
    {"truncation", StepField::kTruncated},
    {"timeouts", StepField::kTruncated},
    {"truncations", StepField::kTruncated},
    {"done", StepField::kDone},
    {"dones", StepField::kDone},
    {"next_obs", StepField::kNextObservation},
    {"next_observation", StepField::kNextObservation},
    {"behavior_probability", StepField::kProbability},
    {"behaviour_probability", StepField::kProbability},
    {"behavior_prob", StepField::kProbability},
    {"propensity", StepField::kProbability},
    {"propensity_score", StepField::kProbability},
    {"pscore", StepField::kProbability},
    {"action_prob", StepField::kProbability},
    {"action_probability", StepField::kProbability},
    {"probability", StepField::kProbability},
    {"prob", StepField::kProbability},
    {"all_action_probabilities", StepField::kProbabilityList},
    {"behavior_log_density", StepField::kLogDensity},
    {"behavior_log_prob", StepField::kLogDensity},
    {"behavior_log_probability", StepField::kLogDensity},
    {"action_log_prob", StepField::kLogDensity},
    {"action_logp", StepField::kLogDensity},
    {"log_prob", StepField::kLogDensity},
    {"log_probability", StepField::kLogDensity},
    {"logprob", StepField::kLogDensity},
    {"logp", StepField::kLogDensity},
    {"aux", StepField::kAux},
});

}  // namespace

std::string LowerCase(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

StepField FieldOf(std::string_view name) {
  const std::string lower = LowerCase(name);
  const auto found =
      std::ranges::find(kFields, lower, &std::pair<std::string_view, StepField>::first);
  return found == kFields.end() ? StepField::kUnknown : found->second;
}

std::string DoneProblem(std::string_view name) {
  return fmt::format(
      "'{}' says that an episode ended, but not whether the environment ended it or a time limit "
      "cut it; rename it to terminated or to truncated",
      Quoted(name));
}

}  // namespace lfiw::core
