#include "experiments/evaluation/report_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

std::vector<ReportFigure> FiguresOf(const Json& json) {
  return ReportFigures(JsonObject(json, "report.json"));
}

Json Sweep() {
  return Json::parse(R"({"sweep": {"horizon": [0, 1, 2], "n": 100, "khat_threshold": 0.5,
    "series": [{"label": "a", "value": [10, 11, null], "stderr": [1, 2, null],
                "ess": [100, 50, 25], "khat": [null, 0.2, 0.9]}]}})");
}

TEST(ReportFigures, NoDataNoFigures) { EXPECT_TRUE(FiguresOf(Json::object()).empty()); }

TEST(ReportFigures, ErrorIsTruthMinusEstimateWithItsBand) {
  Json json = Sweep();
  json["truth"] = {{"value", 12.0}};
  const ReportFigure figure = FiguresOf(json).at(0);
  EXPECT_EQ(figure.name, "error_by_horizon");
  const PlotSeries& series = figure.plot.series.at(0);
  EXPECT_EQ(series.y[0], 2.0);
  EXPECT_EQ(series.y[1], 1.0);
  EXPECT_TRUE(std::isnan(series.y[2]));
  EXPECT_EQ(series.low[1], -1.0);
  EXPECT_EQ(series.high[1], 3.0);
  EXPECT_EQ(figure.plot.references.at(0).y, 0.0);
}

TEST(ReportFigures, WithoutTruthTheEstimateItselfIsDrawn) {
  Json json = Sweep();
  for (const Json& truth : {Json(), Json{{"value", nullptr}}}) {
    json["truth"] = truth;
    const ReportFigure figure = FiguresOf(json).at(0);
    EXPECT_EQ(figure.name, "value_by_horizon");
    EXPECT_EQ(figure.plot.series.at(0).y[1], 11.0);
  }
}

TEST(ReportFigures, DiagnosticsShowTheirThresholds) {
  const std::vector<ReportFigure> figures = FiguresOf(Sweep());
  ASSERT_EQ(figures.size(), 3u);  // no max_weight in the data
  EXPECT_EQ(figures[1].name, "ess_by_horizon");
  EXPECT_EQ(figures[1].plot.y_scale, PlotScale::kLog);
  EXPECT_EQ(figures[1].plot.references.at(0).y, 100.0);
  EXPECT_EQ(figures[2].name, "khat_by_horizon");
  EXPECT_EQ(figures[2].plot.references.at(0).y, 0.5);
}

TEST(ReportFigures, LearningCurvesAreMeansWithTheirRangeAtEachStep) {
  const Json json = Json::parse(R"({"classifier_history": [
    {"index": 0, "step": [0, 10], "train": [1.0, 0.5], "validation": [1.0, null]},
    {"index": 1, "step": [0, 10, 20], "train": [3.0, 0.7, 0.6], "validation": [1.0, 2.0, 3.0]}]})");
  const Plot plot = FiguresOf(json).at(0).plot;
  const PlotSeries& train = plot.series.at(0);
  EXPECT_THAT(train.x, ElementsAre(0, 10, 20));
  EXPECT_THAT(train.y, ElementsAre(2.0, 0.6, 0.6));
  EXPECT_THAT(train.low, ElementsAre(1.0, 0.5, 0.6));
  EXPECT_THAT(train.high, ElementsAre(3.0, 0.7, 0.6));
  EXPECT_THAT(plot.series.at(1).y, ElementsAre(1.0, 2.0, 3.0));
  EXPECT_DOUBLE_EQ(plot.references.at(0).y, std::log(2.0));
}

TEST(ReportFigures, ReliabilityIsDrawnAgainstTheDiagonal) {
  const Json json = Json::parse(R"({"calibration": {"bins": [
    {"probability": 0.1, "fraction": 0.2, "count": 5},
    {"probability": 0.9, "fraction": null, "count": 0}]}})");
  const std::vector<ReportFigure> figures = FiguresOf(json);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_THAT(figures[0].plot.series.at(0).y, ElementsAre(0.2));
  EXPECT_EQ(figures[0].plot.series.at(1).style, PlotStyle::kGuide);
  EXPECT_THAT(figures[1].plot.series.at(0).y, ElementsAre(5, 0));
}

TEST(ReportFigures, SeriesOfAnotherLengthIsNamed) {
  Json json = Sweep();
  json["sweep"]["series"][0]["ess"].push_back(1);
  EXPECT_THAT(
      [&] { FiguresOf(json); },
      ThrowsMessage<DataError>("report.json: sweep.series[0].ess: found 4 entries, expected 3"));
}

}  // namespace
}  // namespace lfiw::experiments
