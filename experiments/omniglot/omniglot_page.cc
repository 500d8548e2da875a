#include "experiments/omniglot/omniglot_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/images/png.h"
#include "experiments/image_gof/image_grid.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

std::string Percent(double share) { return fmt::format("{:.2f} %", 100.0 * share); }

std::string Count(std::int64_t count) { return CountText(static_cast<double>(count)); }

const ColumnResult& ColumnOf(const OmniglotTable& table, TrainingData data) {
  return table.columns[static_cast<std::size_t>(data)];
}

HtmlTile AccuracyTile(const OmniglotTable& table, TrainingData data) {
  const RunMean& accuracy = ColumnOf(table, data).accuracy;
  return {std::string(EnumName(data)), Percent(accuracy.value),
          fmt::format("± {}", Percent(accuracy.standard_error))};
}

// The paper's table: a column for each kind of training data.
HtmlTable AccuracyTable(const OmniglotResult& result) {
  HtmlTable table{.caption = "Test accuracy, with standard errors over runs"};
  table.columns.push_back({.title = "trained on"});
  HtmlRow here{.cells = {fmt::format("here, {} classes", result.drawings.classes())}};
  HtmlRow paper{.cells = {"the paper, 1200 classes"}};
  for (const ColumnResult& column : result.table.columns) {
    table.columns.push_back(
        {.title = std::string(EnumName(column.data)), .align = HtmlAlign::kNumber});
    here.cells.emplace_back(AccuracyText(column.accuracy));
    paper.cells.emplace_back(AccuracyText(column.paper));
  }
  table.rows = {here, paper};
  return table;
}

HtmlTable DifferenceTable(const OmniglotTable& results) {
  HtmlTable table{.caption = "Differences of test accuracy, run by run with the same seeds"};
  for (const char* title : {"trained on", "less that on"})
    table.columns.push_back({.title = title});
  for (const char* title : {"difference", "in standard errors"}) {
    table.columns.push_back({.title = title, .align = HtmlAlign::kNumber});
  }
  for (const auto& [left, right, accuracy] : results.differences) {
    // equal differences in all runs leave only rounding
    const bool varies = accuracy.standard_error > 1e-12;
    const std::string ratio =
        varies ? fmt::format("{:+.1f}", accuracy.value / accuracy.standard_error) : kNoNumber;
    table.rows.push_back(
        {.cells = {std::string(EnumName(left)), std::string(EnumName(right)),
                   fmt::format("{:+.4f} ± {:.4f}", accuracy.value, accuracy.standard_error),
                   ratio}});
  }
  return table;
}

// What each share gave that the weights were made worth.
HtmlTable ShareTable(const OmniglotTable& results) {
  HtmlTable table{.caption = "Shares of the drawings that weights were made worth"};
  table.columns.push_back({.title = "trained on"});
  for (const char* title : {"share", "validation accuracy", "test accuracy", "runs that take it"}) {
    table.columns.push_back({.title = title, .align = HtmlAlign::kNumber});
  }
  for (const TriedShare& share : results.shares) {
    table.rows.push_back({.cells = {std::string(EnumName(share.data)), ShareText(share.share),
                                    AccuracyText(share.validation), AccuracyText(share.test),
                                    std::to_string(share.chosen)}});
  }
  return table;
}

HtmlTable WeightTable(const OmniglotResult& result) {
  HtmlTable table{.caption = "Weights of the generated drawings"};
  table.columns.push_back({.title = "trained on"});
  for (const char* title : {"run", "generator", "AUC", "calibration error", "exponent",
                            "effective samples", "of", "largest share"}) {
    table.columns.push_back({.title = title, .align = HtmlAlign::kNumber});
  }
  for (const RunWeights& weights : result.table.weights) {
    const OmniglotRun& run = result.runs[weights.run];
    table.rows.push_back(
        {.cells = {std::string(EnumName(weights.data)), std::to_string(weights.run),
                   std::to_string(run.generator), NumberText(weights.calibration.auc, 3),
                   NumberText(weights.calibration.ece, 2), NumberText(weights.alpha, 2),
                   NumberText(weights.ess), Count(std::ssize(run.ratios.weights.generated)),
                   NumberText(weights.max_weight, 2)}});
  }
  return table;
}

