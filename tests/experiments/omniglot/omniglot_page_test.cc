#include "experiments/omniglot/omniglot_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/images/png.h"
#include "tests/experiments/omniglot/toy_drawings.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<OmniglotRun> TwoRuns() {
  std::vector<OmniglotRun> runs;
  for (const double accuracy : {0.5, 0.7}) {
    OmniglotRun& run = runs.emplace_back();
    for (ColumnFits& column : run.columns) {
      AugmentedFit& fit = column.tried.emplace_back();
      fit.test_accuracy = accuracy;
      fit.history = {{"loss", "held_out_loss", "held_out_accuracy"},
                     {7, 14},
                     {1.0, 1.0, 0.3, 0.5, 0.5, accuracy}};
    }
    run.ratios.weights.real = {1.0, 2.0};
    run.ratios.weights.generated = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0};
  }
  return runs;
}

class OmniglotPageTest : public testing::Test {
 protected:
  OmniglotPageTest() {
    drawings_.names[0] = "<script> & co";
    generated_.push_back({.images = HalfWrong(3),
                          .hash = "",
                          .samples = EncodePng(drawings_.images, 0),
                          .history = {{"wasserstein"}, {5, 10}, {4.0, 2.0}}});
    config_.runs = 2;
  }

  std::string Page() const {
    std::vector<OmniglotRun> runs = TwoRuns();
    OmniglotTable table = MakeTable(runs, generated_[0].images.labels, {});
    std::vector<RankedClass> ranked =
        RankDrawings(drawings_, generated_[0].images, runs[0].ratios.weights.generated, 6, 1);
    return OmniglotPage({.config = config_,
                         .drawings = drawings_,
                         .generated = generated_,
                         .runs = std::move(runs),
                         .table = std::move(table),
                         .ranked = std::move(ranked)},
                        {}, "lfiw run x.yaml");
  }

  OmniglotConfig config_;
  SplitDrawings drawings_ = ToySplit();
  std::vector<GeneratedDrawings> generated_;
};

TEST_F(OmniglotPageTest, IsWellFormedWhateverClassesAreCalled) {
  const std::string page = Page();
  EXPECT_EQ(MarkupFault(page), "");
  EXPECT_THAT(page, AllOf(HasSubstr("&lt;script&gt;"), Not(HasSubstr("<script"))));
}

TEST_F(OmniglotPageTest, ShowsThePaperBesideTheRuns) {
  EXPECT_THAT(Page(), AllOf(HasSubstr("0.6000 ± 0.1000"), HasSubstr("0.6818 ± 0.0022"),
                            HasSubstr("lfiw run x.yaml")));
}

TEST_F(OmniglotPageTest, SaysWhatTrainingAndErrorsMean) {
  EXPECT_THAT(Page(), AllOf(HasSubstr("the same 14 steps"), HasSubstr("conditional on"),
                            HasSubstr("divided by their sum"), HasSubstr("paper&#39;s 15/5/5")));
  EXPECT_THAT(Page(), HasSubstr("validation accuracy chooses among 1, 0.5, 0.2"));
  config_.classifier.tempered.clear();
  EXPECT_THAT(Page(), HasSubstr("Weights have the exponent 1."));
  config_.classifier.fit.weights = BatchWeights::kRaw;
  config_.generators = 2;
  EXPECT_THAT(Page(), AllOf(HasSubstr("taken as they are"), HasSubstr("over generators as well")));
}

TEST_F(OmniglotPageTest, EqualDifferencesHaveNoRatioToTheirError) {
  EXPECT_THAT(Page(), HasSubstr("+0.0000 ± 0.0000</td><td class=\"number\">\xE2\x80\x93"));
}

TEST(AccuracyPlot, HasALineForEachKindOfTrainingDataOverEpochs) {
  std::vector<OmniglotRun> runs(2);
  for (OmniglotRun& run : runs) {
    for (ColumnFits& column : run.columns) {
      column.tried.emplace_back().history = {{"a", "b", "c"}, {9}, {1.0, 2.0, 0.25}};
    }
  }
  const Plot plot = AccuracyPlot(runs);
  ASSERT_EQ(plot.series.size(), kAllTrainingData.size());
  EXPECT_EQ(plot.series[4].label, "D_cl + D_g w/ LFIW");
  EXPECT_THAT(plot.series[0].x, ElementsAre(1.0));
  EXPECT_THAT(plot.series[0].y, ElementsAre(0.25));
}

}  // namespace
}  // namespace lfiw::experiments
