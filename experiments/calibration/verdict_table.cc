#include "experiments/calibration/verdict_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/rng.h"
#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
namespace {

using Filter = std::function<bool(const JudgedCase&)>;

constexpr double kRefusedGoal = 0.95;
constexpr double kTrustedGoal = 0.90;
constexpr const char* kFailures = "all failures";
constexpr const char* kGood = "all good";

std::optional<bool> Holds(const std::optional<double>& low, const std::optional<double>& high,
                          double truth) {
  if (!low || !high) return std::nullopt;
  return *low <= truth && truth <= *high;
}

VerdictCount Count(std::span<const JudgedCase> cases, const std::string& label,
                   const Filter& filter, double wrong_share) {
  VerdictCount count{.label = label};
  std::vector<double> errors;
  for (const JudgedCase& c : cases) {
    if (!filter(c)) continue;
    ++count.cases;
    count.trust += c.judgement.verdict == Verdict::kTrust;
    count.caution += c.judgement.verdict == Verdict::kCaution;
    count.refused += c.judgement.verdict == Verdict::kDoNotUse;
    count.wrong += c.IsWrong(wrong_share);
    if (c.RelativeError()) errors.push_back(*c.RelativeError());
    if (!c.Covered()) continue;
    ++count.intervals;
    count.covered += *c.Covered();
    count.plainly_covered += c.CoveredPlainly().value_or(false);
  }
  if (!errors.empty()) count.median_error = Quantile(errors, 0.5);
  return count;
}

double Share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string Percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? kNoNumber : fmt::format("{:.1f} %", 100.0 * Share(part, whole));
}

const std::vector<std::string>& Titles() {
  static const std::vector<std::string> titles = [] {
    std::vector<std::string> all = {"cases", "n"};
    for (const std::string_view verdict : EnumNames(Verdict())) all.emplace_back(verdict);
    all.insert(all.end(), {"wrong", "median |error|", "covered", "not widened"});
    return all;
  }();
  return titles;
}

std::vector<std::string> Cells(const VerdictCount& count) {
  return {count.label,
          fmt::format("{}", count.cases),
          Percent(count.trust, count.cases),
          Percent(count.caution, count.cases),
          Percent(count.refused, count.cases),
          Percent(count.wrong, count.cases),
          count.median_error ? fmt::format("{:.1f} %", 100.0 * *count.median_error) : kNoNumber,
          Percent(count.covered, count.intervals),
          Percent(count.plainly_covered, count.intervals)};
}

const VerdictCount* Find(std::span<const VerdictCount> counts, const std::string& label) {
  const auto found = std::ranges::find(counts, label, &VerdictCount::label);
  return found == counts.end() ? nullptr : &*found;
}

std::vector<std::string> Goals(std::span<const VerdictCount> counts) {
  std::vector<std::string> lines;
  if (const VerdictCount* failures = Find(counts, kFailures)) {
    lines.push_back(fmt::format("{} of the planted failures are refused; the goal is {:.0f} %",
                                Percent(failures->refused, failures->cases), 100.0 * kRefusedGoal));
  }
  if (const VerdictCount* good = Find(counts, kGood)) {
    lines.push_back(fmt::format("{} of the good cases are trusted; the goal is {:.0f} %",
                                Percent(good->trust, good->cases), 100.0 * kTrustedGoal));
  }
  return lines;
}

bool Met(std::span<const VerdictCount> counts) {
  const VerdictCount* failures = Find(counts, kFailures);
  const VerdictCount* good = Find(counts, kGood);
  return (failures == nullptr || Share(failures->refused, failures->cases) >= kRefusedGoal) &&
         (good == nullptr || Share(good->trust, good->cases) >= kTrustedGoal);
}

// Writes a share of a return in words.
std::string ShareOfReturn(double share) {
  return fmt::format("{:.4g} % of a return", 100.0 * share);
}

void AddTable(const CalibrationTable& table, double wrong_share, HtmlFragment& body) {
  HtmlTable html{.caption = "What the verdict says of " + table.title};
  for (const std::string& title : Titles()) {
    html.columns.push_back({title, html.columns.empty() ? HtmlAlign::kText : HtmlAlign::kNumber});
  }
  for (const VerdictCount& count : table.counts) {
    HtmlRow& row = html.rows.emplace_back();
    for (std::string& cell : Cells(count)) row.cells.emplace_back(std::move(cell));
  }
  body.Table(html);
  if (table.svg.empty()) return;
  body.Figure("errors of " + table.title, table.svg,
              fmt::format("Every point is one case; those above the line are off by more than {}.",
                          ShareOfReturn(wrong_share)));
}

