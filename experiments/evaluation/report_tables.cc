#include "experiments/evaluation/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "core/error.h"
#include "experiments/presentation/number_text.h"
#include "ope/judgement/intervals.h"
#include "ope/judgement/verdict.h"
#include "ope/rollouts/calibrated_model.h"
#include "ope/rollouts/rollout_estimators.h"

namespace lfiw::experiments {
namespace {

using Value = std::optional<double>;

// A value known up to its standard error.
struct Known {
  Value value;
  Value stderr_value;
};

Known KnownValue(const JsonObject& report, const std::string& key) {
  const auto object = report.Object(key);
  if (!object) return {};
  return {object->Number("value"), object->Number("stderr")};
}

// The verdict as the page shows it.
struct ShownVerdict {
  HtmlTone tone = HtmlTone::kNeutral;
  std::string badge = "no verdict";
  std::string sentence = "This run gives no verdict on how far its numbers can be trusted.";
  std::vector<std::string> reasons = {};
};

// Finds the value of an enum that has this name; nothing where none has.
template <class E>
std::optional<E> EnumOf(std::string_view name) {
  constexpr auto names = EnumNames(E{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

void SetTone(Verdict verdict, ShownVerdict& shown) {
  switch (verdict) {
    case Verdict::kTrust:
      shown.tone = HtmlTone::kGood;
      shown.sentence = "No diagnostic speaks against the estimate.";
      break;
    case Verdict::kCaution:
      shown.tone = HtmlTone::kWarning;
      shown.sentence = "The estimate may be off by more than its interval says.";
      break;
    case Verdict::kDoNotUse:
      shown.tone = HtmlTone::kBad;
      shown.sentence = "The estimate below should not be used for a decision.";
      break;
  }
}

ShownVerdict VerdictOf(const JsonObject& report) {
  const auto verdict = report.Object("verdict");
  if (!verdict || !verdict->Has("level")) return {};
  ShownVerdict shown{
      .badge = verdict->Text("level"), .sentence = {}, .reasons = verdict->Texts("reasons")};
  if (const auto level = EnumOf<Verdict>(shown.badge)) SetTone(*level, shown);
  return shown;
}

// The index of the row to state first; none when no row has a value.
std::optional<std::size_t> HeadlineIndex(const JsonObject& report,
                                         const std::vector<JsonObject>& rows) {
  if (rows.empty()) return std::nullopt;
  if (const Value given = report.Number("headline")) {
    if (*given < 0.0 || *given >= static_cast<double>(rows.size()) || *given != std::floor(*given))
      Throw<DataError>("{}: headline: found {}, expected the index of one of {} rows",
                       report.path(), *given, rows.size());
    return static_cast<std::size_t>(*given);
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].Number("value")) return i;
  return std::nullopt;
}

std::string IntervalName(const JsonObject& report) {
  const Value confidence = report.Number("confidence");
  return confidence ? NumberText(*confidence * 100.0) + " % interval" : "interval";
}

const char* WordsOf(IntervalMethod method) {
  switch (method) {
    case IntervalMethod::kMonteCarlo:
      return "varies the rollouts and classifiers, given the fitted model";
    case IntervalMethod::kClassifierBootstrap:
      return "varies the classifiers' data, given the fitted model";
    case IntervalMethod::kPipelineBootstrap:
      return "varies the episodes, with model and classifiers fitted anew";
    case IntervalMethod::kBacktest:
      return "adds the error that the same method made on the logged policy, taken as typical";
    case IntervalMethod::kMembers:
      return "adds what the members of the model disagree about";
    case IntervalMethod::kCorrection:
      return "varies the logged episodes that correct the model, and adds what weights at full "
             "power would still move and what the members of the model disagree about";
  }
  return "";
}

// Says what an interval covers, in words where its method is known.
std::string MethodText(const std::string& name) {
  const auto method = EnumOf<IntervalMethod>(name);
  return method ? fmt::format("{}: {}", name, WordsOf(*method)) : name;
}

std::string ParametersText(const JsonObject& row) {
  if (!row.Has("params")) return "";
  const std::string text = row.AnyText("params");
  if (!text.starts_with('{')) return text;
  const JsonObject params = *row.Object("params");
  std::string list;
  for (const std::string& key : params.Keys())
    list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", key, params.AnyText(key));
  return list;
}

std::string EstimatorName(const JsonObject& row) {
  return row.Has("estimator") ? row.Text("estimator") : "(unnamed)";
}

std::string RowName(const JsonObject& row) {
  const Value horizon = row.Number("horizon");
  // no line break within "H = 100"
  return EstimatorName(row) +
         (horizon ? ", H\xC2\xA0=\xC2\xA0" + NumberText(*horizon) : std::string());
}

int RowDecimals(const JsonObject& row) {
  return DecimalsFor(row.Number("value"), row.Number("stderr"));
}

std::string IntervalText(const JsonObject& row, int decimals) {
  const Value low = row.Number("ci_low"), high = row.Number("ci_high");
  if (!low || !high) return kNoNumber;
  return fmt::format("{} to {}", FixedText(low, decimals), FixedText(high, decimals));
}

std::string IntervalText(const JsonObject& row) { return IntervalText(row, RowDecimals(row)); }

std::string ValueText(const JsonObject& row) {
  const Value value = row.Number("value"), log10_value = row.Number("log10_value");
  if (!value && log10_value) return fmt::format("10^{}", FixedText(log10_value, 2));
  return FixedText(value, RowDecimals(row));
}

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
      {"Estimate: " + RowName(row), ValueText(row),
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

// The span that the interval drawings share. Values far outside the bulk do not stretch it.
struct Span {
  double low = 0.0;
  double high = 1.0;
};

Span DrawingSpan(const std::vector<JsonObject>& rows, const Value& truth) {
  std::vector<double> centers, all;
  if (truth) centers.push_back(*truth);
  for (const JsonObject& row : rows) {
    if (const Value value = row.Number("value")) centers.push_back(*value);
    for (const char* key : {"ci_low", "ci_high"})
      if (const Value end = row.Number(key)) all.push_back(*end);
  }
  if (centers.empty()) return {};
  std::sort(centers.begin(), centers.end());
  all.insert(all.end(), centers.begin(), centers.end());
  const auto [lowest, highest] = std::minmax_element(all.begin(), all.end());
  const double first = centers[centers.size() / 4], third = centers[centers.size() * 3 / 4];
  const double reach = 4.0 * (third - first);
  Span span = {*lowest, *highest};
  if (reach > 0.0) span = {std::max(span.low, first - reach), std::min(span.high, third + reach)};
  const double room = std::max(0.04 * (span.high - span.low), 1e-9 * std::abs(span.high) + 1e-12);
  return {span.low - room, span.high + room};
}

// The interval as a bar, the value as a dot and the truth as a line, 120 x 18 pixels.
std::string IntervalDrawing(const JsonObject& row, const Value& truth, const Span& span) {
  const auto x = [&](double value) {
    return std::clamp(120.0 * (value - span.low) / (span.high - span.low), 0.0, 120.0);
  };
  std::string svg = "<svg width=\"120\" height=\"18\" viewBox=\"0 0 120 18\">";
  if (truth)
    svg += fmt::format(
        "<path d=\"M{0:.1f} 0V18\" stroke=\"var(--good)\" stroke-width=\"1.5\" "
        "stroke-dasharray=\"3 2\"/>",
        x(*truth));
  const Value low = row.Number("ci_low"), high = row.Number("ci_high"), value = row.Number("value");
  if (low && high)
    svg += fmt::format(
        "<path d=\"M{:.1f} 9H{:.1f}\" stroke=\"var(--accent)\" stroke-width=\"4\" "
        "opacity=\"0.45\"/>",
        x(*low), x(*high));
  if (value && *value > span.low && *value < span.high)
    svg +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"9\" r=\"3.5\" fill=\"var(--accent)\"/>", x(*value));
  // an arrow head at the edge beyond which the value lies
  if (value && *value <= span.low) svg += "<path d=\"M7 4L1 9L7 14Z\" fill=\"var(--accent)\"/>";
  if (value && *value >= span.high)
    svg += "<path d=\"M113 4L119 9L113 14Z\" fill=\"var(--accent)\"/>";
  return svg + "</svg>";
}

std::string KhatExplanation(const JsonObject& report) {
  const auto sweep = report.Object("sweep");
  const Value threshold = sweep ? sweep->Number("khat_threshold") : std::nullopt;
  return "How heavy the tail of the weights is; reliable below " +
         (threshold ? FixedText(threshold, 2) : "0.5 to 0.7, depending on the number of rollouts");
}

HtmlTable MainTable(const JsonObject& report, const std::vector<JsonObject>& rows) {
  const Value truth = KnownValue(report, "truth").value;
  const Span span = DrawingSpan(rows, truth);
  const auto headline = HeadlineIndex(report, rows);
  const bool remarks = std::any_of(
      rows.begin(), rows.end(), [](const JsonObject& row) { return !row.Text("reason").empty(); });
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{.columns = {{"Estimator"},
                              {"H", kNumber, "Steps, from the start, that are weighted"},
                              {"Value", kNumber},
                              {"\xC2\xB1", kNumber, "One standard error"},
                              {IntervalName(report), kNumber},
                              {"", HtmlAlign::kText, "Interval (bar), value (dot), truth (dashes)"},
                              {"Error", kNumber, "Value minus truth"},
                              {"ESS", kNumber,
                               "Effective sample size: how many rollouts or "
                               "episodes carry the estimate"},
                              {"k-hat", kNumber, KhatExplanation(report)}}};
  if (remarks) table.columns.push_back({"Remark"});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const JsonObject& row = rows[i];
    const int decimals = RowDecimals(row);
    HtmlRow cells{.cells = {EstimatorName(row),
                            row.Number("horizon") ? NumberText(row.Number("horizon")) : "",
                            ValueText(row), FixedText(row.Number("stderr"), decimals),
                            IntervalText(row),
                            HtmlCell::Drawing(IntervalDrawing(row, truth, span), IntervalText(row)),
                            FixedText(row.Number("error"), decimals),
                            NumberText(row.Number("ess"), 3), FixedText(row.Number("khat"), 2)}};
    if (remarks) cells.cells.push_back(row.Text("reason"));
    if (headline == i) cells.tone = VerdictOf(report).tone;
    table.rows.push_back(std::move(cells));
  }
  return table;
}

HtmlTable DetailTable(const std::vector<JsonObject>& rows) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{.columns = {{"Estimator"},
                              {"Parameters"},
                              {"Value", kNumber},
                              {"SE within", kNumber,
                               "Part of the standard error from the rollouts or episodes"},
                              {"SE between", kNumber,
                               "Part of the standard error from one classifier to "
                               "another"},
                              {"Largest weight", kNumber, "Largest share of the total weight"},
                              {"What the interval covers"}}};
  for (const JsonObject& row : rows) {
    const int decimals = RowDecimals(row);
    table.rows.push_back(
        {{RowName(row), ParametersText(row), ValueText(row),
          FixedText(row.Number("se_within"), decimals),
          FixedText(row.Number("se_between"), decimals), NumberText(row.Number("max_weight"), 3),
          MethodText(row.Text("interval_method"))}});
  }
  return table;
}

// The rows that the paper's table compares: the plain model, and each weighting by its H.
struct PaperRows {
  std::optional<JsonObject> model;
  std::map<std::string, std::map<double, JsonObject>> weighted;  // [estimator][H]
  std::set<double, std::greater<>> horizons;                     // the largest, T, first
};

PaperRows FindPaperRows(const std::vector<JsonObject>& rows) {
  PaperRows found;
  for (const JsonObject& row : rows) {
    const Value horizon = row.Number("horizon");
    const std::string estimator = row.Text("estimator");
    const bool model = estimator == kModelEstimator || (horizon && *horizon == 0.0);
    if (model) {
      if (!found.model || estimator == kModelEstimator) found.model = row;
    } else if (horizon) {
      const std::string parameters = ParametersText(row);
      const std::string name = parameters.empty() ? estimator : estimator + " (" + parameters + ")";
      found.weighted[name].emplace(*horizon, row);
      found.horizons.insert(*horizon);
    }
  }
  return found;
}

HtmlTable PaperTable(const JsonObject& report, const PaperRows& found) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{
      .caption =
          "Value \xC2\xB1 standard error: the truth v, the model alone \xE1\xB9\xBD, "
          "and weighted over the first H steps v\xCC\x82_H.",
      .columns = {{"Weights"}, {"v (truth)", kNumber}, {"\xE1\xB9\xBD (model)", kNumber}}};
  for (const double horizon : found.horizons)
    table.columns.push_back({fmt::format("v\xCC\x82_{}", NumberText(horizon)), kNumber,
                             fmt::format("Weights of the first {} steps", NumberText(horizon))});
  const auto estimate = [](const JsonObject& row) {
    return EstimateText(row.Number("value"), row.Number("stderr"));
  };
  const Known truth = KnownValue(report, "truth");
  for (const auto& [estimator, by_horizon] : found.weighted) {
    HtmlRow row{.cells = {estimator, EstimateText(truth.value, truth.stderr_value),
                          found.model ? estimate(*found.model) : kNoNumber}};
    for (const double horizon : found.horizons) {
      const auto it = by_horizon.find(horizon);
      row.cells.push_back(it == by_horizon.end() ? kNoNumber : estimate(it->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

HtmlTable PowerTable(const JsonObject& correction) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  HtmlTable table{
      .columns = {{"Power", kNumber, "Exponent of the weights: 1 trusts them, 0 has none"},
                  {"Value \xC2\xB1 standard error", kNumber},
                  {"ESS", kNumber, "Effective logged episodes"},
                  {"Choice"}}};
  const Value power = correction.Number("power");
  for (const JsonObject& candidate : correction.Objects("candidates")) {
    const bool chosen = power && candidate.Number("power") == power;
    std::string why = chosen ? "chosen" : candidate.Text("left_out");
    if (why.empty()) {
      why = candidate.Number("power") > power ? "noisier than the chosen one"
                                              : "its interval misses that of a stronger one";
    }
    table.rows.push_back(
        {.cells = {NumberText(candidate.Number("power")),
                   EstimateText(candidate.Number("value"), candidate.Number("stderr")),
                   NumberText(candidate.Number("ess"), 3), why},
         .tone = chosen ? HtmlTone::kGood : HtmlTone::kNeutral});
  }
  return table;
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

namespace {

// Whether the log tells a policy apart from the best one; none where it is not known.
std::optional<bool> IsToldApart(const JsonObject& policy) {
  const auto difference = policy.Object("from_best");
  if (!difference) return {};
  const auto low = difference->Number("ci_low"), high = difference->Number("ci_high");
  if (!low || !high) return {};
  return *low > 0.0 || *high < 0.0;
}

std::string FromBestText(const JsonObject& policy) {
  const auto difference = policy.Object("from_best");
  return difference ? IntervalText(*difference, RowDecimals(policy)) : kNoNumber;
}

std::string AlikeText(const std::vector<JsonObject>& policies) {
  std::int64_t alike = 0;
  for (const JsonObject& policy : policies) alike += IsToldApart(policy) == false ? 1 : 0;
  if (alike == 0) return "The log tells every other policy apart from the best one.";
  return fmt::format(
      "The log does not tell the best policy from {} of the {} others: their intervals of "
      "\"best \xE2\x88\x92 this\" hold 0. Each interval is for its pair alone; pairs.csv has all "
      "pairs.",
      alike, policies.size() - 1);
}

}  // namespace

HtmlFragment RankingSection(const JsonObject& report) {
  HtmlFragment html;
  const std::vector<JsonObject> policies = report.Objects("ranking");
  if (policies.size() < 2) return html;
  html.Heading(2, "Which policy is best?");
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  const bool truth = policies.front().Number("truth").has_value();
  HtmlTable table{.columns = {{"Policy"},
                              {"Stated estimator"},
                              {"Value", kNumber},
                              {IntervalName(report), kNumber},
                              {"New \xE2\x88\x92 logged", kNumber}}};
  const bool differences = std::ranges::any_of(
      policies, [](const JsonObject& policy) { return policy.Object("from_best").has_value(); });
  if (differences) {
    table.columns.push_back(
        {"Best \xE2\x88\x92 this", kNumber,
         "Interval of the difference of this pair alone, from the models, start states and random "
         "numbers that both policies share"});
  }
  if (truth) {
    table.columns.push_back({"Truth", kNumber});
    table.columns.push_back({"Error", kNumber, "Value minus truth"});
  }
  table.columns.push_back({"Verdict"});
  for (const JsonObject& policy : policies) {
    const int decimals = RowDecimals(policy);
    const auto difference = policy.Object("difference");
    HtmlRow row{
        .cells = {policy.Text("policy"), RowName(policy),
                  EstimateText(policy.Number("value"), policy.Number("stderr")),
                  IntervalText(policy),
                  difference ? FixedText(difference->Number("value"), decimals) : kNoNumber}};
    if (differences) row.cells.push_back(FromBestText(policy));
    if (truth) {
      row.cells.push_back(FixedText(policy.Number("truth"), decimals));
      row.cells.push_back(FixedText(policy.Number("error"), decimals));
    }
    row.cells.push_back(policy.Text("verdict"));
    table.rows.push_back(std::move(row));
  }
  html.Table(table);
  if (differences) html.Paragraph(AlikeText(policies));
  html.Muted("The rest of this page is about " + policies.front().Text("policy") +
             " unless it says otherwise; the folder policies/ holds a page of each.");
  return html;
}

HtmlFragment CorrectionSection(const JsonObject& report) {
  HtmlFragment html;
  const auto correction = report.Object("doubly_robust");
  if (!correction) return html;
  html.Heading(2, "What does the log correct?");
  html.Paragraph(fmt::format(
      "dr_lfiw starts from the model's value, {}, and adds what {} logged episodes gave beyond "
      "what "
      "the model expected, step by step, weighted towards the states and actions of the evaluation "
      "policy: {}. How strongly the weights act is chosen from the log: of the powers that leave "
      "enough effective episodes, the last whose interval meets those of all stronger ones.",
      NumberText(correction->Number("model"), 4), CountText(correction->Number("episodes")),
      NumberText(correction->Number("value"), 4)));
  html.Table(PowerTable(*correction));
  for (const std::string& note : correction->Texts("notes")) html.Muted(note);
  return html;
}

HtmlFragment EstimatesSection(const JsonObject& report) {
  HtmlFragment html;
  html.Heading(2, "What do the estimators say?");
  const std::vector<JsonObject> rows = report.Objects("rows");
  if (rows.empty()) {
    html.Muted("This run holds no table of estimates.");
    return html;
  }
  html.Table(MainTable(report, rows));
  HtmlFragment details;
  details.Table(DetailTable(rows));
  html.Details("Parameters, parts of the standard error, and what the intervals cover", details);
  const PaperRows paper = FindPaperRows(rows);
  if (!paper.weighted.empty()) {
    html.Heading(3, "Model and weighted estimates side by side");
    html.Table(PaperTable(report, paper));
  }
  return html;
}

}  // namespace lfiw::experiments