void AddFigure(const std::string& name, const std::string& svg, const std::string& caption,
               std::vector<HtmlFragment>& figures) {
  if (!svg.empty()) figures.emplace_back().Figure(name, svg, caption);
}

void AddWeights(const OmniglotResult& result, const OmniglotFigures& drawn, HtmlFragment& body) {
  body.Heading(2, "Weights");
  body.Table(ShareTable(result.table));
  body.Muted(
      "The weights are the ratios to the largest power of at most 1 with which they are worth this "
      "share of the drawings; with 1 all drawings count alike. The validation accuracy chooses, "
      "the test drawings play no part.");
  body.Table(WeightTable(result));
  body.Muted(
      "Each drawing is weighted by a classifier of real against generated drawings that did not "
      "see it in training. AUC 0.5: it cannot tell them apart. Calibration error: mean distance of "
      "its probability from the share of real drawings, in ten bins.");
  std::vector<HtmlFragment> figures;
  AddFigure("calibration", drawn.calibration,
            "Run 0: drawings left out, in 10 bins of their probability of being real. On the "
            "diagonal the odds are right on average.",
            figures);
  AddFigure("weights", drawn.weights, "Run 0: weights of drawings left out, before flattening.",
            figures);
  body.Columns(figures);
}

void AddRanked(const OmniglotResult& result, HtmlFragment& body) {
  body.Heading(2, "Drawings by weight");
  body.Paragraph(
      "For classes drawn by the seed: held-out drawings above, generated ones of the class below "
      "in decreasing order of weight (mean logarithm over the runs of generator 0).");
  std::vector<HtmlFragment> figures;
  for (std::size_t i = 0; i < result.ranked.size(); ++i) {
    const RankedClass& one = result.ranked[i];
    AddFigure(fmt::format("ranked{}", i),
              PngAsSvg(EncodePng(one.picture, 0), one.picture,
                       fmt::format("{}: held-out and generated drawings", one.name)),
              fmt::format("({}) {}", static_cast<char>('a' + i), one.name), figures);
  }
  body.Columns(figures);
}

void AddGenerators(const OmniglotResult& result, const OmniglotFigures& drawn, HtmlFragment& body) {
  body.Heading(2, result.generated.size() == 1 ? "The generator" : "The generators");
  std::vector<HtmlFragment> figures;
  AddFigure("generator", drawn.generator,
            "The critic's estimate of the distance between real and generated pairs.", figures);
  for (std::size_t g = 0; g < result.generated.size(); ++g) {
    const std::string& png = result.generated[g].samples;
    AddFigure(
        fmt::format("samples{}", g),
        PngAsSvg(png, DecodePng(png, "samples"), "A training drawing and others made from it"),
        fmt::format("Generator {}: in each row a training drawing, then others made from it.", g),
        figures);
  }
  body.Columns(figures);
  std::string diversities;
  for (const GeneratedDrawings& generated : result.generated) {
    if (!generated.diversity) continue;
    diversities += (diversities.empty() ? "" : ", ") + NumberText(*generated.diversity, 2);
  }
  if (diversities.empty()) return;
  body.Muted(fmt::format(
      "Diversity {}: so much do two drawings made from one differ, by different noise, in "
      "proportion to two real drawings of a class. Near 0 the noise is not used.",
      diversities));
}

// Says how weights came by their exponent.
std::string WeightsNote(const OmniglotResult& result) {
  const std::vector<double>& shares = result.config.classifier.tempered;
  if (shares.empty()) {
    return fmt::format("Weights have the exponent {}.", result.config.classifier.alpha);
  }
  if (shares.size() == 1) {
    return fmt::format("Weights are flattened until they are worth {} of the drawings.", shares[0]);
  }
  return fmt::format(
      "Weights are flattened until they are worth a share of the drawings, which validation "
      "accuracy chooses among {}; 1 is no weights at all.",
      fmt::join(shares, ", "));
}

std::string ErrorNote(const OmniglotResult& result) {
  const std::int64_t generators = result.config.generators;
  if (generators == 1) {
    return fmt::format(
        "All {} runs share one generator and its drawings, so standard errors are conditional on "
        "them: another generator may change the results by more. The field generators asks for "
        "several.",
        result.config.runs);
  }
  if (generators < result.config.runs) {
    return fmt::format(
        "{} runs share {} generators, so they are not independent and standard errors are too "
        "small.",
        result.config.runs, generators);
  }
  return "Every run has a generator of its own: standard errors are over generators as well.";
}

}  // namespace