// Reads a number of the outcome or of its evidence.
template <class T>
auto OfOutcome(T CaseOutcome::*member) {
  return [member](const JudgedCase& c) { return c.outcome.*member; };
}

auto OfEvidence(std::optional<double> Evidence::*member) {
  return [member](const JudgedCase& c) { return c.outcome.evidence.*member; };
}

// Reads a member, or calls a member function, of a part of the evidence; nothing without the part.
template <class Part, class Member>
auto OfPart(std::optional<Part> Evidence::*part, Member member) {
  return [part, member](const JudgedCase& c) {
    const std::optional<Part>& found = c.outcome.evidence.*part;
    return found ? std::optional<double>(std::invoke(member, *found)) : std::nullopt;
  };
}

PlotColor ColorOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kTrust:
      return PlotColor::kGood;
    case Verdict::kCaution:
      return PlotColor::kWarning;
    case Verdict::kDoNotUse:
      return PlotColor::kBad;
  }
  return PlotColor::kByPlace;
}

// A line of summary.csv.
struct SummaryLine {
  const std::string& estimate;
  const VerdictCount& count;
};

auto OfCount(std::int64_t VerdictCount::*member) {
  return [member](const SummaryLine& line) { return line.count.*member; };
}

// Reads a share of the cases, or of those with an interval; nothing where there are none.
auto ShareOf(std::int64_t VerdictCount::*part, std::int64_t VerdictCount::*whole) {
  return [part, whole](const SummaryLine& line) {
    return line.count.*whole == 0 ? std::nullopt
                                  : std::optional(Share(line.count.*part, line.count.*whole));
  };
}

}  // namespace

std::optional<double> JudgedCase::Error() const {
  if (!outcome.value) return std::nullopt;
  return *outcome.value - outcome.truth;
}

std::optional<double> JudgedCase::RelativeError() const {
  if (!Error()) return std::nullopt;
  return std::abs(*Error()) / Size();
}

double JudgedCase::Size() const { return std::max(std::abs(outcome.truth), outcome.spread); }

bool JudgedCase::IsWrong(double share) const {
  if (!Error()) return true;
  const double noise = 2.0 * outcome.standard_error.value_or(0.0);
  return std::abs(*Error()) > std::max(noise, share * Size());
}

std::optional<bool> JudgedCase::Covered() const {
  return Holds(outcome.ci_low, outcome.ci_high, outcome.truth);
}

std::optional<bool> JudgedCase::CoveredPlainly() const {
  return Holds(outcome.plain_low, outcome.plain_high, outcome.truth);
}

std::vector<VerdictCount> CountVerdicts(std::span<const JudgedCase> cases, double wrong_share) {
  std::vector<VerdictCount> counts;
  const auto add = [&](const std::string& label, const Filter& filter) {
    VerdictCount count = Count(cases, label, filter, wrong_share);
    if (count.cases > 0) counts.push_back(std::move(count));
  };
  for (std::size_t p = 1; p < EnumNames(PlantedFailure{}).size(); ++p) {
    const auto plant = static_cast<PlantedFailure>(p);
    add(std::string(EnumName(plant)), [=](const JudgedCase& c) { return c.drawn.plant == plant; });
  }
  add(kFailures, [](const JudgedCase& c) { return c.failure(); });
  add(kGood, [](const JudgedCase& c) { return c.good(); });
  add("all wrong", [=](const JudgedCase& c) { return c.IsWrong(wrong_share); });
  for (const Verdict verdict : {Verdict::kTrust, Verdict::kCaution, Verdict::kDoNotUse}) {
    add(fmt::format("all \"{}\"", EnumName(verdict)),
        [=](const JudgedCase& c) { return c.judgement.verdict == verdict; });
  }
  return counts;
}

std::string CalibrationText(const CalibrationTable& table) {
  std::vector<std::vector<std::string>> rows;
  for (const VerdictCount& count : table.counts) rows.push_back(Cells(count));
  std::string text = table.title + "\n" + FormatTextTable(Titles(), rows);
  if (!table.has_goals) return text;
  for (const std::string& line : Goals(table.counts)) text += line + "\n";
  return text;
}

