#include "experiments/calibration/verdict_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/rng.h"
#include "core/run/csv_text.h"
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
    if (c.Error()) errors.push_back(std::abs(*c.Error()) / c.Size());
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

constexpr std::array kTitles = {"cases",          "n",          "trust",
                                "caution",        "do not use", "wrong",
                                "median |error|", "covered",    "not widened"};

std::vector<std::string> Cells(const VerdictCount& count) {
  return {count.label,
          fmt::format("{}", count.cases),
          Percent(count.trust, count.cases),
          Percent(count.caution, count.cases),
          Percent(count.refused, count.cases),
          Percent(count.wrong, count.cases),
          fmt::format("{:.1f} %", 100.0 * count.median_error),
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

void AddTable(const CalibrationTable& table, HtmlFragment& body) {
  HtmlTable html{.caption = "What the verdict says of " + table.title};
  for (const char* title : kTitles) {
    html.columns.push_back({title, html.columns.empty() ? HtmlAlign::kText : HtmlAlign::kNumber});
  }
  for (const VerdictCount& count : table.counts) {
    HtmlRow& row = html.rows.emplace_back();
    for (std::string& cell : Cells(count)) row.cells.emplace_back(std::move(cell));
  }
  body.Table(html);
  if (table.svg.empty()) return;
  body.Figure("errors of " + table.title, table.svg,
              "Every point is one case; those above the line are wrong by more than a tenth of a "
              "return.");
}

std::string BoolCell(const std::optional<bool>& value) {
  return value ? fmt::format("{:d}", *value) : "";
}

std::string CaseLine(const JudgedCase& c, double wrong_share) {
  const CaseOutcome& o = c.outcome;
  const Evidence& e = o.evidence;
  const auto number = [](const auto& part, auto member) {
    return part ? NumberCsv(std::invoke(member, *part)) : std::string();
  };
  const std::vector<std::string> cells = {
      fmt::format("{}", c.index),
      std::string(EnumName(c.drawn.kind)),
      std::string(EnumName(c.drawn.plant)),
      NumberCsv(PlantStrength(c.drawn)),
      std::string(EnumName(c.judgement.verdict)),
      QuotedCsv(fmt::format("{}", fmt::join(c.judgement.reasons, "; "))),
      o.estimator,
      fmt::format("{}", o.horizon),
      fmt::format("{}", c.drawn.horizon),
      NumberCsv(o.value),
      NumberCsv(o.standard_error),
      NumberCsv(o.truth),
      NumberCsv(c.Error()),
      NumberCsv(c.Size()),
      c.Error() ? NumberCsv(std::abs(*c.Error()) / c.Size()) : "",
      fmt::format("{:d}", c.IsWrong(wrong_share)),
      NumberCsv(o.ci_low),
      NumberCsv(o.ci_high),
      o.interval_method,
      BoolCell(c.Covered()),
      BoolCell(c.CoveredPlainly()),
      NumberCsv(e.ess),
      NumberCsv(e.khat),
      NumberCsv(e.clamp_rate),
      NumberCsv(e.ece),
      NumberCsv(e.auc ? e.auc : e.model_auc),
      number(e.mean_weight, &MeanWeight::log_mean),
      number(e.support, &SupportCheck::outside),
      number(e.support, &SupportCheck::median_ratio),
      number(e.support, &SupportCheck::worst_quarter),
      number(e.back_test, &Backtest::Gap),
      number(e.back_test, &Backtest::Noise),
      number(e.back_test, &Backtest::ExcessShare),
      NumberCsv(e.open_loop),
      NumberCsv(e.reach),
      NumberCsv(e.uncorrected)};
  return fmt::format("{}\n", fmt::join(cells, ","));
}

}  // namespace

std::optional<double> JudgedCase::Error() const {
  if (!outcome.value) return std::nullopt;
  return *outcome.value - outcome.truth;
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
  std::string text = table.title + "\n" + FormatTextTable({kTitles.begin(), kTitles.end()}, rows);
  if (!table.has_goals) return text;
  for (const std::string& line : Goals(table.counts)) text += line + "\n";
  return text;
}

std::string CasesCsv(std::span<const JudgedCase> cases, double wrong_share) {
  std::string csv =
      "case,kind,plant,strength,verdict,reasons,estimator,H,horizon,value,stderr,truth,error,size,"
      "relative_error,wrong,ci_low,ci_high,interval_method,covered,covered_not_widened,ess,"
      "khat,clamp_rate,ece,auc,log_mean_weight,outside,median_ratio,worst_quarter,back_test_gap,"
      "back_test_noise,back_test_share,open_loop,reach,uncorrected\n";
  for (const JudgedCase& c : cases) csv += CaseLine(c, wrong_share);
  return csv;
}

Plot ErrorPlot(std::span<const JudgedCase> cases) {
  Plot plot{.title = "How wrong the estimates are",
            .x_label = "1 good, 2 doubtful, 3 support gap, 4 wrong dynamics, 5 long horizon",
            .y_label = "|error| / size of a return",
            .y_scale = PlotScale::kLog};
  // points of a kind are spread sideways so that they can be told apart
  for (const Verdict verdict : {Verdict::kTrust, Verdict::kCaution, Verdict::kDoNotUse}) {
    PlotSeries series{.label = std::string(EnumName(verdict)), .style = PlotStyle::kPoints};
    for (const JudgedCase& c : cases) {
      if (c.judgement.verdict != verdict || !c.Error()) continue;
      const auto index = static_cast<std::uint64_t>(c.index);
      series.x.push_back(1.0 + static_cast<double>(c.drawn.kind) +
                         Stream(0, "verdict plot", {index}).Uniform(-0.35, 0.35));
      series.y.push_back(std::abs(*c.Error()) / c.Size());
    }
    if (!series.x.empty()) plot.series.push_back(std::move(series));
  }
  plot.references = {{0.1, "a tenth of a return"}};
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
  for (const CalibrationTable& table : tables) AddTable(table, body);
  body.Muted(fmt::format(
      "wrong: off by more than two standard errors and more than {:.0f} % of the size of a return, "
      "the larger of |truth| and the deviation of a logged return. Median |error| in the same "
      "size. covered: the stated interval holds the truth; the last column is of the interval "
      "without the error that widens it, seen in the back-test or in the log's correction.",
      100.0 * wrong_share));
  body.Code(command);
  return HtmlPage("Calibration of the verdict", body);
}

}  // namespace lfiw::experiments
