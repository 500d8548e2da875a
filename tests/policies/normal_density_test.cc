#include "policies/normal_density.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lfiw::policies {
namespace {

constexpr double kFar = std::numeric_limits<double>::infinity();

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
  EXPECT_EQ(LogNormalCdf(kFar), 0.0);
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
    EXPECT_EQ(LogCensoredDensity(x, 1.0, 2.0, -kFar, kFar), LogNormalDensity(x, 1.0, 2.0));
  }
}

TEST(LogSquashedDensity, EqualsValuesFromMultiplePrecision) {
  constexpr double kCases[][4] = {{0.5, 0.25, 0.5, -0.1172776162651826481481},
                                  {-0.999, 1.0, 0.25, -177.6529859171823377103},
                                  {0x1p0 - 0x1p-24, 2.0, 1.0, -7.183265449578059021713},
                                  {0.0, 0.0, 2.0, -1.612085713764618051198},
                                  // ends of the range: the mass beyond atanh(1 - 2^-25)
                                  {1.0, 0.0, 1.0, -43.7276123866137816989},
                                  {1.0, 2.0, 0.5, -101.8703884773034600675},
                                  {-1.0, -12.0, 1.0, -0.00140004338716910535479}};
  for (const auto& [x, mean, scale, expected] : kCases) {
    EXPECT_NEAR(LogSquashedDensity(x, {mean, scale}, -kFar, kFar), expected,
                1e-9 * std::abs(expected))
        << "x = " << x;
  }
}

TEST(LogSquashedDensity, TailsAndInsideSumToOne) {
  for (const double mean : {0.0, 0.6, -1.5}) {
    for (const double scale : {0.3, 1.0}) {
      // clipped inside the squashed range, and range and bounds in other units
      const SquashedNormal draw{mean, scale, 0.5, 2.0};
      const double low = -1.2, high = 2.3;
      constexpr int kCells = 200'000;
      const double width = (high - low) / kCells;
      double mass = std::exp(LogSquashedDensity(low, draw, low, high)) +
                    std::exp(LogSquashedDensity(high, draw, low, high));
      for (int i = 0; i < kCells; ++i) {
        mass += width * std::exp(LogSquashedDensity(low + (i + 0.5) * width, draw, low, high));
      }
      EXPECT_NEAR(mass, 1.0, 1e-8) << "mean " << mean << ", scale " << scale;
    }
  }
}

TEST(LogSquashedDensity, IsFiniteAtTheEndsAndMinusInfinityBeyond) {
  for (const double mean : {-300.0, 0.0, 300.0}) {
    for (const double x : {-1.0, 1.0}) {
      EXPECT_TRUE(std::isfinite(LogSquashedDensity(x, {mean, 0.01}, -1.0, 1.0)));
    }
  }
  EXPECT_EQ(LogSquashedDensity(1.5, {0.0, 1.0}, -2.0, 2.0), -kFar);
  EXPECT_EQ(LogSquashedDensity(0.5, {0.0, 1.0, 0.0, 0.4}, -1.0, 1.0), -kFar);
  // what rounding in float adds is no other action
  const double end = 0.4f;
  EXPECT_TRUE(std::isfinite(LogSquashedDensity(end * (1.0 + 1e-7), {0.0, 1.0, 0.0, end}, -1, 1)));
}

TEST(LogSquashedDensity, FallsTowardsTheEndWhereTheDrawIsNarrow) {
  double before = kFar;
  for (double x = std::tanh(0.25); x < 0.999; x += 1e-3) {
    const double density = LogSquashedDensity(x, {0.2, 0.1}, -1.0, 1.0);
    EXPECT_LT(density, before) << "x = " << x;
    before = density;
  }
}

TEST(LogCensoredDensity, BoundFarInTheTailIsFinite) {
  EXPECT_NEAR(LogCensoredDensity(1.0, -99.0, 1.0, -1.0, 1.0), LogNormalCdf(-100.0), 1e-9);
}

}  // namespace
}  // namespace lfiw::policies
