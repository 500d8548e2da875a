#include "experiments/evaluation/report_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tests/experiments/evaluation/small_report.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

std::string Summary(const Json& json) {
  const std::string html = SummarySection(JsonObject(json, "report.json")).html();
  EXPECT_EQ(MarkupFault(html), "");
  return html;
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

TEST(SummarySection, NamesThePolicyWhereThereAreSeveral) {
  Json json = SmallRun();
  EXPECT_THAT(Summary(json), HasSubstr("Estimate: lfiw"));
  json["policy"] = "brave";
  EXPECT_THAT(Summary(json), HasSubstr("brave: lfiw"));
}

TEST(SummarySection, UnlimitedHorizonAndNormalizedScaleAreWords) {
  Json json = SmallRun();
  json["estimand"] = {{"horizon", "inf"}, {"discount", 0.99}, {"scale", "normalized"}};
  EXPECT_THAT(Summary(json), HasSubstr("mean reward per step (normalized) over an unlimited "
                                       "horizon, discount 0.99"));
}

}  // namespace
}  // namespace lfiw::experiments
