#include "experiments/evaluation/run_context.h"

#include <algorithm>
#include <utility>

#include "core/run/sha256.h"
#include "policies/files/policy_file.h"

namespace lfiw::experiments {

StageWork StageContext::Work() const { return TerminalWork(verbosity, config.checkpoint_seconds); }

TaskKey TaskKeyOf(const StageContext& context) {
  const EnvSpec& spec = context.task.spec;
  return {.environment = spec.name,
          .reward = context.config.task.reward,
          .termination = context.config.task.termination,
          .action_low = {spec.action_low.begin(), spec.action_low.end()},
          .action_high = {spec.action_high.begin(), spec.action_high.end()}};
}

PolicySource LoadPolicySource(const std::string& path, const std::string& label) {
  return {path, Sha256HexOfFile(path), label, LoadPolicy(path)};
}

std::int64_t LongestEpisode(const EpisodeBatch& log) {
  std::int64_t longest = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) longest = std::max(longest, log.Length(e));
  return longest;
}

}  // namespace lfiw::experiments
