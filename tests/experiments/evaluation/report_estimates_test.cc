#include "experiments/evaluation/report_estimates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/evaluation/small_report.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::string Estimates(const Json& json) {
  const std::string html = EstimatesSection(JsonObject(json, "report.json")).html();
  EXPECT_EQ(MarkupFault(html), "");
  return html;
}

TEST(CorrectionSection, ShowsThePowersAndWhichWasChosen) {
  Json run = SmallRun();
  EXPECT_EQ(CorrectionSection(JsonObject(run, "report.json")).html(), "");
  run["doubly_robust"] = Json::parse(R"({
    "model": 204.0, "value": 230.25, "power": 0.5, "episodes": 300,
    "candidates": [
      {"power": 1.0, "value": 260.0, "stderr": 40.0, "ess": 3.0, "left_out": "3 effective episodes"},
      {"power": 0.5, "value": 230.25, "stderr": 2.0, "ess": 120.0, "left_out": ""}],
    "notes": ["no action ratios"]})");
  const std::string html = CorrectionSection(JsonObject(run, "report.json")).html();
  EXPECT_EQ(MarkupFault(html), "");
  EXPECT_THAT(html, AllOf(HasSubstr("204"), HasSubstr("300 logged episodes"), HasSubstr("chosen"),
                          HasSubstr("3 effective episodes"), HasSubstr("no action ratios")));
  // a refused estimate chooses none
  run["doubly_robust"]["value"] = run["doubly_robust"]["power"] = nullptr;
  run["doubly_robust"]["candidates"][1]["left_out"] = "few";
  EXPECT_THAT(CorrectionSection(JsonObject(run, "report.json")).html(), Not(HasSubstr(">chosen<")));
}

TEST(EstimatesSection, RowWithoutValueGivesItsReasonAndNoNumber) {
  const std::string html = Estimates(SmallRun());
  EXPECT_THAT(html, HasSubstr("no support"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("null")));
  EXPECT_THAT(html, HasSubstr("<td>is</td><td class=\"number\"></td><td class=\"number\">"
                              "\xE2\x80\x93</td>"));
}

TEST(EstimatesSection, DrawnIntervalsSayTheirEnds) {
  const Json json = Json::parse(
      R"({"rows": [{"estimator": "a", "value": 1, "ci_low": 0.5, "ci_high": 2.25, "reason": ""}]})");
  EXPECT_THAT(Estimates(json), HasSubstr("role=\"img\" aria-label=\"interval from 0.5 to 2.25\""));
}

TEST(EstimatesSection, RemarksHaveAColumnOnlyWhereThereAreAny) {
  EXPECT_THAT(Estimates(SmallRun()), HasSubstr(">Remark<"));
  const Json json = Json::parse(R"({"rows": [{"estimator": "a", "value": 1, "reason": ""}]})");
  EXPECT_THAT(Estimates(json), Not(HasSubstr(">Remark<")));
}

TEST(EstimatesSection, ValuesBeyondDoubleAreGivenAsPowersOfTen) {
  const Json json = Json::parse(R"({"rows": [{"estimator": "is", "log10_value": 602.6642}]})");
  EXPECT_THAT(Estimates(json), HasSubstr("10^602.66"));
}

TEST(EstimatesSection, PaperTableHoldsTruthModelAndEveryHorizon) {
  const std::string html = Estimates(SmallRun());
  EXPECT_THAT(html, HasSubstr("<td>lfiw</td><td class=\"number\">241.7 \xC2\xB1 3.6</td>"
                              "<td class=\"number\">204.00 \xC2\xB1 0.80</td>"
                              "<td class=\"number\">217.8 \xC2\xB1 4.0</td>"
                              "<td class=\"number\">219.1 \xC2\xB1 1.6</td>"));
  EXPECT_THAT(html, HasSubstr("v\xCC\x82_100"));
  EXPECT_LT(html.find("v\xCC\x82_100"), html.find("v\xCC\x82_80"));
}

TEST(EstimatesSection, TheStatedRowComesFirstAndStandsOut) {
  Json json = SmallRun();
  json["headline"] = 3;
  const std::string html = Estimates(json);
  EXPECT_THAT(html, HasSubstr("<tbody>\n<tr class=\"strong\"><td>model</td>"));
  EXPECT_LT(html.find("<td>is</td>"), html.find("<td>lfiw</td>")) << "the others keep their order";
}

TEST(EstimatesSection, ErrorsHaveAColumnOnlyWhereTheTruthIsKnown) {
  Json json = SmallRun();
  EXPECT_THAT(Estimates(json), HasSubstr(">Error<"));
  json["truth"] = nullptr;
  EXPECT_THAT(Estimates(json), Not(HasSubstr(">Error<")));
}

TEST(EstimatesSection, VerdictsInRemarksHaveTheirColors) {
  Json json = SmallRun();
  json["rows"][1]["reason"] = "do not use";
  EXPECT_THAT(Estimates(json), HasSubstr("<td class=\"toned bad\">do not use</td>"));
}

// Intervals of outliers reach beyond the axis of the bulk.
TEST(EstimatesSection, IntervalsThatAreCutEndInArrowHeads) {
  Json json = SmallRun();
  EXPECT_THAT(Estimates(json), Not(HasSubstr("M113 4L119 9")));
  json["rows"][2]["ci_low"] = 210.0;
  json["rows"][2]["ci_high"] = 1e6;
  EXPECT_THAT(Estimates(json), HasSubstr("M113 4L119 9"));
}

TEST(EstimatesSection, ParametersMayBeTextOrAnObject) {
  Json json = Json::parse(R"({"rows": [{"estimator": "a", "value": 1, "params": "x=1"},
    {"estimator": "b", "value": 2, "params": {"steps": 5, "kind": "k"}}]})");
  const std::string html = Estimates(json);
  EXPECT_THAT(html, HasSubstr("<td>x=1</td>"));
  EXPECT_THAT(html, HasSubstr("<td>kind = k, steps = 5</td>"));
}

TEST(EstimatesSection, AnOutlierDoesNotSqueezeTheOtherDrawings) {
  Json json = SmallRun();
  json["rows"].push_back({{"estimator", "is"}, {"value", 1e9}, {"stderr", 1e8}});
  // the dots of model and lfiw stay apart by a good part of the 120 pixels
  const std::string html = Estimates(json);
  std::vector<double> centers;
  for (std::size_t at = html.find("cx=\""); at != std::string::npos;
       at = html.find("cx=\"", at + 1))
    centers.push_back(std::stod(html.substr(at + 4)));
  ASSERT_EQ(centers.size(), 3u);
  EXPECT_GT(centers[0] - centers[2], 10.0);
}

}  // namespace
}  // namespace lfiw::experiments
