#include "experiments/image_gof/gof_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/run/shared_loop.h"
#include "core/run/system_info.h"
#include "core/statistics.h"
#include "experiments/image_gof/bias_variance.h"
#include "experiments/image_gof/classifier_check.h"
#include "experiments/image_gof/fitted_weights.h"
#include "experiments/image_gof/generator_figures.h"
#include "experiments/image_gof/gof_metrics.h"
#include "experiments/image_gof/gof_report.h"
#include "experiments/image_gof/gof_table_page.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/image_gof/image_generators.h"
#include "experiments/image_gof/resampled_density.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/image_gof/sample_weights.h"
#include "experiments/image_gof/training_history.h"
#include "experiments/presentation/event_file.h"
#include "experiments/presentation/run_outputs.h"

namespace lfiw::experiments {
namespace {

using Indices = std::vector<std::int64_t>;

// Some samples of a set and their log-weights.
struct Part {
  ImageFeatures features;
  std::vector<double> plain, smoothed;
  SampleRatios ratios;  // of all, from which those of the part are taken

  SampleRatios Ratios() const {
    SampleRatios own = ratios;
    own.plain = plain;
    own.smoothed = smoothed;
    return own;
  }
};

Part Take(const ImageFeatures& features, const SampleRatios& ratios, const Indices& samples) {
  Part part{
      .features = {features.features(samples, Eigen::all), features.logits(samples, Eigen::all)},
      .plain = {},
      .smoothed = {},
      .ratios = ratios};
  for (const std::int64_t i : samples) {
    const auto at = static_cast<std::size_t>(i);
    part.plain.push_back(ratios.plain[at]);
    if (!ratios.smoothed.empty()) part.smoothed.push_back(ratios.smoothed[at]);
  }
  return part;
}

// Disjoint parts of a random order, `size` samples each.
std::vector<Indices> Parts(std::int64_t samples, std::int64_t size, std::int64_t count,
                           Stream stream) {
  const Indices order = stream.Permutation(samples);
  std::vector<Indices> parts;
  for (std::int64_t k = 0; k < count; ++k) {
    parts.emplace_back(order.begin() + k * size, order.begin() + (k + 1) * size);
  }
  return parts;
}

// Which rows of the runs a line of the table is the mean of.
struct RowName {
  std::string weights;
  std::string params = "";
};

// The mean of one metric and weighting over runs; the reason of the first run without a number.
TableCell Average(const std::vector<std::vector<GofRow>>& runs, const char* metric,
                  const RowName& name) {
  TableCell cell;
  std::vector<double> values;
  for (const std::vector<GofRow>& rows : runs) {
    const GofRow* row = FindRow(rows, metric, name.weights, name.params);
    if (row == nullptr || !row->value) {
      cell.reason = row == nullptr ? "not measured" : row->reason;
      return cell;
    }
    values.push_back(*row->value);
  }
  cell.value = Mean(values);
  cell.standard_error = StandardError(values);
  return cell;
}

TableRow MakeRow(const std::string& model, const std::string& evaluation, const RowName& name,
                 const std::vector<std::vector<GofRow>>& runs, std::int64_t size) {
  TableRow row{.model = model, .evaluation = evaluation, .runs = std::ssize(runs), .size = size};
  for (const char* metric : kTableMetrics) row.cells.push_back(Average(runs, metric, name));
  return row;
}

// "1_pixelcnn": the part of a generator's file names that is its own.
std::string FileName(std::size_t index, const std::string& name) {
  std::string text = fmt::format("{}_", index + 1);
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) text += static_cast<char>(std::tolower(byte));
  }
  return text;
}

// Everything that the table says of one generator.
struct GeneratorResult {
  std::vector<TableRow> rows;
  std::vector<BiasVarianceTable> tables;
  std::optional<DensityRow> density = {};
  std::vector<ClassifierCheck> checks = {};
  GeneratorEvidence evidence;
  std::string metrics = {};  // lines of metrics.jsonl
  std::int64_t run_size = 0;
};