Plot AccuracyPlot(const std::vector<OmniglotRun>& runs) {
  Plot plot{.title = "Validation accuracy, mean over runs",
            .x_label = "epoch",
            .y_label = "validation accuracy"};
  for (const TrainingData data : kAllTrainingData) {
    PlotSeries series{.label = std::string(EnumName(data))};
    for (const RunMean& mean : ValidationCurve(runs, data)) {
      series.x.push_back(static_cast<double>(series.x.size() + 1));
      series.y.push_back(mean.value);
      series.low.push_back(mean.value - mean.standard_error);
      series.high.push_back(mean.value + mean.standard_error);
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

Plot GeneratorPlot(const std::vector<GeneratedDrawings>& generated) {
  Plot plot{
      .title = "Training of the generator", .x_label = "step", .y_label = "critic's estimate"};
  for (std::size_t g = 0; g < generated.size(); ++g) {
    const TrainingHistory& history = generated[g].history;
    PlotSeries series{.label = fmt::format("generator {}", g)};
    for (std::int64_t e = 0; e < std::ssize(history.steps); ++e) {
      series.x.push_back(static_cast<double>(history.steps[static_cast<std::size_t>(e)]));
      series.y.push_back(history.Value(e, 0));
    }
    plot.series.push_back(std::move(series));
  }
  return plot;
}

std::vector<std::string> OmniglotNotes(const OmniglotResult& result) {
  const OmniglotConfig& config = result.config;
  const SplitDrawings& drawings = result.drawings;
  const TrainingHistory& history = result.runs[0].Column(TrainingData::kReal).fit().history;
  return {
      fmt::format("D_cl: {} training drawings of each of {} classes; D_g: {} of each class by the "
                  "generator, made from training drawings and labeled like them. The paper's "
                  "15/5/5 of 20 drawings cannot be; here it is {}/{}/{} for training, validation "
                  "and test.",
                  config.split.train, drawings.classes(), config.generated_per_class,
                  config.split.train, config.split.validation, config.split.test),
      fmt::format("Every column trains for the same {} steps ({} epochs of the larger set) on {} "
                  "drawings a step from each of its sets, so real drawings are seen equally often "
                  "with and without generated ones. The parameters of best validation accuracy are "
                  "tested.",
                  Count(history.steps.back()), config.classifier.epochs,
                  config.classifier.fit.training.batch),
      fmt::format(
          "Mixtures have {} of the loss from real drawings. {} They are {} in each minibatch.",
          config.classifier.mixture_weight, WeightsNote(result),
          config.classifier.fit.weights == BatchWeights::kRaw ? "taken as they are"
                                                              : "divided by their sum"),
      ErrorNote(result)};
}

std::string OmniglotPage(const OmniglotResult& result, const OmniglotFigures& figures,
                         const std::string& command) {
  HtmlFragment body;
  body.Heading(1, "Generated drawings as training data");
  body.Paragraph(
      "Does weighting generated drawings by how real they are help a classifier of characters? "
      "D_cl: real drawings; D_g: a generator's; LFIW: the generated ones weighted by the odds of a "
      "classifier of real against generated.");
  body.Tiles({AccuracyTile(result.table, TrainingData::kReal),
              AccuracyTile(result.table, TrainingData::kMixed),
              AccuracyTile(result.table, TrainingData::kMixedWeighted)});
  body.Table(AccuracyTable(result));
  body.Table(DifferenceTable(result.table));
  body.List(OmniglotNotes(result));
  std::vector<HtmlFragment> curves;
  AddFigure("accuracy", figures.accuracy, "Mean over runs; bands of one standard error.", curves);
  for (const HtmlFragment& curve : curves) body.Append(curve);
  AddWeights(result, figures, body);
  AddRanked(result, body);
  AddGenerators(result, figures, body);
  body.Heading(2, "How to run it again");
  body.Code(command);
  return HtmlPage("Generated drawings as training data", body);
}

}  // namespace lfiw::experiments
