#include "experiments/omniglot/omniglot.h"

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/images/png.h"
#include "core/run/sha256.h"
#include "core/run/shared_loop.h"
#include "core/run/system_info.h"
#include "experiments/image_gof/gof_report.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/omniglot/drawings.h"
#include "experiments/omniglot/generated_drawings.h"
#include "experiments/omniglot/omniglot_page.h"
#include "experiments/presentation/event_file.h"
#include "experiments/presentation/run_outputs.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kRankedClasses = 6;  // as in the paper's figure

void Check(const OmniglotConfig& config) {
  if (config.generators > config.runs) {
    Throw<ConfigError>("generators is {}, expected at most runs, which is {}", config.generators,
                       config.runs);
  }
}

// Mean log-weights over the runs of generator 0.
std::vector<double> MeanLogWeights(const std::vector<OmniglotRun>& runs) {
  std::vector<double> sums(runs[0].ratios.weights.generated.size(), 0.0);
  double count = 0.0;
  for (const OmniglotRun& run : runs) {
    if (run.generator != 0) continue;
    ++count;
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += run.ratios.weights.generated[i];
  }
  for (double& sum : sums) sum /= count;
  return sums;
}

std::string AllMetricLines(const OmniglotResult& result) {
  std::string lines;
  for (std::size_t g = 0; g < result.generated.size(); ++g) {
    lines += MetricLines(result.generated[g].history, fmt::format("generator {}", g));
  }
  for (std::size_t r = 0; r < result.runs.size(); ++r) {
    const std::vector<TrainingHistory>& folds = result.runs[r].ratios.histories;
    for (std::size_t fold = 0; fold < folds.size(); ++fold) {
      lines += MetricLines(folds[fold], fmt::format("run {} ratio {}", r, fold));
    }
    for (const TrainingData data : kAllTrainingData) {
      lines += MetricLines(result.runs[r].Column(data).fit().history,
                           fmt::format("run {} {}", r, EnumName(data)));
    }
  }
  return lines;
}

Manifest ManifestWithInputs(const OmniglotConfig& config, const SplitDrawings& drawings,
                            const ExperimentRun& run) {
  Manifest manifest = ManifestOf(run, config.seed);
  for (const std::string& path : config.data) {
    // a folder is known by the drawings taken from it
    manifest.inputs[path] = std::filesystem::is_directory(path)
                                ? HashOf(drawings.images, drawings.train)
                                : Sha256HexOfFile(path);
  }
  return manifest;
}

void WriteRun(const OmniglotResult& result, const ExperimentRun& run) {
  const OmniglotFigures figures{
      .accuracy = DrawPlot(run, "accuracy", AccuracyPlot(result.runs)),
      .generator = DrawPlot(run, "generator", GeneratorPlot(result.generated)),
      .calibration =
          DrawPlot(run, "calibration", CalibrationPlot(result.table.weights[0].calibration)),
      .weights = DrawPlot(run, "weights", WeightPlot(result.runs[0].ratios.weights))};
  const RunDirectory& directory = run.directory;
  directory.Write("plots/ranked.png", EncodePng(JoinPictures(result.ranked), 0));
  directory.Write("results.csv", RunsCsv(result.runs));
  directory.Write("table.csv", TableCsv(result.table));
  directory.Write("shares.csv", SharesCsv(result.table));
  directory.Write("weights.csv", WeightsCsv(result.table));
  WriteMetrics(directory, AllMetricLines(result));
  directory.Write("report.html", OmniglotPage(result, figures, run.command));
  directory.WriteManifest(ManifestWithInputs(result.config, result.drawings, run), QuerySystem());
}

}  // namespace

Outcome RunOmniglot(const OmniglotConfig& config, const ExperimentRun& run) {
  Check(config);
  const SplitDrawings drawings = Split(ReadDrawings(config.data), config.split, config.seed);
  std::vector<GeneratedDrawings> generated(static_cast<std::size_t>(config.generators));
  ShareInTurn(run.cache, config.generators, [&](std::int64_t g) {
    generated[static_cast<std::size_t>(g)] = DrawWithGenerator(config, drawings, g, run);
  });
  OmniglotResult result{.config = config,
                        .drawings = drawings,
                        .generated = generated,
                        .runs = MeasureRuns(config, drawings, generated, run),
                        .table = {},
                        .ranked = {}};
  result.table = MakeTable(result.runs, generated[0].images.labels, config.classifier);
  result.ranked = RankDrawings(drawings, generated[0].images, MeanLogWeights(result.runs),
                               kRankedClasses, config.seed);
  run.cache.EndOfStages();
  WriteRun(result, run);
  Outcome outcome{.text = TableText(result.table)};
  for (const std::string& note : OmniglotNotes(result)) {
    outcome.text += fmt::format("note: {}\n", note);
  }
  outcome.object["results"] = JsonOfCsv(TableCsv(result.table));
  outcome.object["runs"] = JsonOfCsv(RunsCsv(result.runs));
  return outcome;
}

}  // namespace lfiw::experiments
