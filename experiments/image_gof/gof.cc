#include "experiments/image_gof/gof.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/images/png.h"
#include "core/run/csv_columns.h"
#include "core/run/system_info.h"
#include "experiments/image_gof/cross_fit.h"
#include "experiments/image_gof/fitted_weights.h"
#include "experiments/image_gof/gof_metrics.h"
#include "experiments/image_gof/gof_metrics_stage.h"
#include "experiments/image_gof/gof_report.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/image_gof/image_grid.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/presentation/event_file.h"
#include "experiments/presentation/plot.h"
#include "experiments/presentation/run_outputs.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kGridRows = 5;  // of the largest and of the smallest weights

std::vector<GofRow> Measure(const GofConfig& config, const ExperimentRun& run,
                            const SamplePair& samples, const FittedWeights& weights,
                            const SmoothedWeights& smoothed) {
  return GofMetricsStage::Read(run.cache.Run<GofMetricsStage>(
      {config.metrics, config.seed}, {samples, weights, smoothed}, run.Work()));
}

// A line of weights.csv.
struct SampleWeight {
  const char* set;
  std::size_t index;
  double log_weight;
};

std::string WeightsCsv(const CrossFit& fit) {
  static const CsvColumns<SampleWeight> columns = {
      {"set", "", "real or generated", &SampleWeight::set},
      {"index", "", "place of the sample in its set", &SampleWeight::index},
      {"log_weight", "nats", "log-weight by a classifier that did not see the sample",
       &SampleWeight::log_weight}};
  std::vector<SampleWeight> weights;
  const auto add = [&weights](const char* set, const std::vector<double>& logs) {
    for (std::size_t i = 0; i < logs.size(); ++i) weights.push_back({set, i, logs[i]});
  };
  add("real", fit.real);
  add("generated", fit.generated);
  return columns.Format(weights);
}

std::string DrawGrid(const ExperimentRun& run, const ImageBatch& images,
                     const std::vector<double>& log_weights) {
  if (images.count == 0) return "";
  const ImageBatch grid = RankedGrid(images, log_weights, kGridRows);
  const std::string png = EncodePng(grid, 0);
  run.directory.Write("plots/ranked.png", png);
  return PngAsSvg(png, grid, "generated samples by weight");
}

void WriteRun(const ExperimentRun& run, const GofResult& result,
              std::span<const FitHistory> histories) {
  const GofDrawings drawings = {
      .calibration = DrawPlot(run, "calibration", CalibrationPlot(result.evidence.calibration)),
      .histogram = DrawPlot(run, "weights", WeightPlot(result.weights)),
      .grid = DrawGrid(run, result.samples.generated.images, result.weights.generated)};
  run.directory.Write("results.csv", RowsCsv(result.rows));
  run.directory.Write("results.json", GofJson(result).dump(1) + "\n");
  run.directory.Write("weights.csv", WeightsCsv(result.weights));
  WriteMetrics(run.directory, FoldLines(histories, "classifier"));
  run.directory.Write("report.html", GofPage(result, drawings, run.command));
  Manifest manifest = ManifestOf(run, result.config.seed);
  manifest.inputs = {{"real", result.samples.real.hash},
                     {"generated", result.samples.generated.hash}};
  run.directory.WriteManifest(manifest, QuerySystem());
}

}  // namespace

Outcome RunGof(const GofConfig& config, const ExperimentRun& run) {
  if (config.real.empty() || config.generated.empty()) {
    Throw<ConfigError>("{}: an empty list, expected at least one file or folder of images",
                       config.real.empty() ? "real" : "generated");
  }
  const SamplePair samples = ReadPair(config.real, config.generated, config.features, run);
  const std::vector<std::string> inputs = {samples.real.hash, samples.generated.hash,
                                           samples.features_hash};
  const FittedWeights weights =
      FitWeights(config.classifier, config.seed, samples.real.features.features,
                 samples.generated.features.features, inputs, run);
  const SmoothedWeights smoothed = FitSmoothedWeights(
      config.smoothing, config.classifier, config.seed, samples.real.features.features,
      samples.generated.features.features, inputs, weights, run);
  GofResult result{.config = config,
                   .samples = samples,
                   .weights = weights.fit,
                   .rows = Measure(config, run, samples, weights, smoothed),
                   .evidence = GatherEvidence(weights.fit),
                   .judgement = {}};
  result.judgement =
      JudgeFit(result.evidence, result.rows, config.verdict, config.metrics.kid_block);
  run.cache.EndOfStages();
  WriteRun(run, result, weights.histories);
  return {.text = GofText(result), .object = nlohmann::ordered_json(GofJson(result))};
}

}  // namespace lfiw::experiments
