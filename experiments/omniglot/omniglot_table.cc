#include "experiments/omniglot/omniglot_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/omniglot/drawing_weights.h"
#include "experiments/presentation/number_text.h"

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
  return run.Column(data).fit().test_accuracy;
}

RunMean MeanOf(const std::vector<double>& values) { return {Mean(values), StandardError(values)}; }

Calibration CalibrationOf(const CrossFit& weights) {
  // the classifier saw as many of the one as of the other, the images left out may be unequal
  const double prior = std::log(static_cast<double>(weights.real.size())) -
                       std::log(static_cast<double>(weights.generated.size()));
  std::vector<double> logits;
  std::vector<std::uint8_t> labels;
  for (const double value : weights.real) logits.push_back(value + prior);
  labels.resize(logits.size(), 1);
  for (const double value : weights.generated) logits.push_back(value + prior);
  labels.resize(logits.size(), 0);
  return MeasureCalibration(logits, labels, kBins);
}

// The share that the weights of a column are worth, or 0.
double ShareOf(const AugmentedOptions& options, std::size_t place) {
  return options.tempered.empty() ? 0.0 : options.tempered[place];
}

std::vector<RunWeights> WeightsOf(const OmniglotRun& run, std::size_t number,
                                  std::span<const std::int64_t> classes,
                                  const AugmentedOptions& options) {
  const Calibration calibration = CalibrationOf(run.ratios.weights);
  std::vector<RunWeights> weights;
  for (const TrainingData data : kAllTrainingData) {
    if (!UsesWeights(data)) continue;
    const double share = ShareOf(options, run.Column(data).chosen);
    const DrawingWeights used =
        WeighDrawings(run.ratios.weights.generated, classes,
                      {.tempered = share, .alpha = options.alpha, .balance = options.balance});
    weights.push_back({.run = number,
                       .data = data,
                       .share = share,
                       .calibration = calibration,
                       .alpha = used.alpha,
                       .ess = used.ess,
                       .max_weight = used.max_weight});
  }
  return weights;
}

TriedShare ShareResult(const std::vector<OmniglotRun>& runs, TrainingData data, std::size_t place,
                       const AugmentedOptions& options) {
  TriedShare result{.data = data, .share = ShareOf(options, place), .validation = {}, .test = {}};
  std::vector<double> validation, test;
  for (const OmniglotRun& run : runs) {
    const ColumnFits& column = run.Column(data);
    validation.push_back(column.tried[place].validation_accuracy);
    test.push_back(column.tried[place].test_accuracy);
    if (column.chosen == place) ++result.chosen;
  }
  result.validation = MeanOf(validation);
  result.test = MeanOf(test);
  return result;
}

std::vector<TriedShare> SharesOf(const std::vector<OmniglotRun>& runs,
                                 const AugmentedOptions& options) {
  std::vector<TriedShare> shares;
  for (const TrainingData data : kAllTrainingData) {
    if (!UsesWeights(data)) continue;
    for (std::size_t place = 0; place < runs.front().Column(data).tried.size(); ++place) {
      shares.push_back(ShareResult(runs, data, place, options));
    }
  }
  return shares;
}

std::string DifferenceName(const PairedDifference& difference) {
  return fmt::format("{} less {}", EnumName(difference.left), EnumName(difference.right));
}

// A line of results.csv: what one run makes of one kind of training data.
struct TestedRun {
  TrainingData data;
  std::size_t number;
  const OmniglotRun& run;

  const AugmentedFit& fit() const { return run.Column(data).fit(); }
};

// A line of table.csv.
struct TableLine {
  std::string quantity;
  RunMean accuracy;
  std::optional<RunMean> paper;  // none of differences
};

std::optional<double> PartOf(const std::optional<RunMean>& mean, double RunMean::*part) {
  return mean ? std::optional((*mean).*part) : std::nullopt;
}

auto OfCalibration(double Calibration::*member) {
  return [member](const RunWeights& weights) { return weights.calibration.*member; };
}

// Says of a column with weights what each share gave, and which was taken.
std::string SharesText(const OmniglotTable& table, TrainingData data) {
  std::string text;
  for (const TriedShare& share : table.shares) {
    if (share.data != data || share.share == 0.0) continue;
    text += fmt::format("{}{} with {} (taken by {} {})", text.empty() ? "" : ", ",
                        AccuracyText(share.validation), ShareText(share.share), share.chosen,
                        share.chosen == 1 ? "run" : "runs");
  }
  return text.empty()
             ? ""
             : fmt::format("{}: validation accuracy {} of the drawings\n", EnumName(data), text);
}

// The least and the largest of a figure of the weights, or the one that all have.
template <class Figure>
std::string RangeText(const OmniglotTable& table, int digits, const Figure& figure) {
  std::vector<double> values;
  for (const RunWeights& weights : table.weights) values.push_back(figure(weights));
  const auto [low, high] = std::ranges::minmax(values);
  const std::string least = NumberText(low, digits), most = NumberText(high, digits);
  return least == most ? least : fmt::format("{} to {}", least, most);
}

}  // namespace

OmniglotTable MakeTable(const std::vector<OmniglotRun>& runs, std::span<const std::int64_t> labels,
                        const AugmentedOptions& options) {
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
  table.shares = SharesOf(runs, options);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const RunWeights& weights : WeightsOf(runs[r], r, labels, options)) {
      table.weights.push_back(weights);
    }
  }
  return table;
}

std::vector<RunMean> ValidationCurve(const std::vector<OmniglotRun>& runs, TrainingData data) {
  std::vector<RunMean> curve;
  for (std::int64_t e = 0; e < std::ssize(runs[0].Column(data).fit().history.steps); ++e) {
    std::vector<double> values;
    for (const OmniglotRun& run : runs) {
      values.push_back(run.Column(data).fit().history.Value(e, kValidationAccuracy));
    }
    curve.push_back(MeanOf(values));
  }
  return curve;
}

