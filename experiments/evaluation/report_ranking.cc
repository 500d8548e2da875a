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

// Which columns the table of policies has beside those that it always has.
struct RankingColumns {
  bool differences;  // to the best policy
  bool truth;

  static RankingColumns Of(const std::vector<JsonObject>& policies) {
    return {.differences = std::ranges::any_of(
                policies,
                [](const JsonObject& policy) { return policy.Object("from_best").has_value(); }),
            .truth = policies.front().Number("truth").has_value()};
  }
};

std::vector<HtmlColumn> TitlesOf(const RankingColumns& columns, const std::string& interval) {
  constexpr HtmlAlign kNumber = HtmlAlign::kNumber;
  std::vector<HtmlColumn> titles = {{"Policy"},
                                    {"Stated estimator"},
                                    {"Value", kNumber},
                                    {interval, kNumber},
                                    {"New \xE2\x88\x92 logged", kNumber}};
  if (columns.differences) {
    titles.push_back(
        {"Best \xE2\x88\x92 this", kNumber,
         "Interval of the difference of this pair alone, from the models, start states and random "
         "numbers that both policies share"});
  }
  if (columns.truth) {
    titles.push_back({"Truth", kNumber});
    titles.push_back({"Error", kNumber, "Value minus truth"});
  }
  titles.push_back({"Verdict"});
  return titles;
}

HtmlRow RankingRow(const JsonObject& policy, const RankingColumns& columns) {
  const int decimals = RowDecimals(policy);
  const auto difference = policy.Object("difference");
  HtmlRow row{
      .cells = {policy.Has("page") ? HtmlCell::Link(policy.Text("policy"), policy.Text("page"))
                                   : HtmlCell(policy.Text("policy")),
                RowName(policy), EstimateText(policy.Number("value"), policy.Number("stderr")),
                IntervalText(policy),
                difference ? FixedText(difference->Number("value"), decimals) : kNoNumber}};
  if (columns.differences) row.cells.push_back(FromBestText(policy));
  if (columns.truth) {
    row.cells.push_back(FixedText(policy.Number("truth"), decimals));
    row.cells.push_back(FixedText(policy.Number("error"), decimals));
  }
  row.cells.push_back(VerdictCell(policy.Text("verdict")));
  return row;
}

}  // namespace

HtmlFragment RankingSection(const JsonObject& report) {
  HtmlFragment html;
  const std::vector<JsonObject> policies = report.Objects("ranking");
  if (policies.size() < 2) return html;
  html.Heading(2, "Which policy is best?");
  const std::string about =
      report.Has("policy") ? report.Text("policy") : policies.front().Text("policy");
  const RankingColumns columns = RankingColumns::Of(policies);
  HtmlTable table{.columns = TitlesOf(columns, IntervalName(report))};
  for (const JsonObject& policy : policies) {
    table.rows.push_back(RankingRow(policy, columns));
    if (policy.Text("policy") == about) table.rows.back().emphasis = HtmlEmphasis::kStrong;
  }
  html.Table(table);
  if (columns.differences) html.Paragraph(AlikeText(policies));
  html.Muted("This page is about " + about +
             ", all but the table above; each name there leads to "
             "the page of its policy.");
  return html;
}

}  // namespace lfiw::experiments