class TableRun {
 public:
  // Reads the real images and checks that every generator can be made, before any is trained.
  TableRun(const GofTableConfig& config, const ExperimentRun& run)
      : config_(config), run_(run), real_(Pair(config.real_test, config.real_train)) {
    options_.alphas = {};
    options_.betas = {};
    options_.tempered = {};
    if (config.tempered > 0.0) options_.tempered.push_back(config.tempered);
    options_.kid_block = config.kid_block;
    options_.ess_draws = 0;
    for (const GeneratorOptions& generator : config.generators) {
      CheckGenerator(generator, real_.generated, config.runs);
      if (HasDensity(generator)) CheckDensityImages();
    }
    if (!config.real_check.empty()) check_ = Pair(config.real_check, config.real_train);
  }

  GeneratorResult Measure(std::size_t index) const {
    const GeneratorOptions& generator = config_.generators[index];
    const GeneratorOutput made = MakeSamples(generator, real_.generated, config_.seed, run_);
    const SamplePair train = Pair(config_.real_train, made.samples);
    const SamplePair test = Pair(config_.real_test, made.samples);
    const std::vector<std::string> hashes = {train.real.hash, train.generated.hash,
                                             train.features_hash};
    const FittedWeights weights =
        FitWeights(config_.classifier, config_.seed, train.real.features.features,
                   train.generated.features.features, hashes, run_);
    const SmoothedWeights smoothed = FitSmoothedWeights(
        config_.smoothing, config_.classifier, config_.seed, train.real.features.features,
        train.generated.features.features, hashes, weights, run_);
    const SampleRatios ratios = RatiosOf(weights, smoothed);
    const std::int64_t size = RunSize(generator, test.generated.size());
    const auto runs = MeasureRuns(test, ratios, size);
    GeneratorResult result{
        .rows = {MakeRow(generator.name, "default (no debiasing)", {"none"}, runs, size),
                 MakeRow(generator.name, "LFIW", {"self_normalized"}, runs, size)},
        .tables = {},
        .evidence = {generator.name, GatherEvidence(weights.fit), test.notes},
        .metrics = FoldLines(weights.histories, generator.name + " classifier"),
        .run_size = size};
    if (config_.tempered > 0.0) {
      result.rows.push_back(MakeRow(generator.name, "LFIW, tempered", TemperedRow(), runs, size));
    }
    if (!ratios.smoothed.empty()) {
      const WeightVariant variant = SmoothedVariant(ratios);
      result.rows.push_back(MakeRow(generator.name,
                                    fmt::format("LFIW, smoothed ({})", variant.params),
                                    {variant.name, variant.params}, runs, size));
    }
    for (const std::int64_t wanted : config_.sizes) {
      result.tables.push_back(MakeTable(generator, test, ratios, wanted));
    }
    if (HasDensity(generator)) {
      result.density = Density(generator, *made.model, test.real, weights, result.evidence);
    }
    AddChecks(generator, weights, result);
    AddDrawings(index, made, test, result);
    return result;
  }

  // Real test images against as many training images as a run has generated ones.
  TableRow Reference(std::int64_t size) const {
    size = std::min(size, real_.generated.size() / config_.runs);
    if (size < 2) Throw<DataError>("real_train: too few images for {} runs", config_.runs);
    const std::vector<double> none(static_cast<std::size_t>(real_.generated.size()), 0.0);
    std::vector<std::vector<GofRow>> runs;
    for (const Indices& indices : Parts(real_.generated.size(), size, config_.runs,
                                        Stream(config_.seed, "gof table reference"))) {
      const Part part = Take(real_.generated.features, {.plain = none}, indices);
      runs.push_back(MeasureWeighted(real_.real.features, part.features, part.Ratios(), options_,
                                     config_.seed));
    }
    return MakeRow("-", "reference", {"none"}, runs, size);
  }

  // Hashes of what was read, by what it is.
  std::map<std::string, std::string> Inputs() const {
    std::map<std::string, std::string> inputs = {{"real_test", real_.real.hash},
                                                 {"real_train", real_.generated.hash}};
    if (check_) inputs["real_check"] = check_->real.hash;
    return inputs;
  }