std::string AccuracyText(const RunMean& mean) {
  return fmt::format("{:.4f} ± {:.4f}", mean.value, mean.standard_error);
}

std::string ShareText(double share) { return share > 0.0 ? NumberText(share) : "given"; }

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
  for (const TrainingData data : kAllTrainingData) text += SharesText(table, data);
  text += fmt::format(
      "weights: AUC {}, calibration error {}, effective samples {}\n",
      RangeText(table, 3, [](const RunWeights& weights) { return weights.calibration.auc; }),
      RangeText(table, 2, [](const RunWeights& weights) { return weights.calibration.ece; }),
      RangeText(table, 3, [](const RunWeights& weights) { return weights.ess; }));
  return text;
}

std::string RunsCsv(const std::vector<OmniglotRun>& runs) {
  static const CsvColumns<TestedRun> columns = {
      {"trained_on", "", "training data",
       InQuotes([](const TestedRun& r) { return EnumName(r.data); })},
      {"run", "", "number of the run", &TestedRun::number},
      {"generator", "", "number of the generator that the run draws from",
       [](const TestedRun& r) { return r.run.generator; }},
      {"seed", "", "seed of the run", [](const TestedRun& r) { return r.run.seed; }},
      {"test_accuracy", "", "share of the test drawings that are recognized",
       [](const TestedRun& r) { return r.fit().test_accuracy; }},
      {"validation_accuracy", "", "share of the validation drawings that are recognized",
       [](const TestedRun& r) { return r.fit().validation_accuracy; }},
      {"kept_step", "gradient steps", "step of the best validation accuracy, which is kept",
       [](const TestedRun& r) { return r.fit().kept_step; }},
      {"steps", "gradient steps", "length of the training",
       [](const TestedRun& r) { return r.fit().history.steps.back(); }}};
  std::vector<TestedRun> rows;
  for (const TrainingData data : kAllTrainingData) {
    for (std::size_t r = 0; r < runs.size(); ++r) rows.push_back({data, r, runs[r]});
  }
  return columns.Format(rows);
}

std::string TableCsv(const OmniglotTable& table) {
  static const CsvColumns<TableLine> columns = {
      {"quantity", "", "training data, or the difference of two", InQuotes(&TableLine::quantity)},
      {"value", "", "mean test accuracy over runs, or its paired difference",
       [](const TableLine& line) { return line.accuracy.value; }},
      {"stderr", "", "standard error of value over runs",
       [](const TableLine& line) { return line.accuracy.standard_error; }},
      {"paper_value", "", "the paper's accuracy, on 1200 classes and of another generator",
       [](const TableLine& line) { return PartOf(line.paper, &RunMean::value); }},
      {"paper_stderr", "", "standard error of paper_value",
       [](const TableLine& line) { return PartOf(line.paper, &RunMean::standard_error); }}};
  std::vector<TableLine> lines;
  for (const ColumnResult& column : table.columns) {
    lines.push_back({std::string(EnumName(column.data)), column.accuracy, column.paper});
  }
  for (const PairedDifference& difference : table.differences) {
    lines.push_back({DifferenceName(difference), difference.accuracy, std::nullopt});
  }
  return columns.Format(lines);
}

std::string SharesCsv(const OmniglotTable& table) {
  static const CsvColumns<TriedShare> columns = {
      {"trained_on", "", "training data",
       InQuotes([](const TriedShare& s) { return EnumName(s.data); })},
      {"tempered", "", "share of the drawings that the weights are worth; 0: the exponent is given",
       &TriedShare::share},
      {"validation_accuracy", "", "mean over runs, which chooses the share",
       [](const TriedShare& s) { return s.validation.value; }},
      {"validation_stderr", "", "standard error of validation_accuracy over runs",
       [](const TriedShare& s) { return s.validation.standard_error; }},
      {"test_accuracy", "", "mean over runs", [](const TriedShare& s) { return s.test.value; }},
      {"test_stderr", "", "standard error of test_accuracy over runs",
       [](const TriedShare& s) { return s.test.standard_error; }},
      {"runs_chosen", "runs", "number of runs whose column has this share", &TriedShare::chosen}};
  return columns.Format(table.shares);
}

std::string WeightsCsv(const OmniglotTable& table) {
  static const CsvColumns<RunWeights> columns = {
      {"run", "", "number of the run", &RunWeights::run},
      {"trained_on", "", "training data",
       InQuotes([](const RunWeights& w) { return EnumName(w.data); })},
      {"tempered", "", "share of the drawings that the weights are worth; 0: the exponent is given",
       &RunWeights::share},
      {"auc", "", "area under the ROC curve of real against generated drawings",
       OfCalibration(&Calibration::auc)},
      {"accuracy", "", "share of drawings told right", OfCalibration(&Calibration::accuracy)},
      {"ece", "", "expected calibration error in 10 bins", OfCalibration(&Calibration::ece)},
      {"squared_error", "", "mean squared calibration error in 10 bins",
       OfCalibration(&Calibration::squared_error)},
      {"brier", "", "mean squared error of the probability", OfCalibration(&Calibration::brier)},
      {"nll", "nats", "cross-entropy of the probability", OfCalibration(&Calibration::nll)},
      {"alpha", "", "exponent that flattens the weights", &RunWeights::alpha},
      {"ess", "drawings", "effective sample size of the flattened weights", &RunWeights::ess},
      {"max_weight", "", "share of the largest weight", &RunWeights::max_weight}};
  return columns.Format(table.weights);
}

}  // namespace lfiw::experiments
