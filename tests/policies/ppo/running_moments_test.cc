#include "policies/ppo/running_moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace lfiw::policies {
namespace {

TEST(RunningMoments, ApproachTheMomentsOfAllSamples) {
  Stream stream(4, "samples");
  RunningMoments moments(2);
  std::vector<double> x, y;
  for (int i = 0; i < 500; ++i) {
    x.push_back(5.0 + 2.0 * stream.Normal());
    y.push_back(1e4 + stream.Uniform());
    moments.Add(std::vector<double>{x.back(), y.back()});
  }
  const auto expect = [&](const std::vector<double>& values, Eigen::Index column) {
    double mean = 0.0, variance = 0.0;
    for (const double v : values) mean += v / 500.0;
    for (const double v : values) variance += (v - mean) * (v - mean) / 500.0;
    // the prior weighs as 1e-4 samples at 0
    EXPECT_NEAR(moments.mean[column], mean, 1e-6 * (1.0 + std::abs(mean)));
    EXPECT_NEAR(moments.variance[column], variance + mean * mean * 2e-7,
                1e-4 * variance + mean * mean * 1e-10);
  };
  expect(x, 0);
  expect(y, 1);
}

TEST(RunningMoments, FirstSampleHasTheMeanAndNearlyNoVariance) {
  RunningMoments moments(1);
  moments.Add(std::vector<double>{3.0});
  EXPECT_NEAR(moments.mean[0], 3.0, 1e-3);
  EXPECT_NEAR(moments.variance[0], 1e-4 * (1.0 + 9.0), 1e-6);
}

TEST(ObservationNormalizer, GivesTheClippedZScore) {
  ObservationNormalizer normalizer(3, 2.0);
  normalizer.SetStatistics(VectorD{{1.0, 0.0, 5.0}}, VectorD{{4.0, 1.0, 0.0}});
  const std::vector<float> observation = {2.0f, -9.0f, 5.0f};
  std::vector<float> normalized(3);
  normalizer.Apply(observation.data(), normalized.data());
  EXPECT_NEAR(normalized[0], 0.5f, 1e-6f);
  EXPECT_EQ(normalized[1], -2.0f);
  EXPECT_EQ(normalized[2], 0.0f) << "a constant dimension stays finite";
}

}  // namespace
}  // namespace lfiw::policies
