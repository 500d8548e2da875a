#include "experiments/image_gof/gof_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class GofReportTest : public testing::Test {
 protected:
  GofReportTest() {
    samples_.extractor = "a network";
    samples_.real = {.paths = {"real.npz"}, .features = {MatrixF::Ones(8, 4), MatrixF(8, 0)}};
    samples_.generated = {.paths = {"made <1>.npz"},
                          .features = {MatrixF::Ones(6, 4), MatrixF(6, 0)}};
    rows_ = {{.metric = kFid, .weights = "none", .params = "", .value = 12.5, .n = 6},
             {.metric = kFid,
              .weights = "self_normalized",
              .params = "",
              .value = 11.5,
              .ess = 3.0,
              .n = 6},
             {.metric = kInceptionScore,
              .weights = "none",
              .params = "",
              .n = 6,
              .reason = "no logits"}};
    evidence_.n = 8;
    evidence_.m = 6;
    evidence_.ess = 3.0;
    judgement_.resemblance = Resemblance::kClose;
    judgement_.reasons = {"because"};
  }

  GofResult Result() const { return {config_, samples_, weights_, rows_, evidence_, judgement_}; }

  GofConfig config_;
  SamplePair samples_;
  CrossFit weights_;
  std::vector<GofRow> rows_;
  WeightEvidence evidence_;
  GofJudgement judgement_;
};

TEST_F(GofReportTest, ThePageHasVerdictMetricsReasonsAndCommand) {
  const std::string page = GofPage(Result(), {}, "lfiw gof --real real.npz");
  EXPECT_THAT(page, HasSubstr("hard to tell apart"));
  EXPECT_THAT(page, HasSubstr("12.5"));
  EXPECT_THAT(page, HasSubstr("inception_score, no weights: no logits"));
  EXPECT_THAT(page, HasSubstr("lfiw gof --real real.npz"));
  EXPECT_THAT(page, HasSubstr("made &lt;1&gt;.npz"));
  EXPECT_THAT(page, Not(HasSubstr("made <1>")));
}

TEST_F(GofReportTest, TheTilesShowSmoothedWeightsFirst) {
  EXPECT_THAT(GofPage(Result(), {}, ""), HasSubstr("11.5 with self-normalized weights"));
  rows_.push_back({.metric = kFid,
                   .weights = kSmoothedWeights,
                   .params = "noise=1",
                   .value = 7.25,
                   .ess = 5.0,
                   .alpha = 0.5,
                   .n = 6});
  judgement_.doubts = {"few samples"};
  const std::string smoothed_row = rows_.back().weights;
  rows_.back().weights = "other";
  EXPECT_THAT(GofPage(Result(), {}, ""), HasSubstr("read the row without weights"));
  rows_.back().weights = smoothed_row;
  const std::string page = GofPage(Result(), {}, "");
  EXPECT_THAT(page, HasSubstr("7.25 with smoothed weights"));
  EXPECT_THAT(page, HasSubstr("of 6; 5 with smoothed weights"));
  EXPECT_THAT(page, HasSubstr("read the smoothed one"));
  EXPECT_THAT(page, HasSubstr("LFIW smoothed, noise=1, alpha=0.5"));
}

TEST_F(GofReportTest, FewerEffectiveSamplesThanFeaturesAreSaid) {
  EXPECT_THAT(GofText(Result()), HasSubstr("worth fewer samples (3) than there are features (4)"));
  evidence_.ess = 5.0;
  EXPECT_THAT(GofText(Result()), Not(HasSubstr("worth fewer samples")));
}

TEST_F(GofReportTest, TheDocumentHoldsRowsAndVerdict) {
  const nlohmann::json document = GofJson(Result());
  EXPECT_THAT(document.at("rows"), SizeIs(3));
  EXPECT_EQ(document.at("verdict").at("resemblance"), "close");
  EXPECT_TRUE(document.at("weights").at("khat").is_null());
}

TEST(CalibrationPlot, LeavesEmptyBinsOut) {
  Calibration calibration;
  calibration.bins = {{.count = 4, .mean_probability = 0.25, .positive_fraction = 0.5},
                      {.count = 0, .mean_probability = 0.0, .positive_fraction = 0.0}};
  const Plot plot = CalibrationPlot(calibration);
  ASSERT_THAT(plot.series, SizeIs(2));
  EXPECT_THAT(plot.series[1].x, ElementsAre(0.25));
  // standard error of a share of 1/2 of four: 1/4
  EXPECT_THAT(plot.series[1].low, ElementsAre(0.25));
  EXPECT_THAT(plot.series[1].high, ElementsAre(0.75));
}

TEST(WeightPlot, SharesOfEachSetSumToOneAndTheEndsHoldWhatIsBeyond) {
  CrossFit weights;
  weights.real = {-100.0, 0.0, 0.0, 100.0};
  weights.generated = {0.0};
  const Plot plot = WeightPlot(weights);
  ASSERT_THAT(plot.series, SizeIs(2));
  for (const PlotSeries& series : plot.series) {
    EXPECT_DOUBLE_EQ(std::accumulate(series.y.begin(), series.y.end(), 0.0), 1.0);
  }
  EXPECT_DOUBLE_EQ(plot.series[0].y.front(), 0.25);
  EXPECT_DOUBLE_EQ(plot.series[0].y.back(), 0.25);
}

}  // namespace
}  // namespace lfiw::experiments
