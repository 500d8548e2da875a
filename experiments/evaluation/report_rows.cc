#include "experiments/evaluation/report_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/error.h"
#include "experiments/presentation/number_text.h"
#include "ope/judgement/intervals.h"
#include "ope/judgement/verdict.h"

namespace lfiw::experiments {
namespace {

using Value = std::optional<double>;

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

}  // namespace

Known KnownValue(const JsonObject& report, const std::string& key) {
  const auto object = report.Object(key);
  if (!object) return {};
  return {object->Number("value"), object->Number("stderr")};
}

ShownVerdict VerdictOf(const JsonObject& report) {
  const auto verdict = report.Object("verdict");
  if (!verdict || !verdict->Has("level")) return {};
  ShownVerdict shown{
      .badge = verdict->Text("level"), .sentence = {}, .reasons = verdict->Texts("reasons")};
  if (const auto level = EnumOf<Verdict>(shown.badge)) SetTone(*level, shown);
  return shown;
}

HtmlCell VerdictCell(const std::string& words) {
  const auto level = EnumOf<Verdict>(words);
  if (!level) return words;
  ShownVerdict shown;
  SetTone(*level, shown);
  return HtmlCell::Toned(words, shown.tone);
}

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

}  // namespace lfiw::experiments
