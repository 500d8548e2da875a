#include "experiments/image_gof/resampled_density.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

TEST(MeasureDensity, EqualsTheSumByHand) {
  // Z = (1 + 3) / 2, with a standard error of 1, so log Z = log 2 +- 1 / 2
  const LogPartition partition = EstimateLogPartition(std::vector{0.0, std::log(3.0)});
  const DensityRow row =
      MeasureDensity("m", std::vector{-10.0, -14.0}, std::vector{1.0, 0.0}, partition, 2);
  const double nat = 1.0 / (2.0 * std::numbers::ln2);  // in bits per dimension
  EXPECT_EQ(row.images, 2);
  EXPECT_NEAR(row.bits, 12.0 * nat, 1e-12);
  EXPECT_NEAR(*row.bits_error, 2.0 * nat, 1e-12);
  EXPECT_NEAR(row.resampled_bits, (11.5 + std::numbers::ln2) * nat, 1e-12);
  EXPECT_NEAR(*row.resampled_error, std::hypot(2.5, 0.5) * nat, 1e-12);
  EXPECT_NEAR(row.gain, 0.5 - std::numbers::ln2, 1e-12);
  EXPECT_NEAR(*row.gain_error, std::hypot(0.5, 0.5), 1e-12);
}

TEST(MeasureDensity, WithExactWeightsIsTheDensityOfTheData) {
  // the model has (1/2, 1/4, 1/4), the data (1/5, 2/5, 2/5); samples in the model's shares
  const std::vector<double> model = {0.5, 0.25, 0.25}, data = {0.2, 0.4, 0.4};
  std::vector<double> log_model, log_weights;
  double data_bits = 0.0;
  for (std::size_t i = 0; i < 3; ++i) {
    log_model.push_back(std::log(model[i]));
    log_weights.push_back(std::log(data[i] / model[i]));
    data_bits -= std::log2(data[i]) / 3.0;
  }
  const LogPartition partition = EstimateLogPartition(
      std::vector{log_weights[0], log_weights[0], log_weights[1], log_weights[2]});
  EXPECT_NEAR(MeasureDensity("m", log_model, log_weights, partition, 1).resampled_bits, data_bits,
              1e-12);
}

TEST(MeasureDensity, TheScaleOfWeightsCancels) {
  const std::vector<double> densities = {-3.0, -5.0}, weights = {0.2, -0.7}, scaled = {5.2, 4.3};
  const DensityRow row =
      MeasureDensity("m", densities, weights, EstimateLogPartition(std::vector{0.1, -1.0}), 3);
  const DensityRow same =
      MeasureDensity("m", densities, scaled, EstimateLogPartition(std::vector{5.1, 4.0}), 3);
  EXPECT_NEAR(row.resampled_bits, same.resampled_bits, 1e-12);
  EXPECT_NEAR(*row.gain_error, *same.gain_error, 1e-12);
}

TEST(MeasureDensity, OfOneImageHasNoStandardError) {
  const LogPartition partition = EstimateLogPartition(std::vector{0.0, 0.0});
  const DensityRow row = MeasureDensity("m", std::vector{-1.0}, std::vector{0.0}, partition, 1);
  EXPECT_FALSE(row.bits_error || row.resampled_error || row.gain_error);
  EXPECT_THAT(DensityCsv(std::vector{row}), HasSubstr("\"m\",1,"));
}

TEST(DensityLines, SayThatZIsEstimated) {
  const LogPartition partition = EstimateLogPartition(std::vector{0.0, 0.5});
  const auto lines = DensityLines(
      MeasureDensity("m", std::vector{-1.0, -2.0}, std::vector{0.0, 1.0}, partition, 1));
  EXPECT_THAT(lines.back(), HasSubstr("Z is not known but estimated"));
}

}  // namespace
}  // namespace lfiw::experiments
