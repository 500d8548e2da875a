#include "experiments/evaluation/report_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

std::string Summary(const Json& json) {
  const std::string html = SummarySection(JsonObject(json, "report.json")).html();
  EXPECT_EQ(MarkupFault(html), "");
  return html;
}

std::string Estimates(const Json& json) {
  const std::string html = EstimatesSection(JsonObject(json, "report.json")).html();
  EXPECT_EQ(MarkupFault(html), "");
  return html;
}

Json SmallRun() {
  return Json::parse(R"({
    "estimand": {"horizon": 100, "discount": 1, "scale": "sum"}, "confidence": 0.95,
    "truth": {"value": 241.7, "stderr": 3.6, "episodes": 20},
    "behavior_value": {"value": 220.0, "stderr": 1.0},
    "rows": [
      {"estimator": "is", "value": null, "reason": "no support"},
      {"estimator": "lfiw", "horizon": 100, "value": 217.8, "stderr": 4.0, "ci_low": 210.0,
       "ci_high": 225.6, "interval_method": "monte_carlo", "ess": 37.2, "khat": 0.4, "error": -23.9},
      {"estimator": "lfiw", "horizon": 80, "value": 219.1, "stderr": 1.6},
      {"estimator": "model", "value": 204.0, "stderr": 0.8}]})");
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

TEST(SummarySection, EmptyRunSaysWhatIsMissing) {
  const std::string html = Summary(Json::object());
  EXPECT_THAT(html, HasSubstr("gives no verdict"));
  EXPECT_THAT(html, HasSubstr("There is no estimate"));
}

TEST(SummarySection, HoldsTheDifferenceAgainstItsOwnInterval) {
  Json run = SmallRun();
  run["difference"] = {{"value", -2.2}, {"ci_low", -12.04}, {"ci_high", 7.6}};
  EXPECT_THAT(Summary(run), HasSubstr("the difference lies in [-12.0, 7.6], so the two policies "
                                      "may be equal"));
  run["difference"]["ci_high"] = -1.0;
  EXPECT_THAT(Summary(run), HasSubstr("the difference lies in [-12.0, -1.0], which excludes 0"));
}

TEST(SummarySection, SaysHowTheMethodDoesOnTheLoggedPolicy) {
  Json run = SmallRun();
  run["back_test"] = {{"estimate", 215.0}, {"stderr", 4.0}, {"gap", -5.0}, {"noise", 4.5}};
  EXPECT_THAT(Summary(run), AllOf(HasSubstr("the same method says 215.0 \xC2\xB1 4.0, 5.0 below"),
                                  HasSubstr("within noise")));
  run["back_test"]["noise"] = 1.0;
  EXPECT_THAT(Summary(run), HasSubstr("expect an error of this size elsewhere too"));
}

TEST(SummarySection, TestsThePlainModelWhereThatIsCalibrated) {
  Json run = SmallRun();
  run["back_test"] = {{"estimate", 215.0}, {"stderr", 4.0}, {"gap", -5.0}, {"noise", 1.0}};
  run["rows"][1]["estimator"] = "calibrated_model";
  run["headline"] = 1;
  EXPECT_THAT(Summary(run), AllOf(HasSubstr("the plain model says 215.0"),
                                  HasSubstr("is what calibration takes away")));
}

TEST(RankingSection, ListsSeveralPoliciesAndIsEmptyForOne) {
  const auto html = [](const Json& run) {
    return RankingSection(JsonObject(run, "report.json")).html();
  };
  Json run = SmallRun();
  EXPECT_EQ(html(run), "");
  Json entry = run["rows"][1];
  entry["policy"] = "old & tried";
  entry["verdict"] = "caution";
  run["ranking"] = {entry, entry};
  EXPECT_THAT(html(run), AllOf(HasSubstr("old &amp; tried"), HasSubstr("caution")));
  EXPECT_EQ(MarkupFault(html(run)), "");
}

TEST(SummarySection, StatesTheFirstEstimateAgainstTruthAndBehavior) {
  const std::string html = Summary(SmallRun());
  EXPECT_THAT(html, HasSubstr("estimated at 217.8 \xC2\xB1 4.0"));
  EXPECT_THAT(html, HasSubstr("sum of rewards over 100 steps, undiscounted"));
  EXPECT_THAT(html, HasSubstr("2.2 below what the behavior policy collected in the log"));
  EXPECT_THAT(html,
              HasSubstr("the interval includes that value, so the two policies may be equal"));
  EXPECT_THAT(html, HasSubstr("23.9 too low, and its interval misses the truth"));
  EXPECT_THAT(html, HasSubstr("95 % interval"));
  EXPECT_THAT(html, HasSubstr("monte_carlo: varies the rollouts and classifiers"));
}

TEST(SummarySection, HeadlineNamesTheRowToState) {
  Json json = SmallRun();
  json["headline"] = 3;
  EXPECT_THAT(Summary(json), HasSubstr("estimated at 204.00 \xC2\xB1 0.80"));
  json["headline"] = 0;
  EXPECT_THAT(Summary(json), HasSubstr("There is no estimate: is gave no value (no support)."));
  json["headline"] = 4;
  EXPECT_THAT([&] { Summary(json); },
              ThrowsMessage<DataError>(
                  "report.json: headline: found 4, expected the index of one of 4 rows"));
}

TEST(SummarySection, UnknownTruthIsSaid) {
  Json json = SmallRun();
  json["truth"] = nullptr;
  EXPECT_THAT(Summary(json), HasSubstr("The true value is not known"));
}

TEST(SummarySection, EachVerdictHasItsColorAndReasons) {
  Json json = SmallRun();
  for (const auto& [level, tone] : {std::pair("trust", "good"), std::pair("caution", "warning"),
                                    std::pair("do not use", "bad"), std::pair("odd", "neutral")}) {
    json["verdict"] = {{"level", level}, {"reasons", {"because <x>"}}};
    const std::string html = Summary(json);
    EXPECT_THAT(html, HasSubstr(std::string("class=\"verdict ") + tone + "\""));
    EXPECT_THAT(html, HasSubstr("because &lt;x&gt;"));
  }
}

TEST(SummarySection, UnlimitedHorizonAndNormalizedScaleAreWords) {
  Json json = SmallRun();
  json["estimand"] = {{"horizon", "inf"}, {"discount", 0.99}, {"scale", "normalized"}};
  EXPECT_THAT(Summary(json), HasSubstr("mean reward per step (normalized) over an unlimited "
                                       "horizon, discount 0.99"));
}

TEST(EstimatesSection, RowWithoutValueGivesItsReasonAndNoNumber) {
  const std::string html = Estimates(SmallRun());
  EXPECT_THAT(html, HasSubstr("no support"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("null")));
  EXPECT_THAT(html, HasSubstr("<td>is</td><td class=\"number\"></td><td class=\"number\">"
                              "\xE2\x80\x93</td>"));
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
