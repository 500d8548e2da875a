#include "experiments/cli/experiment_kinds.h"

#include <algorithm>

#include "core/error.h"
#include "experiments/bench/bench.h"
#include "experiments/calibration/verdict_calibration.h"
#include "experiments/evaluation/run_evaluation.h"

namespace lfiw::experiments {
namespace {

Outcome RunEvaluationFile(const RunPlan& plan) {
  const EvaluationConfig config = LoadEvaluationConfig(plan.config, plan.overrides);
  CheckConfig(config);
  return RunIn(plan, config, [](const EvaluationConfig& checked, const ExperimentRun& run) {
    return RunEvaluation(checked, run);
  });
}

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
