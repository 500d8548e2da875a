#include "experiments/evaluation/report_ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "experiments/evaluation/report_rows.h"
#include "experiments/presentation/number_text.h"

namespace lfiw::experiments {
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
  const std::string about =
      report.Has("policy") ? report.Text("policy") : policies.front().Text("policy");
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
        .cells = {policy.Has("page") ? HtmlCell::Link(policy.Text("policy"), policy.Text("page"))
                                     : HtmlCell(policy.Text("policy")),
                  RowName(policy), EstimateText(policy.Number("value"), policy.Number("stderr")),
                  IntervalText(policy),
                  difference ? FixedText(difference->Number("value"), decimals) : kNoNumber}};
    if (differences) row.cells.push_back(FromBestText(policy));
    if (truth) {
      row.cells.push_back(FixedText(policy.Number("truth"), decimals));
      row.cells.push_back(FixedText(policy.Number("error"), decimals));
    }
    row.cells.push_back(VerdictCell(policy.Text("verdict")));
    if (policy.Text("policy") == about) row.emphasis = HtmlEmphasis::kStrong;
    table.rows.push_back(std::move(row));
  }
  html.Table(table);
  if (differences) html.Paragraph(AlikeText(policies));
  html.Muted("This page is about " + about +
             ", all but the table above; each name there leads to "
             "the page of its policy.");
  return html;
}

}  // namespace lfiw::experiments
