#include "experiments/verdict_calibration.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/system_info.h"
#include "experiments/plot.h"
#include "experiments/run_outputs.h"
#include "experiments/stage_files.h"
#include "experiments/verdict_case_run.h"
#include "experiments/verdict_cases.h"
#include "experiments/verdict_table.h"

namespace lfiw {
namespace {

struct Label {
  CaseKind kind;
  Plant plant;
};

// Failures of all kinds in turn, of each kind its plants in turn; then the good cases, then the
// doubtful ones.
Label LabelOf(const VerdictCalibrationConfig& config, std::int64_t index) {
  static constexpr std::array kSupport = {Plant::kConstantGap, Plant::kStateGap};
  static constexpr std::array kDynamics = {Plant::kOtherSystem, Plant::kRescaledState,
                                           Plant::kFewSteps};
  static constexpr std::array kHorizon = {Plant::kDegenerateWeights, Plant::kBeyondLog};
  static constexpr std::array kFlaws = {Plant::kShortFit, Plant::kMildGap, Plant::kLongMixing};
  const auto turn = [](const auto& plants, std::int64_t i) {
    return plants[static_cast<std::size_t>(i) % plants.size()];
  };
  if (index >= config.failures + config.good) return {CaseKind::kDoubtful, turn(kFlaws, index)};
  if (index >= config.failures) return {CaseKind::kGood, Plant::kNone};
  switch (index % 3) {
    case 0:
      return {CaseKind::kSupportGap, turn(kSupport, index / 3)};
    case 1:
      return {CaseKind::kWrongDynamics, turn(kDynamics, index / 3)};
    default:
      return {CaseKind::kLongHorizon, turn(kHorizon, index / 3)};
  }
}

// All that an outcome depends on; the limits of the verdict are not part of it.
std::string OutcomeKey(const VerdictCalibrationConfig& config, const VerdictCase& c) {
  return fmt::format("episodes={} level={} {} {} {}{}{}{}", config.episodes, config.level,
                     EnumName(c.kind), EnumName(c.plant), CanonicalText(config.dynamics),
                     CanonicalText(config.classifiers), CanonicalText(config.rollout),
                     CanonicalText(config.support));
}

JudgedCase RunCase(const VerdictCalibrationConfig& config, const ExperimentRun& run,
                   std::int64_t index) {
  const Label label = LabelOf(config, index);
  const auto number = static_cast<std::uint64_t>(index);
  JudgedCase judged{.index = index,
                    .drawn = DrawCase(label.kind, label.plant, config.seed, number)};
  const std::uint64_t seed = Stream(config.seed, "verdict case seed", {number}).NextBits();
  const Stage stage{.name = "verdict_case",
                    .config = OutcomeKey(config, judged.drawn) + fmt::format(" case={}", index),
                    .inputs = {},
                    .seed = config.seed};
  const Artefact artefact = run.cache.Run(stage, [&](const std::string& directory) {
    const CaseOutcome outcome =
        RunVerdictCase(config, judged.drawn, seed, CheckpointFolder(directory));
    WriteJson(OutcomeJson(outcome), directory + "/outcome.json");
  });
  judged.outcome = OutcomeFromJson(ReadJson(artefact.File("outcome.json")));
  judged.judgement = Judge(judged.outcome.evidence, config.verdict);
  return judged;
}

std::vector<JudgedCase> RunCases(const VerdictCalibrationConfig& config, const ExperimentRun& run) {
  const std::int64_t count = config.failures + config.good + config.doubtful;
  std::vector<JudgedCase> cases(static_cast<std::size_t>(count));
  TerminalProgress progress("evaluate known systems", count, "cases", run.verbosity);
  ParallelFor(count, [&](std::int64_t i) {
    cases[static_cast<std::size_t>(i)] = RunCase(config, run, i);
    progress.Advance(1);
  });
  return cases;
}

void WriteRun(const VerdictCalibrationConfig& config, const ExperimentRun& run,
              const std::vector<JudgedCase>& cases, const std::vector<VerdictCount>& counts) {
  run.directory.Write("results.csv", CasesCsv(cases, config.wrong_share));
  const std::string svg = DrawPlot(run, "errors", ErrorPlot(cases));
  run.directory.Write("report.html", CalibrationPage(counts, svg, run.command, config.wrong_share));
  run.directory.WriteManifest(ManifestOf(run, config.seed), QuerySystem());
}

}  // namespace

int RunVerdictCalibration(const VerdictCalibrationConfig& config, const ExperimentRun& run) {
  const std::vector<JudgedCase> cases = RunCases(config, run);
  const std::vector<VerdictCount> counts = CountVerdicts(cases, config.wrong_share);
  WriteRun(config, run, cases, counts);
  if (run.verbosity != Verbosity::kQuiet) {
    fmt::print("{}report: {}\n", CountText(counts), run.directory.File("report.html"));
  }
  return 0;
}

}  // namespace lfiw