CsvColumns<JudgedCase> CaseColumns(double wrong_share) {
  const auto wrong = [wrong_share](const JudgedCase& c) { return c.IsWrong(wrong_share); };
  return {
      {"case", "", "number of the case", &JudgedCase::index},
      {"kind", "", "kind of the case", [](const JudgedCase& c) { return EnumName(c.drawn.kind); }},
      {"plant", "", "the planted failure or flaw",
       [](const JudgedCase& c) { return EnumName(c.drawn.plant); }},
      {"strength", "", "how strong the plant is (PlantStrength)",
       [](const JudgedCase& c) { return PlantStrength(c.drawn); }},
      {"verdict", "", "what the verdict says",
       [](const JudgedCase& c) { return EnumName(c.judgement.verdict); }},
      {"reasons", "", "why, worst first", InQuotes([](const JudgedCase& c) {
         return fmt::format("{}", fmt::join(c.judgement.reasons, "; "));
       })},
      {"estimator", "", "name of the estimator", OfOutcome(&CaseOutcome::estimator)},
      {"H", "steps", "truncation of the importance weights", OfOutcome(&CaseOutcome::horizon)},
      {"horizon", "steps", "horizon of the value",
       [](const JudgedCase& c) { return c.drawn.horizon; }},
      {"value", "return", "estimate of the policy's value", OfOutcome(&CaseOutcome::value)},
      {"stderr", "return", "standard error of value", OfOutcome(&CaseOutcome::standard_error)},
      {"truth", "return", "true value of the policy", OfOutcome(&CaseOutcome::truth)},
      {"error", "return", "value - truth", &JudgedCase::Error},
      {"size", "return", "the larger of |truth| and the standard deviation of a logged return",
       &JudgedCase::Size},
      {"relative_error", "", "|error| / size", &JudgedCase::RelativeError},
      {"wrong", "", "1: off by more than noise and the configured share of size", wrong},
      {"ci_low", "return", "lower end of the interval", OfOutcome(&CaseOutcome::ci_low)},
      {"ci_high", "return", "upper end of the interval", OfOutcome(&CaseOutcome::ci_high)},
      {"interval_method", "", "what the interval covers", OfOutcome(&CaseOutcome::interval_method)},
      {"covered", "", "1: the interval holds the truth", &JudgedCase::Covered},
      {"covered_not_widened", "", "1: so does the interval that no error seen elsewhere widens",
       &JudgedCase::CoveredPlainly},
      {"ess", "episodes", "effective sample size of the weights", OfEvidence(&Evidence::ess)},
      {"khat", "", "Pareto shape of the largest weights", OfEvidence(&Evidence::khat)},
      {"clamp_rate", "", "share of model states moved into the data's range",
       OfEvidence(&Evidence::clamp_rate)},
      {"ece", "", "expected calibration error of the classifiers", OfEvidence(&Evidence::ece)},
      {"auc", "", "area under the ROC curve of the classifiers",
       [](const JudgedCase& c) {
         const Evidence& evidence = c.outcome.evidence;
         return evidence.auc ? evidence.auc : evidence.model_auc;
       }},
      {"log_mean_weight", "nats", "log of the mean weight of the worst step",
       OfPart(&Evidence::mean_weight, &MeanWeight::log_mean)},
      {"outside", "", "share of the policy's states and actions far from the log",
       OfPart(&Evidence::support, &SupportCheck::outside)},
      {"median_ratio", "", "median distance from the log as a multiple of the log's own",
       OfPart(&Evidence::support, &SupportCheck::median_ratio)},
      {"worst_quarter", "", "outside in the worst quarter of the episode",
       OfPart(&Evidence::support, &SupportCheck::worst_quarter)},
      {"back_test_gap", "return", "what the method is off by on the logged policy",
       OfPart(&Evidence::back_test, &Backtest::Gap)},
      {"back_test_noise", "return", "standard error of back_test_gap",
       OfPart(&Evidence::back_test, &Backtest::Noise)},
      {"back_test_share", "", "back_test_gap beyond noise as a share of a return",
       OfPart(&Evidence::back_test, &Backtest::ExcessShare)},
      {"open_loop", "deviations", "largest error of states predicted under logged actions",
       OfEvidence(&Evidence::open_loop)},
      {"reach", "", "horizon / steps that enough logged episodes run",
       OfEvidence(&Evidence::reach)},
      {"influence", "", "share of the squared deviations that one episode makes up",
       OfEvidence(&Evidence::influence)},
      {"uncorrected", "return", "the model's own value beside one that the log corrects",
       OfEvidence(&Evidence::uncorrected)}};
}

std::string CasesCsv(std::span<const JudgedCase> cases, double wrong_share) {
  return CaseColumns(wrong_share).Format(cases);
}

