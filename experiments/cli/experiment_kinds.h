#ifndef LFIW_EXPERIMENTS_CLI_EXPERIMENT_KINDS_H_
#define LFIW_EXPERIMENTS_CLI_EXPERIMENT_KINDS_H_

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config/config.h"
#include "core/layers.h"
#include "core/run/cpu_shares.h"
#include "core/run/run_directory.h"
#include "core/run/stage_cache.h"
#include "core/run/system_info.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"
#include "experiments/presentation/stage_costs.h"
#include "experiments/presentation/stage_list.h"
#include "experiments/presentation/toolchain.h"

namespace lfiw::experiments {

// How one experiment is to be run.
struct RunPlan {
  std::string config;  // experiment file; empty: the defaults of its kind
  std::vector<std::string> overrides;
  std::string out;  // run directory; empty: outputs/NAME/HASH
  std::string cache;
  bool dry_run = false;    // only prints the resolved configuration
  bool stages = false;     // only lists the stages and what there is of them
  bool work_only = false;  // only makes the stages, and writes no results
  Verbosity verbosity = Verbosity::kNormal;
  std::optional<ExperimentKind> kind = {};  // what the file must be for; empty: anything
  std::string command;                      // that repeats the run, for its report
  // Is told the run's directory when the run has ended; may be empty.
  std::function<void(const std::string& directory)> ended = {};
};

// A kind of experiment file and what runs it, which returns what it has to say.
struct ExperimentRunner {
  ExperimentKind kind;
  std::function<Outcome(const RunPlan& plan)> run;
};

// Lists the stages that conduct(run) asks for, as far as they are made, and those that are expected
// beyond. Leaves nothing behind.
Outcome ListStages(const RunPlan& plan, std::span<const ExpectedStage> expected,
                   const std::function<void(const ExperimentRun& run)>& conduct);

// Makes the stages that conduct(run) asks for. Writes no results, which another process does.
Outcome MakeStages(const RunPlan& plan,
                   const std::function<void(const ExperimentRun& run)>& conduct);

// Runs experiment(config, run) in the plan's run directory and tells on standard error what its
// stages cost. Returns what it says, with its page; of a dry run the configuration alone, and of a
// list the stages, with those of outline(config).
template <class Config, class Experiment, class Outline>
Outcome RunIn(const RunPlan& plan, const Config& config, const Experiment& experiment,
              const Outline& outline) {
  const std::string folder =
      plan.out.empty() ? DefaultRunDirectory("outputs", config.name, CanonicalText(config))
                       : plan.out;
  if (plan.dry_run) {
    return {.text = DescribeConfig(config),
            .object = {{"configuration", DumpConfig(config)}, {"directory", folder}}};
  }
  if (plan.stages) {
    return ListStages(plan, outline(config),
                      [&](const ExperimentRun& run) { experiment(config, run); });
  }
  if (plan.work_only) {
    return MakeStages(plan, [&](const ExperimentRun& run) { experiment(config, run); });
  }
  RunDirectory directory(folder);
  directory.Write("config.yaml", DumpConfig(config));
  StageCache cache(plan.cache, CurrentToolchain());
  Outcome outcome =
      experiment(config, ExperimentRun{cache, directory, plan.verbosity, plan.command});
  if (plan.ended) plan.ended(directory.path());
  if (plan.verbosity != Verbosity::kQuiet) {
    fmt::print(stderr, "\n{}\n",
               StageCostTable(cache.records(), {ProcessCpuSeconds(), PeakMemoryBytes()}));
  }
  const std::string page = directory.File("report.html");
  outcome.text += fmt::format("report: {}\n", page);
  outcome.object["directory"] = directory.path();
  outcome.object["report"] = page;
  return outcome;
}

// The same where a configuration does not tell its stages.
template <class Config, class Experiment>
Outcome RunIn(const RunPlan& plan, const Config& config, const Experiment& experiment) {
  return RunIn(plan, config, experiment,
               [](const Config& /*config*/) { return std::vector<ExpectedStage>(); });
}

// Makes the runner of a kind whose file is a Config, with the defaults of its preset where it has
// one (Config::DefaultsOf).
template <class Config, class Experiment>
ExperimentRunner RunnerOf(ExperimentKind kind, Experiment experiment) {
  return {kind, [experiment](const RunPlan& plan) {
            if constexpr (requires(Config config) { Config::DefaultsOf(config.preset); }) {
              return RunIn(plan, LoadWithPreset<Config>(plan.config, plan.overrides), experiment);
            } else {
              return RunIn(plan, LoadConfig<Config>(plan.config, plan.overrides), experiment);
            }
          }};
}

// Lists the kinds on images; none where the program was built without them.
std::vector<ExperimentRunner> ImageExperiments();

// Runs the experiment of the kind that its file names. Throws ConfigError for wrong input, and for
// a kind that the program was built without.
Outcome RunExperiment(const RunPlan& plan);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_EXPERIMENT_KINDS_H_
