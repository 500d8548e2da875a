#include "experiments/cli/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/run/sha256.h"
#include "envs/env_registry.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/experiment_kinds.h"
#include "experiments/cli/slurm_launcher.h"
#include "experiments/evaluation/run_evaluation.h"
#include "experiments/evaluation/sources.h"
#include "experiments/evaluation/stage_outline.h"
#include "policies/programs/program_policy.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

bool IsPolicyFile(const fs::path& path) {
  static constexpr std::array kExtensions = {".npz",  ".pt", ".pkl",         ".zip",
                                             ".hdf5", ".h5", ".safetensors", ".cleanrl_model"};
  // the statistics of an agent beside it are no policy
  if (path.filename().string().ends_with("normalize.pkl")) return false;
  return std::find(kExtensions.begin(), kExtensions.end(), path.extension()) != kExtensions.end();
}

// Files and programs as given; of a folder, its policy files by name.
std::vector<std::string> PolicyFiles(const std::vector<std::string>& given) {
  std::vector<std::string> files;
  for (const std::string& path : given) {
    if (IsProgramPolicy(path) || !fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.is_regular_file() && IsPolicyFile(entry.path())) inside.push_back(entry.path());
    }
    if (inside.empty()) {
      Throw<PolicyError>("{}: no policy files (.npz, .pt, .pkl, .zip) in this folder", path);
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

bool Sets(const std::vector<std::string>& overrides, std::string_view field) {
  return std::ranges::any_of(overrides, [&](std::string_view text) {
    return text.starts_with(field) && text.substr(field.size()).starts_with('=');
  });
}

// Finds the environment that the user or the log names, if it is known here. `map` tells the arrays
// of a log of no known layout apart.
std::string EnvironmentOf(const EvaluateCommand& command, const std::string& map) {
  if (!command.env.empty()) return command.env;
  const std::string named = OpenLog(command.data, {.map = map})->info().environment;
  if (named.empty()) return kNoEnvironment;
  try {
    const std::string name = FindEnv(named)->spec().name;
    // a log that states the version which is meant without one has said all that there is to say
    const bool stated = VersionNote(named).empty() && !VersionNote(name).empty();
    return stated ? named : name;
  } catch (const ConfigError&) {
    return kNoEnvironment;
  }
}

// Returns what a command line means where its overrides say nothing: all but the horizon, which
// stays 0 where only the log can tell it. `read` holds the overrides over plain defaults.
EvaluationConfig DefaultsFor(const EvaluateCommand& command,
                             const std::vector<std::string>& overrides,
                             const EvaluationConfig& read) {
  EvaluationConfig config = DefaultsOf(Sets(overrides, "preset") ? read.preset : Preset::kRobust);
  // a directory may be given with a slash behind it
  const fs::path data = fs::path(command.data).lexically_normal();
  const fs::path last = data.has_filename() ? data : data.parent_path();
  config.name = "evaluate_" + last.stem().string();
  const std::string& map = Sets(overrides, "log.map") ? read.log.map : command.map;
  config.environment =
      Sets(overrides, "environment") ? read.environment : EnvironmentOf(command, map);
  config.log.file = command.data;
  config.log.map = command.map;
  config.policies.pair = PolicyPair::kFiles;
  config.policies.behavior_file = command.behavior;
  config.policies.evaluation_files = PolicyFiles(command.policies);
  config.policies.mean = command.mean;
  config.value.horizon = command.horizon;
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

// The verb and its arguments without those that say where it works.
std::string VerbText(const EvaluateCommand& command) {
  std::string text = fmt::format("evaluate --data {}", ShellWord(command.data));
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", name, ShellWord(value));
  };
  for (const std::string& policy : command.policies) add("--policy", policy);
  add("--env", command.env);
  add("--behavior", command.behavior);
  add("--reward", command.reward);
  add("--map", command.map);
  if (command.horizon > 0) text += fmt::format(" --horizon {}", command.horizon);
  if (command.mean) text += " --mean";
  for (const std::string& override : command.overrides)
    text += fmt::format(" {}", ShellWord(override));
  return text;
}

// The command line that repeats this.
std::string CommandText(const EvaluateCommand& command) {
  return fmt::format("lfiw {}", VerbText(command));
}

// Workers that share the evaluation.
Outcome LaunchEvaluation(const EvaluateCommand& command, const CommonOptions& common) {
  EvaluateCommand resolving = command;
  resolving.launcher = {};
  resolving.dry_run = true;
  const Outcome resolved = Evaluate(resolving, common);
  const std::string folder = resolved.object.at("directory").get<std::string>();
  SlurmLaunch launch;
  launch.folder = folder;
  launch.name = fs::path(folder).parent_path().filename().string();
  launch.collect =
      fmt::format("{} {} --out {} --cache {}{}", ProgramWords(command.launcher), VerbText(command),
                  ShellWord(folder), ShellWord(command.cache), ThreadsWords(common));
  launch.collected = folder + "/report.html";
  launch.tasks.assign(static_cast<std::size_t>(command.launcher.workers),
                      {launch.collect + " --work-only", folder,
                       Sha256Hex(resolved.object.at("configuration").get<std::string>())});
  return Launch({launch, command.launcher, command.dry_run});
}

}  // namespace

Outcome Evaluate(const EvaluateCommand& command, const CommonOptions& common) {
  if (command.launcher.is_on()) return LaunchEvaluation(command, common);
  if (!command.dry_run && !command.stages) WarnIfSlow();
  std::vector<std::string> overrides = command.overrides;
  const std::vector<std::string> reward = RewardOverrides(command.reward);
  overrides.insert(overrides.begin(), reward.begin(), reward.end());
  auto config = LoadConfig<EvaluationConfig>("", overrides, [&](const EvaluationConfig& read) {
    return DefaultsFor(command, overrides, read);
  });
  // read as the configuration says, so that running its config.yaml again reads the same
  LogSource log = ReadLogFile(config.log, config.EnvironmentName(), config.seed);
  if (config.value.horizon == 0) {
    config.value.horizon = SupportedSteps(log.log);
    log.horizon_rule =
        fmt::format("the horizon is {} steps, the most that at least {:g} % of the episodes take{}",
                    config.value.horizon, 100.0 * kSupportedShare,
                    config.value.horizon < LongestEpisode(log.log)
                        ? fmt::format(" (the longest takes {})", LongestEpisode(log.log))
                        : "");
    log.notes.push_back(log.horizon_rule);
  }
  CheckConfig(config);
  return RunIn(
      {.config = "",
       .overrides = command.overrides,
       .out = command.out,
       .cache = command.cache,
       .dry_run = command.dry_run,
       .stages = command.stages,
       .work_only = command.work_only,
       .verbosity = common.verbosity,
       .command = CommandText(command)},
      config,
      [&](const EvaluationConfig& checked, const ExperimentRun& run) {
        return RunEvaluation(checked, run, std::move(log));
      },
      OutlineOf);
}

}  // namespace lfiw::experiments
