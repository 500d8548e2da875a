#include "experiments/cli/experiment_kinds.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/run/attempt.h"
#include "experiments/bench/bench.h"
#include "experiments/calibration/verdict_calibration.h"
#include "experiments/evaluation/run_evaluation.h"
#include "experiments/evaluation/stage_outline.h"

namespace lfiw::experiments {
namespace {

Outcome RunEvaluationFile(const RunPlan& plan) {
  const EvaluationConfig config = LoadEvaluationConfig(plan.config, plan.overrides);
  CheckConfig(config);
  return RunIn(
      plan, config,
      [](const EvaluationConfig& checked, const ExperimentRun& run) {
        return RunEvaluation(checked, run);
      },
      OutlineOf);
}

// A folder for what a run would write while its stages are only listed.
class ScratchFolder {
 public:
  ScratchFolder()
      : path_((std::filesystem::temp_directory_path() / "lfiw-stages-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) {
      Throw<DataError>("cannot make a folder {}", path_);
    }
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Lists all kinds that the program was built with.
std::vector<ExperimentRunner> AllExperiments() {
  std::vector<ExperimentRunner> all = ImageExperiments();
  all.push_back({ExperimentKind::kEvaluation, RunEvaluationFile});
  all.push_back(RunnerOf<BenchConfig>(
      ExperimentKind::kBench,
      [](const BenchConfig& config, const ExperimentRun& run) { return RunBench(config, run); }));
  all.push_back(RunnerOf<VerdictCalibrationConfig>(ExperimentKind::kVerdictCalibration,
                                                   RunVerdictCalibration));
  return all;
}

}  // namespace

Outcome ListStages(const RunPlan& plan, std::span<const ExpectedStage> expected,
                   const std::function<void(const ExperimentRun& run)>& conduct) {
  const ScratchFolder scratch;
  RunDirectory directory(scratch.path());
  StageCache cache(plan.cache, CurrentToolchain(), CacheUse::kList);
  try {
    conduct({cache, directory, Verbosity::kQuiet, plan.command});
  } catch (const StageHeld&) {
    // the first stage from which nothing further can be told
  }
  const std::vector<StageState> stages = WithExpected(cache.states(), expected);
  std::string text = StageListText(stages);
  if (expected.empty()) text += "stages that follow from those to do are not known yet\n";
  return {.text = std::move(text), .object = {{"stages", StageListJson(stages)}}};
}

Outcome MakeStages(const RunPlan& plan,
                   const std::function<void(const ExperimentRun& run)>& conduct) {
  const ScratchFolder scratch;
  RunDirectory directory(scratch.path());
  StageCache cache(plan.cache, CurrentToolchain(), CacheUse::kWorkOnly);
  try {
    conduct({cache, directory, plan.verbosity, plan.command});
  } catch (const StagesDone&) {
    // tables and pages are another process's
  }
  if (plan.verbosity != Verbosity::kQuiet) {
    fmt::print(stderr, "\n{}\n",
               StageCostTable(cache.records(), {ProcessCpuSeconds(), PeakMemoryBytes()}));
  }
  return {.text = "all stages are made; the same command without --work-only writes the results\n",
          .object = {{"stages_done", true}}};
}

Outcome RunExperiment(const RunPlan& plan) {
  const ExperimentKind kind = ReadExperimentKind(plan.config, plan.overrides);
  if (plan.kind && *plan.kind != kind) {
    Throw<ConfigError>("{}: is for experiment: {}, not {}; `lfiw run` runs files of every kind",
                       plan.config, EnumName(kind), EnumName(*plan.kind));
  }
  const std::vector<ExperimentRunner> all = AllExperiments();
  const auto runner = std::ranges::find(all, kind, &ExperimentRunner::kind);
  if (runner == all.end()) {
    Throw<ConfigError>(
        "{}: experiment: {} is on images, and this program was built without them (configure with "
        "-DLFIW_IMAGES=ON)",
        plan.config, EnumName(kind));
  }
  return runner->run(plan);
}

}  // namespace lfiw::experiments
