#include "experiments/omniglot/omniglot_table.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/run/csv_text.h"
#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/presentation/number_text.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kBins = 10;

// The paper's table 2, in order of TrainingData.
constexpr std::array<RunMean, kAllTrainingData.size()> kPaper = {
    {{0.6603, 0.0012}, {0.4431, 0.0054}, {0.4481, 0.0056}, {0.6600, 0.0040}, {0.6818, 0.0022}}};

constexpr std::array<std::array<TrainingData, 2>, 4> kPairs = {{
    {TrainingData::kWeighted, TrainingData::kGenerated},
    {TrainingData::kMixedWeighted, TrainingData::kMixed},
    {TrainingData::kMixed, TrainingData::kReal},
    {TrainingData::kMixedWeighted, TrainingData::kReal},
}};

double TestAccuracy(const OmniglotRun& run, TrainingData data) {
  return run.columns[static_cast<std::size_t>(data)].test_accuracy;
}

RunMean MeanOf(const std::vector<double>& values) { return {Mean(values), StandardError(values)}; }

RunWeights WeightsOf(const CrossFit& weights, double alpha) {
  // the classifier saw as many of the one as of the other, the images left out may be unequal
  const double prior = std::log(static_cast<double>(weights.real.size())) -
                       std::log(static_cast<double>(weights.generated.size()));
  std::vector<double> logits;
  std::vector<std::uint8_t> labels;
  for (const double value : weights.real) logits.push_back(value + prior);
  labels.resize(logits.size(), 1);
  for (const double value : weights.generated) logits.push_back(value + prior);
  labels.resize(logits.size(), 0);
  std::vector<double> flattened = weights.generated;
  Flatten(flattened, alpha);
  const WeightSummary summary = Summarize(flattened);
  return {.calibration = MeasureCalibration(logits, labels, kBins),
          .ess = summary.ess,
          .max_weight = summary.max_weight};
}

std::string DifferenceName(const PairedDifference& difference) {
  return fmt::format("{} less {}", EnumName(difference.left), EnumName(difference.right));
}

}  // namespace

OmniglotTable MakeTable(const std::vector<OmniglotRun>& runs, double alpha) {
  OmniglotTable table;
  for (const TrainingData data : kAllTrainingData) {
    std::vector<double> values;
    for (const OmniglotRun& run : runs) values.push_back(TestAccuracy(run, data));
    table.columns.push_back({data, MeanOf(values), kPaper[static_cast<std::size_t>(data)]});
  }
  for (const auto& [left, right] : kPairs) {
    std::vector<double> values;
    for (const OmniglotRun& run : runs) {
      values.push_back(TestAccuracy(run, left) - TestAccuracy(run, right));
    }
    table.differences.push_back({left, right, MeanOf(values)});
  }
  for (const OmniglotRun& run : runs) table.weights.push_back(WeightsOf(run.ratios.weights, alpha));
  return table;
}

std::vector<RunMean> ValidationCurve(const std::vector<OmniglotRun>& runs, TrainingData data) {
  const auto column = static_cast<std::size_t>(data);
  std::vector<RunMean> curve;
  for (std::int64_t e = 0; e < std::ssize(runs[0].columns[column].history.steps); ++e) {
    std::vector<double> values;
    for (const OmniglotRun& run : runs) {
      values.push_back(run.columns[column].history.Value(e, kValidationAccuracy));
    }
    curve.push_back(MeanOf(values));
  }
  return curve;
}

std::string AccuracyText(const RunMean& mean) {
  return fmt::format("{:.4f} ± {:.4f}", mean.value, mean.standard_error);
}

std::string TableText(const OmniglotTable& table) {
  std::vector<std::vector<std::string>> rows;
  for (const ColumnResult& column : table.columns) {
    rows.push_back({std::string(EnumName(column.data)), AccuracyText(column.accuracy),
                    AccuracyText(column.paper)});
  }
  std::string text = FormatTextTable({"trained on", "test accuracy", "the paper"}, rows);
  for (const PairedDifference& difference : table.differences) {
    text += fmt::format("{}: {:+.4f} ± {:.4f}\n", DifferenceName(difference),
                        difference.accuracy.value, difference.accuracy.standard_error);
  }
  for (std::size_t r = 0; r < table.weights.size(); ++r) {
    const RunWeights& weights = table.weights[r];
    text += fmt::format("weights of run {}: AUC {}, calibration error {}, effective samples {}\n",
                        r, NumberText(weights.calibration.auc, 3),
                        NumberText(weights.calibration.ece, 2), NumberText(weights.ess));
  }
  return text;
}

std::string RunsCsv(const std::vector<OmniglotRun>& runs) {
  std::string csv =
      "trained_on,run,generator,seed,test_accuracy,validation_accuracy,kept_step,steps\n";
  for (const TrainingData data : kAllTrainingData) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const AugmentedFit& fit = runs[r].columns[static_cast<std::size_t>(data)];
      csv += fmt::format("{},{},{},{},{},{},{},{}\n", QuotedCsv(EnumName(data)), r,
                         runs[r].generator, runs[r].seed, fit.test_accuracy,
                         fit.validation_accuracy, fit.kept_step, fit.history.steps.back());
    }
  }
  return csv;
}

std::string TableCsv(const OmniglotTable& table) {
  std::string csv = "quantity,value,stderr,paper_value,paper_stderr\n";
  for (const ColumnResult& column : table.columns) {
    csv += fmt::format("{},{},{},{},{}\n", QuotedCsv(EnumName(column.data)), column.accuracy.value,
                       column.accuracy.standard_error, column.paper.value,
                       column.paper.standard_error);
  }
  for (const PairedDifference& difference : table.differences) {
    csv += fmt::format("{},{},{},,\n", QuotedCsv(DifferenceName(difference)),
                       difference.accuracy.value, difference.accuracy.standard_error);
  }
  return csv;
}

std::string WeightsCsv(const OmniglotTable& table) {
  std::string csv = "run,auc,accuracy,ece,squared_error,brier,nll,ess,max_weight\n";
  for (std::size_t r = 0; r < table.weights.size(); ++r) {
    const auto& [c, ess, max_weight] = table.weights[r];
    csv += fmt::format("{},{},{},{},{},{},{},{},{}\n", r, c.auc, c.accuracy, c.ece, c.squared_error,
                       c.brier, c.nll, ess, max_weight);
  }
  return csv;
}

}  // namespace lfiw::experiments
