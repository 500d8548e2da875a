#include "experiments/evaluation/report_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "experiments/evaluation/report_rows.h"
#include "experiments/presentation/number_text.h"
#include "ope/rollouts/calibrated_model.h"

namespace lfiw::experiments {
namespace {

using Value = std::optional<double>;

std::string EstimandText(const JsonObject& report) {
  const auto estimand = report.Object("estimand");
  if (!estimand) return "";
  const Value discount = estimand->Number("discount");
  const bool unlimited = estimand->AnyText("horizon") == "inf";
  const Value horizon = unlimited ? Value() : estimand->Number("horizon");
  std::string text = estimand->Text("scale") == "normalized" ? "mean reward per step (normalized)"
                                                             : "sum of rewards";
  if (horizon) text += fmt::format(" over {} steps", CountText(horizon));
  if (unlimited) text += " over an unlimited horizon";
  if (discount) text += *discount == 1.0 ? ", undiscounted" : ", discount " + NumberText(discount);
  return text;
}

enum class Coverage { kNoInterval, kInside, kOutside };

Coverage CoverageOf(const JsonObject& row, double known) {
  const Value low = row.Number("ci_low"), high = row.Number("ci_high");
  if (!low || !high) return Coverage::kNoInterval;
  return known >= *low && known <= *high ? Coverage::kInside : Coverage::kOutside;
}

std::string BehaviorSentence(const JsonObject& report, const Known& behavior,
                             const JsonObject& row) {
  const double difference = *row.Number("value") - *behavior.value;
  std::string sentence = fmt::format(
      "That is {} {} what the behavior policy collected in the log, {}",
      FixedText(std::abs(difference), RowDecimals(row)), difference >= 0.0 ? "above" : "below",
      EstimateText(behavior.value, behavior.stderr_value));
  // the log's own uncertainty counts where the difference has an interval
  const auto given = report.Object("difference");
  const Coverage coverage = given ? CoverageOf(*given, 0.0) : CoverageOf(row, *behavior.value);
  if (given && coverage != Coverage::kNoInterval) {
    sentence += fmt::format("; the difference lies in [{}, {}]",
                            FixedText(given->Number("ci_low"), RowDecimals(row)),
                            FixedText(given->Number("ci_high"), RowDecimals(row)));
    return sentence + (coverage == Coverage::kInside ? ", so the two policies may be equal."
                                                     : ", which excludes 0.");
  }
  switch (coverage) {
    case Coverage::kInside:
      return sentence + "; the interval includes that value, so the two policies may be equal.";
    case Coverage::kOutside:
      return sentence + "; the interval excludes that value.";
    case Coverage::kNoInterval:
      break;
  }
  return sentence + ".";
}

std::string TruthSentence(const Known& truth, const JsonObject& row) {
  const double error = *row.Number("value") - *truth.value;
  std::string sentence =
      fmt::format("The true value is known here, {}: the estimate is {} too {}",
                  EstimateText(truth.value, truth.stderr_value),
                  FixedText(std::abs(error), RowDecimals(row)), error >= 0.0 ? "high" : "low");
  switch (CoverageOf(row, *truth.value)) {
    case Coverage::kInside:
      return sentence + ", and its interval covers the truth.";
    case Coverage::kOutside:
      return sentence + ", and its interval misses the truth.";
    case Coverage::kNoInterval:
      break;
  }
  return sentence + ".";
}

// `row` is the estimate stated first. Of a calibrated model the plain one is tested, whose error
// for the logged policy calibration takes away.
std::string BacktestSentence(const JsonObject& test, const JsonObject& row) {
  const Value gap = test.Number("gap"), noise = test.Number("noise");
  const bool calibrated = row.Text("estimator") == kCalibratedModel;
  std::string sentence = fmt::format("Back-test: for the policy that wrote the log, the {} says {}",
                                     calibrated ? "plain model" : "same method",
                                     EstimateText(test.Number("estimate"), test.Number("stderr")));
  if (!gap) return sentence + ".";
  const int decimals = DecimalsFor(test.Number("estimate"), test.Number("stderr"));
  sentence += fmt::format(", {} {} what the log holds", FixedText(std::abs(*gap), decimals),
                          *gap >= 0.0 ? "above" : "below");
  if (noise && std::abs(*gap) <= 2.0 * *noise) return sentence + ", which is within noise.";
  return sentence + (calibrated ? ", which is more than noise and is what calibration takes away."
                                : ", which is more than noise: expect an error of this size "
                                  "elsewhere too.");
}

void AddHeadlineSentences(const JsonObject& report, const JsonObject& row, HtmlFragment& html) {
  std::string sentence = "The value of the evaluation policy is estimated at " +
                         EstimateText(row.Number("value"), row.Number("stderr"));
  if (row.Number("stderr")) sentence += " (one standard error)";
  const std::string estimand = EstimandText(report);
  if (!estimand.empty()) sentence += "; it is the " + estimand;
  html.Paragraph(sentence + ".");

  const Known behavior = KnownValue(report, "behavior_value");
  if (behavior.value) html.Paragraph(BehaviorSentence(report, behavior, row));
  if (const auto test = report.Object("back_test")) html.Paragraph(BacktestSentence(*test, row));
  const Known truth = KnownValue(report, "truth");
  if (truth.value) {
    html.Paragraph(TruthSentence(truth, row));
  } else {
    html.Muted(
        "The true value is not known: the evaluation policy was not run in the real environment, "
        "so the error of these estimates is not known either.");
  }
}

std::vector<HtmlTile> Tiles(const JsonObject& report, const JsonObject& row) {
  std::vector<HtmlTile> tiles = {
      {report.Has("policy") ? fmt::format("{}: {}", report.Text("policy"), RowName(row))
                            : "Estimate: " + RowName(row),
       ValueText(row),
       row.Number("stderr") ? "\xC2\xB1 " + FixedText(row.Number("stderr"), RowDecimals(row))
                            : "no standard error"}};
  if (row.Number("ci_low") && row.Number("ci_high"))
    tiles.push_back(
        {IntervalName(report), IntervalText(row), MethodText(row.Text("interval_method"))});
  const auto add = [&](const std::string& label, const Known& known, const std::string& note) {
    if (!known.value) return;
    const int decimals = DecimalsFor(known.value, known.stderr_value);
    const std::string spread =
        known.stderr_value ? "\xC2\xB1 " + FixedText(known.stderr_value, decimals) : "";
    tiles.push_back({label, FixedText(known.value, decimals),
                     spread + (spread.empty() || note.empty() ? "" : ", ") + note});
  };
  const auto truth = report.Object("truth");
  const Value episodes = truth ? truth->Number("episodes") : std::nullopt;
  add("True value", KnownValue(report, "truth"),
      episodes ? CountText(episodes) + " real episodes" : "");
  add("Behavior policy", KnownValue(report, "behavior_value"), "in the log");
  return tiles;
}

}  // namespace

HtmlFragment SummarySection(const JsonObject& report) {
  HtmlFragment html;
  const ShownVerdict verdict = VerdictOf(report);
  html.Verdict(verdict.tone, verdict.badge, verdict.sentence, verdict.reasons);
  const std::vector<JsonObject> rows = report.Objects("rows");
  const auto headline = HeadlineIndex(report, rows);
  if (!headline) {
    html.Muted("There is no estimate: no estimator of this run gave a value.");
  } else if (!rows[*headline].Number("value")) {
    html.Muted(fmt::format("There is no estimate: {} gave no value ({}).", RowName(rows[*headline]),
                           !rows[*headline].Text("reason").empty() ? rows[*headline].Text("reason")
                                                                   : "no reason is given"));
  } else {
    html.Tiles(Tiles(report, rows[*headline]));
    AddHeadlineSentences(report, rows[*headline], html);
  }
  return html;
}

}  // namespace lfiw::experiments
