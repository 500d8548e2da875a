#include "experiments/image_gof/gof_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "core/error.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Ne;
using ::testing::StartsWith;

ImageFeatures Samples(std::int64_t n, std::uint64_t seed, float shift) {
  return {NormalRows(n, 4, seed, shift), NormalRows(n, 10, seed + 100)};
}

// Exact log-ratios of N(0.5, I) to N(0, I) in 4 dimensions.
std::vector<double> ExactLogRatios(const MatrixF& rows) {
  std::vector<double> logs;
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    logs.push_back(0.5 * static_cast<double>(rows.row(i).sum()) - 0.5);
  }
  return logs;
}

GofMetricOptions Options() {
  GofMetricOptions options;
  options.kid_block = 500;
  options.ess_draws = 2;
  return options;
}

class MeasureFitTest : public testing::Test {
 protected:
  ImageFeatures real_ = Samples(3000, 1, 0.5f), generated_ = Samples(3000, 2, 0.0f);
  std::vector<double> logs_ = ExactLogRatios(generated_.features);
  std::vector<GofRow> rows_ = MeasureFit(real_, generated_, {.plain = logs_}, Options(), 1);
};

TEST_F(MeasureFitTest, ExactWeightsBringDistancesDownToTheReference) {
  for (const char* metric : {kFid, kKid}) {
    const double plain = *FindRow(rows_, metric, "none")->value;
    const double weighted = *FindRow(rows_, metric, "self_normalized")->value;
    const double reference = *FindRow(rows_, metric, "reference")->value;
    EXPECT_LT(weighted - reference, 0.1 * (plain - reference)) << metric;
  }
}

TEST_F(MeasureFitTest, HasEveryVariantOfEveryMetric) {
  for (const char* metric : {kInceptionScore, kFid, kKid, kBiasedRbf}) {
    EXPECT_NE(FindRow(rows_, metric, "default"), nullptr);
    EXPECT_NE(FindRow(rows_, metric, "flattened", "alpha=0.25"), nullptr);
    EXPECT_NE(FindRow(rows_, metric, "clipped", "beta=1"), nullptr);
  }
  EXPECT_EQ(FindRow(rows_, kFid, "absent"), nullptr);
}

TEST_F(MeasureFitTest, SmoothedWeightsAreARowOfTheirOwnWhereThereAreAny) {
  EXPECT_THAT(rows_, Each(Field(&GofRow::weights, Ne(kSmoothedWeights))));
  const std::vector<double> none(logs_.size(), -3.0);
  const auto rows =
      MeasureFit(real_, generated_, {.plain = logs_, .smoothed = none, .noise = 2.0}, Options(), 1);
  const GofRow* smoothed = FindRow(rows, kFid, kSmoothedWeights, "noise=2");
  ASSERT_NE(smoothed, nullptr);
  EXPECT_NEAR(*smoothed->value, *FindRow(rows, kFid, "none")->value, 1e-9) << "all weights alike";
  EXPECT_EQ(smoothed->alpha, 1.0);
}

TEST_F(MeasureFitTest, SmoothedWeightsThatAreWorthTooLittleAreFlattened) {
  std::vector<double> steep;
  for (const double log : logs_) steep.push_back(20.0 * log);
  const auto rows =
      MeasureFit(real_, generated_, {.plain = logs_, .smoothed = steep, .noise = 2.0, .share = 0.5},
                 Options(), 1);
  const GofRow* smoothed = FindRow(rows, kFid, kSmoothedWeights, "noise=2");
  ASSERT_NE(smoothed, nullptr);
  EXPECT_LT(*smoothed->alpha, 0.5);
  EXPECT_NEAR(*smoothed->ess, 1500.0, 1.0);
}

TEST_F(MeasureFitTest, FlatteningToZeroIsNoWeights) {
  for (const char* metric : {kInceptionScore, kFid, kBiasedRbf}) {
    EXPECT_NEAR(*FindRow(rows_, metric, "flattened", "alpha=0")->value,
                *FindRow(rows_, metric, "none")->value, 1e-10);
  }
}

TEST_F(MeasureFitTest, AnUnweightedFidOfAsManySamplesAsTheWeightsAreWorthIsLarger) {
  const GofRow* subset = FindRow(rows_, kFid, "none", "N = ESS");
  ASSERT_NE(subset, nullptr);
  EXPECT_EQ(static_cast<double>(subset->n),
            std::round(*FindRow(rows_, kFid, "self_normalized")->ess));
  EXPECT_TRUE(subset->standard_error);
}

TEST_F(MeasureFitTest, SurviveTheirJsonAndHaveALineOfCsvEach) {
  const std::vector<GofRow> back = RowsFromJson(RowsJson(rows_), "rows.json");
  EXPECT_EQ(RowsCsv(back), RowsCsv(rows_));
  EXPECT_THAT(RowsCsv(rows_),
              StartsWith("metric,weights,params,value,stderr,ess,alpha,n,reason\n"));
}

TEST(MeasureFit, WithoutLogitsTheScoreHasAReason) {
  ImageFeatures real = Samples(100, 1, 0.0f), generated = Samples(100, 2, 0.0f);
  real.logits.resize(100, 0);
  generated.logits.resize(100, 0);
  const auto rows =
      MeasureFit(real, generated, {.plain = std::vector<double>(100, 0.0)}, Options(), 1);
  const GofRow* score = FindRow(rows, kInceptionScore, "none");
  EXPECT_FALSE(score->value);
  EXPECT_THAT(score->reason, HasSubstr("without logits"));
  EXPECT_TRUE(FindRow(rows, kFid, "none")->value);
}

TEST(MeasureFit, AllTheWeightOnOneSampleIsAReasonNotANumber) {
  const ImageFeatures real = Samples(100, 1, 0.0f), generated = Samples(100, 2, 0.0f);
  std::vector<double> logs(100, -5000.0);
  logs[3] = 2000.0;
  const auto rows = MeasureFit(real, generated, {.plain = logs}, Options(), 1);
  EXPECT_THAT(FindRow(rows, kFid, "default")->reason, HasSubstr("not finite"));
  EXPECT_THAT(FindRow(rows, kFid, "self_normalized")->reason, HasSubstr("all the weight"));
  EXPECT_THAT(FindRow(rows, kFid, "none", "N = ESS")->reason, HasSubstr("fewer than two"));
}

}  // namespace
}  // namespace lfiw::experiments