  // Of the network that features come from, where there are check images.
  std::optional<ExtractorCheck> Extractor() const {
    if (!check_) return std::nullopt;
    return CheckExtractor(check_->extractor, check_->real);
  }

 private:
  SamplePair Pair(const std::vector<std::string>& real,
                  const std::vector<std::string>& generated) const {
    return ReadPair(real, generated, config_.features, run_);
  }

  bool HasDensity(const GeneratorOptions& generator) const {
    return generator.kind == GeneratorKind::kPixelCnn && config_.density_images > 0;
  }

  void CheckDensityImages() const {
    const ImageBatch &test = real_.real.images, &train = real_.generated.images;
    if (test.count > 0 && test.image_size() == train.image_size() && test.width == train.width &&
        test.channels == train.channels) {
      return;
    }
    Throw<ConfigError>(
        "real_test: {} images of {} x {} x {}, expected images of {} x {} x {} to measure "
        "densities on; or density_images=0",
        test.count, test.height, test.width, test.channels, train.height, train.width,
        train.channels);
  }

  std::int64_t RunSize(const GeneratorOptions& generator, std::int64_t samples) const {
    const std::int64_t size = samples / config_.runs;
    if (size < 2) {
      Throw<DataError>("{}: {} samples, expected at least {} for {} runs", generator.name, samples,
                       2 * config_.runs, config_.runs);
    }
    return size;
  }

  std::vector<std::vector<GofRow>> MeasureRuns(const SamplePair& test, const SampleRatios& ratios,
                                               std::int64_t size) const {
    std::vector<std::vector<GofRow>> runs;
    for (const Indices& indices :
         Parts(test.generated.size(), size, config_.runs, Stream(config_.seed, "gof table runs"))) {
      const Part part = Take(test.generated.features, ratios, indices);
      runs.push_back(MeasureWeighted(test.real.features, part.features, part.Ratios(), options_,
                                     config_.seed));
    }
    return runs;
  }

  DensityRow Density(const GeneratorOptions& generator, const TrainedGenerator& model,
                     const SampleSet& test, const FittedWeights& weights,
                     const GeneratorEvidence& evidence) const {
    const std::vector<double> base =
        BaseLogDensity(generator, model, test, config_.density_images, run_);
    const std::vector<double> log_weights = AveragedLogWeights(
        weights.fit.classifiers, test.features.features.topRows(std::ssize(base)));
    return MeasureDensity(generator.name, base, log_weights, evidence.evidence.partition,
                          test.images.image_size());
  }

  void AddChecks(const GeneratorOptions& generator, const FittedWeights& weights,
                 GeneratorResult& result) const {
    const WeightEvidence& evidence = result.evidence.evidence;
    result.checks.push_back({.model = generator.name,
                             .images = "real_train, cross-fitted",
                             .n = evidence.n,
                             .m = evidence.m,
                             .calibration = evidence.calibration});
    if (!check_) return;
    result.checks.push_back(CheckOnNewImages(generator.name, weights.fit,
                                             check_->real.features.features, config_.seed));
  }

  void AddDrawings(std::size_t index, const GeneratorOutput& made, const SamplePair& test,
                   GeneratorResult& result) const {
    const std::string& name = config_.generators[index].name;
    const std::string file = FileName(index, name);
    GeneratorDrawings& drawings = result.evidence.drawings;
    drawings.samples = DrawSamples(run_, "samples_" + file, test.generated.images, config_.seed);
    drawings.calibration =
        DrawPlot(run_, "calibration_" + file, CalibrationPlot(result.checks[0].calibration));
    if (result.checks.size() > 1) {
      drawings.check_calibration = DrawPlot(run_, "calibration_check_" + file,
                                            CalibrationPlot(result.checks[1].calibration));
    }
    if (!made.model) return;
    const TrainingHistory& history = made.model->history;
    drawings.learning = DrawPlot(run_, "learning_" + file, LearningPlot(name, history));
    result.evidence.training = TrainingLine(history);
    result.metrics += MetricLines(history, name);
  }