std::string SummaryCsv(std::span<const CalibrationTable> tables) {
  using Count = VerdictCount;
  static const CsvColumns<SummaryLine> columns = {
      {"estimate", "", "which estimate is judged",
       [](const SummaryLine& line) { return line.estimate; }},
      {"cases", "", "group of cases", [](const SummaryLine& line) { return line.count.label; }},
      {"n", "", "number of cases", OfCount(&Count::cases)},
      {"trust", "", "cases that are trusted", OfCount(&Count::trust)},
      {"caution", "", "cases that call for caution", OfCount(&Count::caution)},
      {"refused", "", "cases that are not to be used", OfCount(&Count::refused)},
      {"wrong", "", "cases with a wrong estimate, or none", OfCount(&Count::wrong)},
      {"intervals", "", "cases with an interval", OfCount(&Count::intervals)},
      {"covered", "", "intervals that hold the truth", OfCount(&Count::covered)},
      {"covered_not_widened", "", "those that do without the error that widens them",
       OfCount(&Count::plainly_covered)},
      {"trust_share", "", "trust / n", ShareOf(&Count::trust, &Count::cases)},
      {"caution_share", "", "caution / n", ShareOf(&Count::caution, &Count::cases)},
      {"refused_share", "", "refused / n", ShareOf(&Count::refused, &Count::cases)},
      {"wrong_share", "", "wrong / n", ShareOf(&Count::wrong, &Count::cases)},
      {"median_error", "", "median of |error| as a share of the size of a return",
       [](const SummaryLine& line) { return line.count.median_error; }},
      {"covered_share", "", "covered / intervals", ShareOf(&Count::covered, &Count::intervals)},
      {"covered_not_widened_share", "", "covered_not_widened / intervals",
       ShareOf(&Count::plainly_covered, &Count::intervals)}};
  std::vector<SummaryLine> lines;
  for (const CalibrationTable& table : tables) {
    for (const VerdictCount& count : table.counts) lines.push_back({table.title, count});
  }
  return columns.Format(lines);
}

Plot ErrorPlot(std::span<const JudgedCase> cases, double wrong_share) {
  Plot plot{.title = "How wrong the estimates are",
            .x_label = "1 good, 2 doubtful, 3 support gap, 4 wrong dynamics, 5 long horizon",
            .y_label = "|error| / size of a return",
            .y_scale = PlotScale::kLog};
  // points of a kind are spread sideways so that they can be told apart
  for (const Verdict verdict : {Verdict::kTrust, Verdict::kCaution, Verdict::kDoNotUse}) {
    PlotSeries series{.label = std::string(EnumName(verdict)),
                      .style = PlotStyle::kPoints,
                      .color = ColorOf(verdict)};
    for (const JudgedCase& c : cases) {
      if (c.judgement.verdict != verdict || !c.Error()) continue;
      const auto index = static_cast<std::uint64_t>(c.index);
      series.x.push_back(1.0 + static_cast<double>(c.drawn.kind) +
                         Stream(0, "verdict plot", {index}).Uniform(-0.35, 0.35));
      series.y.push_back(*c.RelativeError());
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  // a logarithmic axis has no place for 0
  if (wrong_share > 0.0) plot.references = {{wrong_share, ShareOfReturn(wrong_share)}};
  return plot;
}

std::string CalibrationPage(std::span<const CalibrationTable> tables, const std::string& command,
                            double wrong_share) {
  const std::vector<VerdictCount>& first = tables.front().counts;
  HtmlFragment body;
  body.Heading(1, "How often is the verdict right?");
  body.Paragraph(
      "Random linear-Gaussian systems, whose true values are known, are evaluated as lfiw evaluate "
      "does. Some evaluations are sound; in others a failure was planted on purpose, and the first "
      "rows have a flaw that may do harm or not.");
  body.Verdict(Met(first) ? HtmlTone::kGood : HtmlTone::kBad,
               Met(first) ? "goals met" : "goals missed", "", Goals(first));
  for (const CalibrationTable& table : tables) AddTable(table, wrong_share, body);
  body.Muted(fmt::format(
      "wrong: off by more than two standard errors and by more than {}, whose size is the larger "
      "of "
      "|truth| and the standard deviation of a logged return. Median |error| is a share of the "
      "same size. covered: the stated interval holds the truth; the last column is of the interval "
      "without the error that widens it, seen in the back-test or in the log's correction.",
      ShareOfReturn(wrong_share)));
  body.Code(command);
  return HtmlPage("Calibration of the verdict", body);
}

}  // namespace lfiw::experiments
