#include "experiments/image_gof/bias_variance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

constexpr float kShift = 0.5f;

// Features N(0, I) in 4 dimensions with the exact log-ratios of N(kShift, I), the truth.
struct Problem {
  MatrixF features = NormalRows(20'000, 4, 1);
  VectorD truth = VectorD::Constant(4, static_cast<double>(kShift));
  std::vector<double> log_weights;

  Problem() {
    for (Eigen::Index i = 0; i < features.rows(); ++i) {
      const double sum = static_cast<double>(features.row(i).sum());
      log_weights.push_back(static_cast<double>(kShift) * sum - 0.5);
    }
  }
  std::vector<BiasVariance> Measure(std::int64_t size) const {
    return MeasureBiasVariance(features, {.plain = log_weights}, truth,
                               PaperVariants(std::vector{0.0, 1.0}, std::vector{0.001}), size, 10,
                               1);
  }
};

TEST(MeasureBiasVariance, WithoutWeightsIsTheShiftAndTheVarianceOfAMean) {
  const BiasVariance none = Problem().Measure(2000)[0];
  EXPECT_EQ(none.weights, "none");
  EXPECT_EQ(none.draws, 10);
  EXPECT_NEAR(none.abs_mean_bias, 0.5, 0.02);
  EXPECT_NEAR(none.mean_abs_bias, 0.5, 0.02);
  // 1 / 2000, of which ten draws leave 9 / 10; 4 statistics of 9 degrees of freedom
  EXPECT_NEAR(none.variance, 0.9 / 2000.0, 4.0 * 0.9 / 2000.0 * std::sqrt(2.0 / 36.0));
  EXPECT_NEAR(none.mse, 0.25 + none.variance, 0.02);
}

TEST(MeasureBiasVariance, ExactWeightsTakeTheBiasAwayAndRaiseTheVariance) {
  const auto entries = Problem().Measure(2000);
  const BiasVariance& self = entries[2];
  EXPECT_EQ(self.weights, "self_normalized");
  EXPECT_LT(self.mean_abs_bias, 0.05);
  EXPECT_GT(self.variance, entries[0].variance);
  EXPECT_LT(self.mse, entries[0].mse);
}

TEST(MeasureBiasVariance, FlatteningsEndsAreNoWeightsAndTheDefault) {
  const auto entries = Problem().Measure(2000);
  EXPECT_DOUBLE_EQ(entries[3].mse, entries[0].mse);
  EXPECT_DOUBLE_EQ(entries[4].mse, entries[1].mse);
}

TEST(MeasureBiasVariance, DrawsOverlapOnlyWhereTheSamplesAreTooFew) {
  EXPECT_EQ(Problem().Measure(5000)[0].draws, 4);
  EXPECT_EQ(Problem().Measure(15'000)[0].draws, 10);
}

}  // namespace
}  // namespace lfiw::experiments
