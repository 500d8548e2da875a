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

std::string TextOf(const Entries& entries) {
  std::size_t width = 0;
  for (const auto& [name, summary] : entries) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, summary] : entries) {
    text += fmt::format("{:<{}}  {}\n", name, width, summary);
  }
  return text;
}

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
           "what `lfiw evaluate` uses: minutes on two cores, a model calibrated by the log"}};
}

}  // namespace

std::string ListingText(Listing listing) {
  switch (listing) {
    case Listing::kEnvironments:
      return TextOf(Environments());
    case Listing::kEstimators:
      return TextOf(Estimators());
    case Listing::kSystems:
      return TextOf(Systems());
    case Listing::kPresets:
      break;
  }
  return TextOf(Presets());
}

int List(Listing listing) {
  fmt::print("{}", ListingText(listing));
  return 0;
}

}  // namespace lfiw::experiments