  BiasVarianceTable MakeTable(const GeneratorOptions& generator, const SamplePair& test,
                              const SampleRatios& ratios, std::int64_t size) const {
    const MatrixF& features = test.generated.features.features;
    const std::int64_t used = std::min<std::int64_t>(size, features.rows());
    const VectorD truth = test.real.features.features.cast<double>().colwise().mean();
    return {.model = generator.name,
            .size = used,
            .disjoint = features.rows() / used >= 2,
            .entries = MeasureBiasVariance(features, ratios, truth, Variants(ratios), used,
                                           config_.runs, config_.seed)};
  }

  WeightVariant Tempered() const {
    return TemperedVariants(std::span(&config_.tempered, 1)).front();
  }
  RowName TemperedRow() const { return {kTemperedWeights, Tempered().params}; }

  std::vector<WeightVariant> Variants(const SampleRatios& ratios) const {
    std::vector<WeightVariant> variants = PaperVariants(config_.alphas, config_.betas);
    if (config_.tempered > 0.0) variants.push_back(Tempered());
    if (!ratios.smoothed.empty()) variants.push_back(SmoothedVariant(ratios));
    return variants;
  }

  const GofTableConfig& config_;
  const ExperimentRun& run_;
  SamplePair real_;                       // test images, and training images as if generated
  std::optional<SamplePair> check_ = {};  // check images, likewise
  GofMetricOptions options_;
};

void Check(const GofTableConfig& config) {
  if (config.real_train.empty() || config.real_test.empty() || config.generators.empty()) {
    Throw<ConfigError>(
        "real_train, real_test and generators have {}, {} and {} entries, expected at least one of "
        "each",
        config.real_train.size(), config.real_test.size(), config.generators.size());
  }
}

void Append(GeneratorResult result, GofTable& table) {
  table.rows.insert(table.rows.end(), result.rows.begin(), result.rows.end());
  for (BiasVarianceTable& one : result.tables) table.bias_variance.push_back(std::move(one));
  if (result.density) table.densities.push_back(std::move(*result.density));
  for (ClassifierCheck& check : result.checks) table.checks.push_back(std::move(check));
  table.evidence.push_back(std::move(result.evidence));
}

void WriteRun(const ExperimentRun& run, const GofTable& table, const std::string& metrics,
              const Manifest& manifest) {
  run.directory.Write("results.csv", TableCsv(table));
  if (!table.bias_variance.empty()) {
    run.directory.Write("bias_variance.csv", BiasVarianceCsv(table));
  }
  if (!table.densities.empty()) run.directory.Write("density.csv", DensityCsv(table.densities));
  run.directory.Write("classifiers.csv", ChecksCsv(table.checks));
  WriteMetrics(run.directory, metrics);
  run.directory.Write("report.html", TablePage(table, run.command));
  run.directory.WriteManifest(manifest, QuerySystem());
}

}  // namespace

Outcome RunGofTable(const GofTableConfig& config, const ExperimentRun& run) {
  Check(config);
  const TableRun measure(config, run);
  GofTable table;
  table.extractor = measure.Extractor();
  std::string metrics;
  std::int64_t smallest = 0;
  std::vector<GeneratorResult> results(config.generators.size());
  ShareInTurn(run.cache, std::ssize(results), [&](std::int64_t i) {
    results[static_cast<std::size_t>(i)] = measure.Measure(static_cast<std::size_t>(i));
  });
  run.cache.EndOfStages();
  for (std::size_t i = 0; i < results.size(); ++i) {
    GeneratorResult& result = results[i];
    smallest = i == 0 ? result.run_size : std::min(smallest, result.run_size);
    metrics += result.metrics;
    Append(std::move(result), table);
  }
  table.rows.insert(table.rows.begin(), measure.Reference(smallest));
  Manifest manifest = ManifestOf(run, config.seed);
  manifest.inputs = measure.Inputs();
  WriteRun(run, table, metrics, manifest);
  return {.text = TableText(table), .object = {{"results", JsonOfCsv(TableCsv(table))}}};
}

}  // namespace lfiw::experiments
