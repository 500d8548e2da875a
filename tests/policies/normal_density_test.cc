#include "policies/normal_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lfiw {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(LogNormalCdf, EqualsValuesFromMultiplePrecision) {
  constexpr double kCases[][2] = {
      {8.0, -6.220960574314749146425429e-16}, {3.0, -0.001350809964748193798841116},
      {-1.0, -1.841021645009263505770783},    {-10.0, -53.23128515051247057834703},
      {-29.99, -454.0209613044680514686533},  {-30.01, -454.6216264978411855499971},
      {-40.0, -804.6084420137537881666068},   {-1000.0, -500007.8266948121843098062}};
  for (const auto& [z, expected] : kCases) {
    EXPECT_NEAR(LogNormalCdf(z), expected, 1e-11 * std::abs(expected)) << "z = " << z;
  }
}

TEST(LogNormalCdf, IsFiniteFarOutAndReachesItsLimits) {
  EXPECT_TRUE(std::isfinite(LogNormalCdf(-1e100)));
  EXPECT_EQ(LogNormalCdf(kInfinity), 0.0);
  EXPECT_EQ(LogNormalCdf(0.0), std::log(0.5));
}

TEST(LogCensoredDensity, TailsAndInsideSumToOne) {
  for (const double mean : {0.0, 0.3, 2.5, -4.0}) {
    for (const double scale : {0.05, 1.0, 3.0}) {
      const double low = -0.4, high = 0.7;
      constexpr int kCells = 200'000;
      const double width = (high - low) / kCells;
      double mass = std::exp(LogCensoredDensity(low, mean, scale, low, high)) +
                    std::exp(LogCensoredDensity(high, mean, scale, low, high));
      for (int i = 0; i < kCells; ++i) {
        mass +=
            width * std::exp(LogCensoredDensity(low + (i + 0.5) * width, mean, scale, low, high));
      }
      EXPECT_NEAR(mass, 1.0, 1e-8) << "mean " << mean << ", scale " << scale;
    }
  }
}

TEST(LogCensoredDensity, WithoutBoundsIsTheNormalDensity) {
  for (const double x : {-50.0, 0.0, 3.0}) {
    EXPECT_EQ(LogCensoredDensity(x, 1.0, 2.0, -kInfinity, kInfinity),
              LogNormalDensity(x, 1.0, 2.0));
  }
}

TEST(LogCensoredDensity, BoundFarInTheTailIsFinite) {
  EXPECT_NEAR(LogCensoredDensity(1.0, -99.0, 1.0, -1.0, 1.0), LogNormalCdf(-100.0), 1e-9);
}

}  // namespace
}  // namespace lfiw
