#include "experiments/cli/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "core/run/run_directory.h"
#include "core/run/stage_cache.h"
#include "envs/env_registry.h"
#include "experiments/cli/commands.h"
#include "experiments/evaluation/run_evaluation.h"
#include "experiments/evaluation/sources.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

bool IsPolicyFile(const fs::path& path) {
  static constexpr std::array kExtensions = {".npz", ".pt", ".pkl", ".hdf5", ".h5"};
  return std::find(kExtensions.begin(), kExtensions.end(), path.extension()) != kExtensions.end();
}

// Files as given; of a folder, its policy files by name.
std::vector<std::string> PolicyFiles(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file() && IsPolicyFile(entry.path())) inside.push_back(entry.path());
    }
    if (inside.empty()) {
      Throw<PolicyError>("{}: no policy files (.npz, .pt, .pkl) in this folder", path);
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

// The environment that the user or the log names, if it is known here.
std::string EnvironmentOf(const EvaluateCommand& command, const LogSource& log) {
  if (!command.env.empty()) return command.env;
  if (log.environment.empty()) return kNoEnvironment;
  try {
    return FindEnv(log.environment)->spec().name;
  } catch (const ConfigError&) {
    return kNoEnvironment;
  }
}

EvaluationConfig DefaultsFor(const EvaluateCommand& command, const LogSource& log, Preset preset) {
  EvaluationConfig config = DefaultsOf(preset);
  config.name = "evaluate_" + fs::path(command.data).stem().string();
  config.environment = EnvironmentOf(command, log);
  config.log.file = command.data;
  config.log.map = command.map;
  config.policies.pair = PolicyPair::kFiles;
  config.policies.behavior_file = command.behavior;
  config.policies.evaluation_files = PolicyFiles(command.policies);
  config.value.horizon = command.horizon > 0 ? command.horizon : LongestEpisode(log.log);
  config.estimators.horizons = {};
  config.truth.enabled = false;
  const bool known = config.environment != kNoEnvironment;
  config.task.reward = known ? RewardFunction::kEnvironment : RewardFunction::kLearned;
  config.task.termination = known ? TerminationSource::kEnvironment : TerminationSource::kLearned;
  return config;
}

// What `--reward` sets.
std::vector<std::string> RewardOverrides(const std::string& reward) {
  if (reward.empty()) return {};
  if (reward == EnumName(RewardFunction::kEnvironment) ||
      reward == EnumName(RewardFunction::kLearned)) {
    return {"task.reward=" + reward};
  }
  if (!fs::is_regular_file(reward)) {
    Throw<ConfigError>(
        "--reward {}: is no file, expected environment, learned or the file of a "
        "TorchScript module",
        reward);
  }
  return {"task.reward=torchscript", "task.reward_file=" + reward};
}

// The command line that repeats this.
std::string CommandText(const EvaluateCommand& command) {
  std::string text = "lfiw evaluate --data " + command.data;
  for (const std::string& policy : command.policies) text += " --policy " + policy;
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", name, value);
  };
  add("--env", command.env);
  add("--behavior", command.behavior);
  add("--reward", command.reward);
  add("--map", command.map);
  if (command.horizon > 0) text += fmt::format(" --horizon {}", command.horizon);
  for (const std::string& override : command.overrides) text += " " + override;
  return text;
}

}  // namespace

int Evaluate(const EvaluateCommand& command, Verbosity verbosity) {
  if (!command.dry_run) WarnIfSlow();
  LogOptions options;
  options.file = command.data;
  options.map = command.map;
  LogSource log = ReadLogFile(options, command.env, 0);
  std::vector<std::string> overrides = command.overrides;
  const std::vector<std::string> reward = RewardOverrides(command.reward);
  overrides.insert(overrides.begin(), reward.begin(), reward.end());
  const auto config =
      LoadConfig<EvaluationConfig>("", overrides, [&](const EvaluationConfig& read) {
        const bool chosen = std::ranges::any_of(
            overrides, [](const std::string& text) { return text.starts_with("preset="); });
        return DefaultsFor(command, log, chosen ? read.preset : Preset::kRobust);
      });
  CheckConfig(config);
  if (command.dry_run) {
    fmt::print("{}", DescribeConfig(config));
    return 0;
  }
  RunDirectory directory(command.out.empty()
                             ? DefaultRunDirectory("outputs", config.name, CanonicalText(config))
                             : command.out);
  directory.Write("config.yaml", DumpConfig(config));
  StageCache cache(command.cache);
  return RunEvaluation(config, {cache, directory, verbosity, CommandText(command)}, std::move(log));
}

}  // namespace lfiw::experiments
