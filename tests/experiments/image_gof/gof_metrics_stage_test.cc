#include "experiments/image_gof/gof_metrics_stage.h"

#include <gtest/gtest.h>

#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

TEST(GofMetricsStage, KeepsTheRowsOfMeasureFit) {
  SamplePair samples;
  samples.real.features = {NormalRows(80, 3, 1), MatrixF(80, 0)};
  samples.generated.features = {NormalRows(60, 3, 2, 0.5f), MatrixF(60, 0)};
  FittedWeights weights;
  weights.fit.generated.assign(60, 0.1);
  SmoothedWeights smoothed{
      .generated = std::vector<double>(60, 0.2), .noise = 0.5, .share = 0.1, .hash = "smoothed"};
  GofMetricOptions options;
  options.kid_block = 20;
  const TestDir dir;
  StageCache cache(dir.path());
  const std::vector<GofRow> kept =
      GofMetricsStage::Read(cache.Run<GofMetricsStage>({options, 3}, {samples, weights, smoothed}));
  const std::vector<GofRow> rows = MeasureFit(samples.real.features, samples.generated.features,
                                              RatiosOf(weights, smoothed), options, 3);
  EXPECT_EQ(RowsCsv(kept), RowsCsv(rows));
  EXPECT_FALSE(rows.empty());
}

}  // namespace
}  // namespace lfiw::experiments
