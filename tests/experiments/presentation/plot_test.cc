#include "experiments/presentation/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "core/error.h"
#include "experiments/presentation/subprocess.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

class PlotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      RunProgram({"gnuplot", "--version"}, "", 20.0);
    } catch (const ProgramError& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

Plot Line(std::vector<double> y) {
  Plot plot{.title = "Title", .x_label = "across", .y_label = "up"};
  PlotSeries series{.label = "curve", .y = std::move(y)};
  for (std::size_t i = 0; i < series.y.size(); ++i) series.x.push_back(static_cast<double>(i));
  plot.series.push_back(series);
  return plot;
}

// The markers in an SVG: one for each drawn point of a short line, and one in the key.
std::size_t Markers(const std::string& text) {
  const std::string part = "<use xlink:href='#gpPt6' transform";
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST_F(PlotTest, EveryStyleGivesWellFormedSvgWithItsLabels) {
  Plot plot = Line({1, 2, 3, 2});
  plot.references = {{2.5, "threshold"}};
  for (const PlotStyle style : {PlotStyle::kLine, PlotStyle::kPoints, PlotStyle::kBars,
                                PlotStyle::kSteps, PlotStyle::kGuide}) {
    plot.series[0].style = style;
    plot.series[0].low = {0, 1, 2, 1};
    plot.series[0].high = {2, 3, 4, 3};
    const std::string svg = RenderSvg(plot);
    EXPECT_EQ(MarkupFault(svg), "");
    EXPECT_THAT(svg, ::testing::StartsWith("<svg class=\"lfiw-plot\""));
    for (const char* label : {"Title", "across", "up", "curve", "threshold"})
      EXPECT_THAT(svg, HasSubstr(std::string(">") + label + "<"));
  }
}

TEST_F(PlotTest, SamePlotGivesSameBytesWithoutNameOrDateOfTheProgram) {
  const std::string svg = RenderSvg(Line({1, 2, 3}));
  EXPECT_EQ(svg, RenderSvg(Line({1, 2, 3})));
  EXPECT_THAT(svg, Not(HasSubstr("GNUPLOT")));
  EXPECT_THAT(svg, Not(HasSubstr("patchlevel")));
}

TEST_F(PlotTest, HostileLabelsAreShownAsTheyAre) {
  const std::string marker = TestFile("injection");
  const std::string touch = "system(\"touch " + marker + "\")";
  Plot plot = Line({1, 2});
  plot.title = "a'; print 1; '\" \\ <script>&amp;";
  plot.x_label = "{ [ ( # x'\n" + touch + "\nset xlabel '";
  plot.y_label = "`touch " + marker + "` @term {/=40 big} ^{up} %s%n $d0";
  plot.series[0].label = "END\n" + touch + "\n\\";
  plot.references = {{1.5, "\"" + touch + "'' \xFF"}};
  const std::string svg = RenderSvg(plot);
  EXPECT_EQ(MarkupFault(svg), "");
  EXPECT_FALSE(std::filesystem::exists(marker));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("a&#39;; print 1; &#39;&quot; \\ &lt;script&gt;&amp;amp;"));
  EXPECT_THAT(svg, HasSubstr("` @term {/=40 big} ^{up} %s%n $d0<"));
  EXPECT_THAT(svg, HasSubstr(">{ [ ( # x&#39; system("));
  EXPECT_THAT(svg, HasSubstr(">END system("));
  EXPECT_THAT(svg, HasSubstr("&#39;&#39; \xEF\xBF\xBD<"));
}

TEST_F(PlotTest, PointsThatCannotBeShownLeaveAGap) {
  const std::string svg = RenderSvg(Line({1, 2, kGap, 2, 1}));
  EXPECT_EQ(MarkupFault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_EQ(Markers(svg), 4u + 1u);
}

TEST_F(PlotTest, LogAxisLeavesOutWhatIsNotPositive) {
  Plot plot = Line({100, 10, 0, -3, 1});
  plot.y_scale = PlotScale::kLog;
  plot.references = {{0.0, "never"}, {50.0, "half"}};
  const std::string svg = RenderSvg(plot);
  EXPECT_EQ(MarkupFault(svg), "");
  EXPECT_EQ(Markers(svg), 3u + 1u);
  EXPECT_THAT(svg, HasSubstr(">half<"));
  EXPECT_THAT(svg, Not(HasSubstr(">never<")));
}

TEST_F(PlotTest, ConstantSingleAndHugeValuesAreDrawn) {
  for (const std::vector<double>& y :
       {std::vector<double>{5, 5, 5}, {0}, {1e300, -1e300}, {1e-12, 2e-12}, {1e9, 1e9 + 1}}) {
    const std::string svg = RenderSvg(Line(y));
    EXPECT_EQ(MarkupFault(svg), "");
    EXPECT_EQ(Markers(svg), y.size() + 1);
  }
}

TEST_F(PlotTest, LargeNumbersOnAnAxisAreShort) {
  Plot plot = Line({0, 1});
  plot.series[0].x = {0, 1'000'000};
  EXPECT_THAT(RenderSvg(plot), HasSubstr(">0.5M<"));
  plot.series[0].x = {0, 50'000};
  EXPECT_THAT(RenderSvg(plot), HasSubstr(">30k<"));
}

TEST_F(PlotTest, SeriesWithoutAPointIsLeftOutAndTheOthersKeepTheirColor) {
  Plot plot = Line({kGap, kGap});
  plot.series.push_back(Line({1, 2}).series[0]);
  const std::string svg = RenderSvg(plot);
  EXPECT_THAT(svg, HasSubstr("rgb(213,  94,   0)"));
  EXPECT_THAT(svg, Not(HasSubstr("stroke='rgb(  0, 114, 178)'  d")));
}

TEST_F(PlotTest, AColorThatMeansSomethingDoesNotDependOnThePlaceOfItsSeries) {
  Plot plot = Line({1, 2});
  plot.series[0].color = PlotColor::kBad;
  EXPECT_THAT(RenderSvg(plot), HasSubstr("rgb(213,  94,   0)"));
  plot.series[0].color = PlotColor::kGood;
  EXPECT_THAT(RenderSvg(plot), HasSubstr("rgb(  0, 158, 115)"));
  plot.series[0].color = PlotColor::kWarning;
  EXPECT_THAT(RenderSvg(plot), HasSubstr("rgb(230, 159,   0)"));
}

TEST(RenderSvg, NothingToDrawIsAnError) {
  EXPECT_THAT([] { RenderSvg(Line({kGap})); },
              ThrowsMessage<DataError>("plot 'Title': no series has a finite point"));
  EXPECT_THROW(RenderSvg(Plot{}), DataError);
}

TEST(RenderSvg, LengthsThatDifferAreAnError) {
  Plot plot = Line({1, 2});
  plot.series[0].x.push_back(2);
  EXPECT_THAT([&] { RenderSvg(plot); },
              ThrowsMessage<DataError>(HasSubstr("series 'curve' has 3 x, 2 y")));
  plot = Line({1, 2});
  plot.series[0].low = {0, 0};
  EXPECT_THROW(RenderSvg(plot), DataError);
}

TEST(RenderSvg, MissingGnuplotIsNamed) {
  EXPECT_THAT(
      [] {
        RenderSvg(Line({1, 2}), {.gnuplot = "lfiw-no-such-program"});
      },
      ThrowsMessage<ProgramError>("lfiw-no-such-program was not found in PATH"));
}

TEST(RenderSvg, OutputThatIsNoSvgIsRefused) {
  EXPECT_THAT(
      [] {
        RenderSvg(Line({1, 2}), {.gnuplot = "true"});
      },
      ThrowsMessage<ProgramError>(HasSubstr("no SVG")));
}

}  // namespace
}  // namespace lfiw::experiments
