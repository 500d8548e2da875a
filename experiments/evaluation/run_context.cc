#include "experiments/evaluation/run_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
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

std::string FindingText(const Finding& finding) {
  return finding.cure.empty() ? finding.text : fmt::format("{} ({})", finding.text, finding.cure);
}

std::string FindingsText(const std::vector<Finding>& findings, Severity severity) {
  std::string text;
  for (const Finding& finding : findings) {
    if (finding.severity != severity) continue;
    if (!text.empty()) text += "; ";
    text += FindingText(finding);
  }
  return text;
}

std::int64_t SupportedSteps(const EpisodeBatch& log) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t e = 0; e < log.episodes(); ++e) lengths.push_back(log.Length(e));
  if (lengths.empty()) return 0;
  std::ranges::sort(lengths, std::ranges::greater());
  const auto share =
      static_cast<std::size_t>(std::ceil(kSupportedShare * static_cast<double>(lengths.size())));
  return lengths[std::min(std::max<std::size_t>(share, 2), lengths.size()) - 1];
}

std::int64_t LongestEpisode(const EpisodeBatch& log) {
  std::int64_t longest = 0;
  for (std::int64_t e = 0; e < log.episodes(); ++e) longest = std::max(longest, log.Length(e));
  return longest;
}

}  // namespace lfiw::experiments
