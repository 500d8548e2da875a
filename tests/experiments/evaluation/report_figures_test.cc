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

TEST(ReportFigures, OnePlotHoldsEstimatorsTruthAndTheLoggedPolicy) {
  Json json = Sweep();
  json["truth"] = {{"value", 12.0}};
  json["behavior_value"] = {{"value", 7.0}};
  const ReportFigure figure = FiguresOf(json).at(0);
  EXPECT_EQ(figure.name, "value_by_horizon");
  ASSERT_EQ(figure.plot.series.size(), 1u);
  const PlotSeries& series = figure.plot.series[0];
  EXPECT_EQ(series.y[1], 11.0);
  EXPECT_TRUE(std::isnan(series.y[2]));
  EXPECT_EQ(series.low[1], 9.0);
  EXPECT_EQ(series.high[1], 13.0);
  ASSERT_EQ(figure.plot.references.size(), 2u);
  EXPECT_EQ(figure.plot.references[0].y, 12.0);
  EXPECT_EQ(figure.plot.references[0].label, "true value");
  EXPECT_EQ(figure.plot.references[1].y, 7.0);
}

TEST(ReportFigures, WhatHasNoHorizonIsALevelWithItsInterval) {
  Json json = Sweep();
  json["rows"] = Json::parse(R"([
    {"estimator": "model", "horizon": 0, "value": 10, "ci_low": 9, "ci_high": 11},
    {"estimator": "calibrated_model", "horizon": null, "value": 12, "ci_low": 8, "ci_high": 15}])");
  json["headline"] = 1;
  const Plot plot = FiguresOf(json).at(0).plot;
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_EQ(plot.series[1].label, "stated: calibrated_model");
  EXPECT_THAT(plot.series[1].x, ElementsAre(0, 2));
  EXPECT_THAT(plot.series[1].y, ElementsAre(12, 12));
  EXPECT_THAT(plot.series[1].low, ElementsAre(8, 8));
  EXPECT_THAT(plot.series[1].high, ElementsAre(15, 15));
  json["headline"] = 0;  // which the curves hold at H = 0
  EXPECT_EQ(FiguresOf(json).at(0).plot.series.size(), 1u);
}

TEST(ReportFigures, WithoutTruthThereIsNoLineForIt) {
  Json json = Sweep();
  for (const Json& truth : {Json(), Json{{"value", nullptr}}}) {
    json["truth"] = truth;
    EXPECT_TRUE(FiguresOf(json).at(0).plot.references.empty());
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
