#include "experiments/calibration/verdict_calibration.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/run/shared_loop.h"
#include "core/run/system_info.h"
#include "experiments/calibration/verdict_case_run.h"
#include "experiments/calibration/verdict_cases.h"
#include "experiments/calibration/verdict_table.h"
#include "experiments/presentation/plot.h"
#include "experiments/presentation/run_outputs.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

struct CaseLabel {
  CaseKind kind;
  PlantedFailure plant;
};

// Labels the case at `index`: failures of all kinds in turn, of each kind its plants in turn; then
// the good cases, then the doubtful ones.
CaseLabel LabelOf(const VerdictCalibrationConfig& config, std::int64_t index) {
  static constexpr std::array kSupport = {PlantedFailure::kConstantGap, PlantedFailure::kStateGap};
  static constexpr std::array kDynamics = {
      PlantedFailure::kOtherSystem, PlantedFailure::kRescaledState, PlantedFailure::kFewSteps};
  static constexpr std::array kHorizon = {PlantedFailure::kDegenerateWeights,
                                          PlantedFailure::kBeyondLog};
  static constexpr std::array kFlaws = {PlantedFailure::kShortFit, PlantedFailure::kMildGap,
                                        PlantedFailure::kLongMixing};
  const auto turn = [](const auto& plants, std::int64_t i) {
    return plants[static_cast<std::size_t>(i) % plants.size()];
  };
  if (index >= config.failures + config.good) return {CaseKind::kDoubtful, turn(kFlaws, index)};
  if (index >= config.failures) return {CaseKind::kGood, PlantedFailure::kNone};
  switch (index % 3) {
    case 0:
      return {CaseKind::kSupportGap, turn(kSupport, index / 3)};
    case 1:
      return {CaseKind::kWrongDynamics, turn(kDynamics, index / 3)};
    default:
      return {CaseKind::kLongHorizon, turn(kHorizon, index / 3)};
  }
}

constexpr const char* kRolloutsFile = "outcome.json";
constexpr const char* kDoublyRobustFile = "doubly_robust.json";

// The cases as judged by each kind of row.
struct JudgedRows {
  std::vector<JudgedCase> rollouts;
  std::vector<JudgedCase> doubly_robust;  // empty where it is not enabled
};

JudgedRows RunCases(const VerdictCalibrationConfig& config, const ExperimentRun& run) {
  const std::int64_t count = config.failures + config.good + config.doubtful;
  JudgedRows rows;
  rows.rollouts.resize(static_cast<std::size_t>(count));
  if (config.doubly_robust.enabled) rows.doubly_robust.resize(rows.rollouts.size());
  TerminalProgress progress("evaluate known systems", count, "cases", run.verbosity);
  ShareTasks(run.cache, count, [&](std::int64_t i) {
    const CaseLabel label = LabelOf(config, i);
    const VerdictCase drawn =
        DrawCase(label.kind, label.plant, config.seed, static_cast<std::uint64_t>(i));
    const auto judged = [&](const CaseOutcome& outcome) {
      return JudgedCase{.index = i,
                        .drawn = drawn,
                        .outcome = outcome,
                        .judgement = Judge(outcome.evidence, config.verdict)};
    };
    const CaseOutcomes outcomes = VerdictCaseStage::Read(run.cache.Run<VerdictCaseStage>(
        {label.kind, label.plant, i, config, config.seed}, {}, run.Work()));
    const auto at = static_cast<std::size_t>(i);
    rows.rollouts[at] = judged(outcomes.rollouts);
    if (config.doubly_robust.enabled)
      rows.doubly_robust[at] = judged(outcomes.doubly_robust.value());
    progress.Advance(1);
  });
  return rows;
}

// Counts the verdicts of a run and draws its errors, those of the estimates from rollouts first.
std::vector<CalibrationTable> TablesOf(const VerdictCalibrationConfig& config,
                                       const ExperimentRun& run, const JudgedRows& rows) {
  std::vector<CalibrationTable> tables = {
      {.title =
           rows.doubly_robust.empty() ? "the estimate stated first" : "the estimate from rollouts",
       .counts = CountVerdicts(rows.rollouts, config.wrong_share),
       .svg = DrawPlot(run, "errors", ErrorPlot(rows.rollouts, config.wrong_share)),
       .has_goals = true}};
  if (!rows.doubly_robust.empty()) {
    tables.push_back({.title = "doubly robust LFIW, which is stated first",
                      .counts = CountVerdicts(rows.doubly_robust, config.wrong_share),
                      .svg = DrawPlot(run, "errors_dr_lfiw",
                                      ErrorPlot(rows.doubly_robust, config.wrong_share))});
  }
  return tables;
}

void WriteRun(const VerdictCalibrationConfig& config, const ExperimentRun& run,
              const JudgedRows& rows, const std::vector<CalibrationTable>& tables) {
  std::vector<JudgedCase> cases = rows.rollouts;
  cases.insert(cases.end(), rows.doubly_robust.begin(), rows.doubly_robust.end());
  run.directory.Write("results.csv", CasesCsv(cases, config.wrong_share));
  run.directory.Write("summary.csv", SummaryCsv(tables));
  run.directory.Write("report.html", CalibrationPage(tables, run.command, config.wrong_share));
  run.directory.WriteManifest(ManifestOf(run, config.seed), QuerySystem());
}

}  // namespace

void VerdictCaseStage::Make(const Key& key, const Inputs& /*inputs*/, const StageWork& work) {
  const auto number = static_cast<std::uint64_t>(key.index);
  const std::uint64_t seed = Stream(key.seed, "verdict case seed", {number}).NextBits();
  const VerdictCase drawn = DrawCase(key.kind, key.plant, key.seed, number);
  const CaseOutcomes outcomes = RunVerdictCase(key.options, drawn, seed, work.Checkpoints());
  WriteJson(OutcomeJson(outcomes.rollouts), work.File(kRolloutsFile));
  if (outcomes.doubly_robust) {
    WriteJson(OutcomeJson(*outcomes.doubly_robust), work.File(kDoublyRobustFile));
  }
}

CaseOutcomes VerdictCaseStage::Read(const Artifact& artifact) {
  const auto read = [&](const char* name) {
    return OutcomeFromJson(ReadJson(artifact.File(name)));
  };
  CaseOutcomes outcomes{.rollouts = read(kRolloutsFile), .doubly_robust = {}};
  if (std::filesystem::exists(artifact.File(kDoublyRobustFile))) {
    outcomes.doubly_robust = read(kDoublyRobustFile);
  }
  return outcomes;
}

Outcome RunVerdictCalibration(const VerdictCalibrationConfig& config, const ExperimentRun& run) {
  if (config.cross_fit == 1 || config.cross_fit > config.dynamics.members) {
    Throw<ConfigError>("cross_fit: {} folds need 2 .. dynamics.members = {}", config.cross_fit,
                       config.dynamics.members);
  }
  const JudgedRows rows = RunCases(config, run);
  run.cache.EndOfStages();
  const std::vector<CalibrationTable> tables = TablesOf(config, run, rows);
  WriteRun(config, run, rows, tables);
  Outcome outcome;
  for (const CalibrationTable& table : tables) outcome.text += CalibrationText(table) + "\n";
  outcome.object["results"] = JsonOfCsv(SummaryCsv(tables));
  return outcome;
}

}  // namespace lfiw::experiments
