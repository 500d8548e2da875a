#include "experiments/image_gof/gof_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "core/system_info.h"
#include "experiments/image_gof/bias_variance.h"
#include "experiments/image_gof/fitted_weights.h"
#include "experiments/image_gof/gof_metrics.h"
#include "experiments/image_gof/gof_table_page.h"
#include "experiments/image_gof/gof_verdict.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/run_outputs.h"

namespace lfiw {
namespace {

using Indices = std::vector<std::int64_t>;

// Some samples of a set and their log-weights.
struct Part {
  ImageFeatures features;
  std::vector<double> log_weights;
};

Part Take(const ImageFeatures& features, const std::vector<double>& log_weights,
          const Indices& samples) {
  Part part;
  part.features = {features.features(samples, Eigen::all), features.logits(samples, Eigen::all)};
  for (const std::int64_t i : samples) {
    part.log_weights.push_back(log_weights[static_cast<std::size_t>(i)]);
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

// The mean of one metric and weighting over runs; the reason of the first run without a number.
TableCell Average(const std::vector<std::vector<GofRow>>& runs, const char* metric,
                  const char* weights) {
  TableCell cell;
  std::vector<double> values;
  for (const std::vector<GofRow>& rows : runs) {
    const GofRow* row = FindRow(rows, metric, weights);
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

TableRow MakeRow(const std::string& model, const std::string& evaluation, const char* weights,
                 const std::vector<std::vector<GofRow>>& runs, std::int64_t size) {
  TableRow row{.model = model, .evaluation = evaluation, .runs = std::ssize(runs), .size = size};
  for (const char* metric : kTableMetrics) row.cells.push_back(Average(runs, metric, weights));
  return row;
}

// Everything that the table says of one generator.
struct GeneratorResult {
  std::vector<TableRow> rows;
  std::vector<BiasVarianceTable> tables;
  GeneratorEvidence evidence;
  std::int64_t run_size = 0;
};

class TableRun {
 public:
  TableRun(const GofTableConfig& config, const ExperimentRun& run) : config_(config), run_(run) {
    options_.alphas = {};
    options_.betas = {};
    options_.kid_block = config.kid_block;
    options_.ess_draws = 0;
  }

  GeneratorResult Measure(const GeneratorOptions& generator) const {
    const SamplePair train = Pair(config_.real_train, generator.samples);
    const SamplePair test = Pair(config_.real_test, generator.samples);
    const FittedWeights weights =
        FitWeights(config_.classifier, config_.seed, train.real.features.features,
                   train.generated.features.features,
                   {train.real.hash, train.generated.hash, train.features_hash}, run_);
    const std::int64_t samples = test.generated.size();
    const std::int64_t size = samples / config_.runs;
    if (size < 2) {
      Throw<DataError>("{}: {} samples, expected at least {} for {} runs", generator.name, samples,
                       2 * config_.runs, config_.runs);
    }
    std::vector<std::vector<GofRow>> runs;
    for (const Indices& indices :
         Parts(samples, size, config_.runs, Stream(config_.seed, "gof table runs"))) {
      const Part part = Take(test.generated.features, weights.fit.generated, indices);
      runs.push_back(MeasureWeighted(test.real.features, part.features, part.log_weights, options_,
                                     config_.seed));
    }
    GeneratorResult result{
        .rows = {MakeRow(generator.name, "default (no debiasing)", "none", runs, size),
                 MakeRow(generator.name, "LFIW", "self_normalized", runs, size)},
        .tables = {},
        .evidence = {generator.name, GatherEvidence(weights.fit), test.notes},
        .run_size = size};
    for (const std::int64_t wanted : config_.sizes) {
      result.tables.push_back(MakeTable(generator, test, weights, wanted));
    }
    return result;
  }

  // Real test images against as many training images as a run has generated ones.
  TableRow Reference(std::int64_t size) const {
    const SamplePair pair = Pair(config_.real_test, config_.real_train);
    size = std::min(size, pair.generated.size() / config_.runs);
    if (size < 2) Throw<DataError>("real_train: too few images for {} runs", config_.runs);
    const std::vector<double> none(static_cast<std::size_t>(pair.generated.size()), 0.0);
    std::vector<std::vector<GofRow>> runs;
    for (const Indices& indices : Parts(pair.generated.size(), size, config_.runs,
                                        Stream(config_.seed, "gof table reference"))) {
      const Part part = Take(pair.generated.features, none, indices);
      runs.push_back(MeasureWeighted(pair.real.features, part.features, part.log_weights, options_,
                                     config_.seed));
    }
    return MakeRow("-", "reference", "none", runs, size);
  }

 private:
  SamplePair Pair(const std::vector<std::string>& real,
                  const std::vector<std::string>& generated) const {
    return ReadPair(real, generated, config_.features, run_);
  }

  BiasVarianceTable MakeTable(const GeneratorOptions& generator, const SamplePair& test,
                              const FittedWeights& weights, std::int64_t size) const {
    const MatrixF& features = test.generated.features.features;
    const std::int64_t used = std::min<std::int64_t>(size, features.rows());
    const VectorD truth = test.real.features.features.cast<double>().colwise().mean();
    return {.model = generator.name,
            .size = used,
            .disjoint = features.rows() / used >= 2,
            .entries = MeasureBiasVariance(features, weights.fit.generated, truth,
                                           PaperVariants(config_.alphas, config_.betas), used,
                                           config_.runs, config_.seed)};
  }

  const GofTableConfig& config_;
  const ExperimentRun& run_;
  GofMetricOptions options_;
};

void Check(const GofTableConfig& config) {
  if (config.real_train.empty() || config.real_test.empty() || config.generators.empty()) {
    Throw<ConfigError>(
        "real_train, real_test and generators have {}, {} and {} entries, expected at least one of "
        "each",
        config.real_train.size(), config.real_test.size(), config.generators.size());
  }
  for (const GeneratorOptions& generator : config.generators) {
    if (!generator.name.empty() && !generator.samples.empty()) continue;
    Throw<ConfigError>("generators: name '{}' has {} files, expected a name and at least one file",
                       generator.name, generator.samples.size());
  }
}

void WriteRun(const GofTableConfig& config, const ExperimentRun& run, const GofTable& table) {
  run.directory.Write("results.csv", TableCsv(table));
  if (!table.bias_variance.empty()) {
    run.directory.Write("bias_variance.csv", BiasVarianceCsv(table));
  }
  run.directory.Write("report.html", TablePage(table, run.command));
  run.directory.WriteManifest(ManifestOf(run, config.seed), QuerySystem());
}

}  // namespace

int RunGofTable(const GofTableConfig& config, const ExperimentRun& run) {
  Check(config);
  const TableRun measure(config, run);
  GofTable table;
  std::int64_t smallest = 0;
  for (const GeneratorOptions& generator : config.generators) {
    GeneratorResult result = measure.Measure(generator);
    table.rows.insert(table.rows.end(), result.rows.begin(), result.rows.end());
    for (BiasVarianceTable& one : result.tables) table.bias_variance.push_back(std::move(one));
    table.evidence.push_back(std::move(result.evidence));
    smallest = smallest == 0 ? result.run_size : std::min(smallest, result.run_size);
  }
  table.rows.insert(table.rows.begin(), measure.Reference(smallest));
  WriteRun(config, run, table);
  if (run.verbosity != Verbosity::kQuiet) {
    fmt::print("{}report: {}\n", TableText(table), run.directory.File("report.html"));
  }
  return 0;
}

}  // namespace lfiw
