#include "experiments/cli/list_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "envs/env_registry.h"
#include "envs/tabular_systems.h"
#include "experiments/evaluation/evaluation_config.h"
#include "ope/estimator.h"

namespace lfiw::experiments {
namespace {

// Names with what they are.
using Entries = std::vector<std::pair<std::string, std::string>>;

Entries Environments() {
  Entries entries;
  for (const EnvSummary& env : SummarizeEnvs()) {
    std::string summary = fmt::format("{} observations, {} actions", env.obs_dim, env.action_dim);
    if (!env.versions.empty()) summary += fmt::format("; version {}", env.versions);
    if (!env.options.empty()) summary += fmt::format("; {}", fmt::join(env.options, ", "));
    entries.emplace_back(env.name, summary);
  }
  return entries;
}

Entries Estimators() {
  const EstimatorRegistry registry = StandardEstimators();
  Entries entries;
  for (const Estimator& estimator : registry.all()) {
    entries.emplace_back(estimator.name, estimator.summary);
  }
  return entries;
}

Entries Systems() {
  Entries entries;
  for (const std::string& name : TabularProblemNames()) {
    entries.emplace_back(name, FindTabularProblem(name).summary);
  }
  return entries;
}

Entries Presets() {
  return {{std::string(EnumName(Preset::kPaper)), "the paper's choices and its estimators"},
          {std::string(EnumName(Preset::kRobust)),
           "what `lfiw evaluate` uses: minutes on two cores, a model calibrated by the log"},
          {std::string(EnumName(Preset::kQuick)),
           "the same with smaller models and fewer of them: a fifth of the time, wider intervals"}};
}

Entries EntriesOf(Listing listing) {
  switch (listing) {
    case Listing::kEnvironments:
      return Environments();
    case Listing::kEstimators:
      return Estimators();
    case Listing::kSystems:
      return Systems();
    case Listing::kPresets:
      break;
  }
  return Presets();
}

}  // namespace

Outcome List(Listing listing) {
  const Entries entries = EntriesOf(listing);
  std::size_t width = 0;
  for (const auto& [name, summary] : entries) width = std::max(width, name.size());
  Outcome outcome;
  outcome.object["entries"] = nlohmann::ordered_json::array();
  for (const auto& [name, summary] : entries) {
    outcome.text += fmt::format("{:<{}}  {}\n", name, width, summary);
    outcome.object["entries"].push_back({{"name", name}, {"summary", summary}});
  }
  return outcome;
}

}  // namespace lfiw::experiments
