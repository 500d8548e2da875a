// `lfiw run` and `lfiw bench`, here or on a cluster: Run of commands.h.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/run/atomic_file.h"
#include "core/run/shared_loop.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/experiment_kinds.h"
#include "experiments/cli/slurm_launcher.h"
#include "experiments/cli/sweep.h"
#include "experiments/cli/sweep_summary.h"

namespace lfiw::experiments {
namespace {

// The command that repeats a run, for its report.
std::string CommandOf(const RunOptions& options, const std::vector<std::string>& overrides) {
  std::string command = "lfiw run " + options.config;
  for (const std::string& override : overrides) command += " " + override;
  return command;
}

RunPlan PlanOf(const RunOptions& options, const SweepRun& run, Verbosity verbosity) {
  return {.config = options.config,
          .overrides = run.overrides,
          .out = run.out,
          .cache = options.cache,
          .dry_run = options.dry_run,
          .stages = options.stages,
          .work_only = options.work_only,
          .verbosity = verbosity,
          .kind = options.kind,
          .command = CommandOf(options, run.overrides)};
}

std::string TitleOf(const SweepRun& run) {
  return fmt::format("{}", fmt::join(run.overrides, " "));
}

Outcome RunSweep(const RunOptions& options, const CommonOptions& common) {
  const std::vector<SweepRun> runs = RunsOf(options);
  std::vector<std::vector<SweptRun>> swept(runs.size());
  std::vector<Outcome> outcomes(runs.size());
  ShareInTurn(std::ssize(runs), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    const SweepRun& run = runs[index];
    if (common.form == OutputForm::kText) {
      fmt::print("== run {} of {}: {}\n", i + 1, runs.size(), TitleOf(run));
    }
    RunPlan plan = PlanOf(options, run, common.verbosity);
    plan.ended = [&](const std::string& directory) {
      swept[index] = ReadSweptRun(TitleOf(run), directory);
    };
    outcomes[index] = RunExperiment(plan);
    if (common.form == OutputForm::kText) Show(outcomes[index], common.form);
  });

  Outcome sweep;
  sweep.object["runs"] = nlohmann::ordered_json::array();
  std::vector<SweptRun> rows;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    sweep.status = std::max(sweep.status, outcomes[i].status);
    outcomes[i].object["overrides"] = runs[i].overrides;
    sweep.object["runs"].push_back(std::move(outcomes[i].object));
    std::ranges::move(swept[i], std::back_inserter(rows));
  }
  if (rows.empty()) return sweep;
  sweep.text = fmt::format("\n{}", SweepText(rows));
  if (!options.out.empty()) {
    WriteFileAtomically(options.out + "/sweep.csv", SweepCsv(rows));
    sweep.text += fmt::format("table: {}/sweep.csv\n", options.out);
  }
  return sweep;
}

}  // namespace

Outcome Run(const RunOptions& options, const CommonOptions& common) {
  if (options.launcher.is_on()) return LaunchRuns(options, common);
  if (!options.dry_run && !options.stages) WarnIfSlow();
  if (options.multirun) return RunSweep(options, common);
  return RunExperiment(PlanOf(options, {options.overrides, options.out}, common.verbosity));
}

}  // namespace lfiw::experiments
