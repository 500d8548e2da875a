#include "experiments/image_gof/toy_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// A panel whose classifier knows nothing: all log-ratios are 0.
ToyPanel Panel(const ToyGaussianConfig& config, std::int64_t n) {
  const auto points = static_cast<std::size_t>(config.grid.points);
  const auto size = static_cast<std::size_t>(n);
  ToyPanel panel{.curves = {.n = n,
                            .model_mean = 0.0,
                            .model_deviation = 2.0,
                            .estimate = std::vector<double>(points, 0.0),
                            .low = std::vector<double>(points, -1.0),
                            .high = std::vector<double>(points, 1.0),
                            .held_out_data = std::vector<double>(size, 0.0),
                            .held_out_model = std::vector<double>(size, 0.0)},
                 .summary = {}};
  panel.summary = SummarizeToy(config, panel.curves);
  return panel;
}

class ToyPageTest : public testing::Test {
 protected:
  ToyPageTest() {
    config_.grid.points = 5;
    panels_ = {Panel(config_, 20), Panel(config_, 30)};
  }

  ToyGaussianConfig config_;
  std::vector<ToyPanel> panels_;
};

TEST_F(ToyPageTest, TablesHaveALineForEachPanelAndOneForEachOfItsPoints) {
  const std::string csv = ToyCsv(panels_), curves = ToyCurvesCsv(config_, panels_);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + 2);
  EXPECT_EQ(std::ranges::count(curves, '\n'), 1 + 2 * 5);
  EXPECT_THAT(curves, HasSubstr("\n20,-8,"));
  EXPECT_THAT(curves, HasSubstr("\n30,8,"));
}

TEST_F(ToyPageTest, AnEstimateOfNoDifferenceIsDrawnAtOneHalfWithinItsBand) {
  const Plot plot = ToyCurvePlot(config_, panels_[0].curves);
  ASSERT_THAT(plot.series, SizeIs(2));
  EXPECT_THAT(plot.series[0].y, Each(0.5));
  EXPECT_LT(plot.series[0].low[0], 0.5);
  EXPECT_GT(plot.series[0].high[0], 0.5);
}

TEST_F(ToyPageTest, FiguresThatCouldNotBeDrawnAreLeftOut) {
  const std::string page = ToyPage(config_, panels_, {"<svg>setup</svg>", "", "<svg>two</svg>"},
                                   "lfiw run toy_gaussian.yaml");
  EXPECT_THAT(page, HasSubstr("panel0"));
  EXPECT_THAT(page, Not(HasSubstr("panel1")));
  EXPECT_THAT(page, HasSubstr("panel2"));
  EXPECT_THAT(page, HasSubstr("lfiw run toy_gaussian.yaml"));
}

}  // namespace
}  // namespace lfiw::experiments
