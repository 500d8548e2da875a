#include "models/activation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::models {
namespace {

double Exact(Activation activation, double x) {
  if (activation == Activation::kTanh) return std::tanh(x);
  if (activation == Activation::kRelu) return std::max(x, 0.0);
  return x / (1.0 + std::exp(-x));
}

TEST(Activate, IsTheFunctionAndItsSlopeTheDerivative) {
  using Values = Eigen::Map<Eigen::ArrayXf>;
  const Eigen::ArrayXf points = Eigen::ArrayXf::LinSpaced(38, -4.0f, 4.1f);  // not 0
  for (const Activation activation : {Activation::kSilu, Activation::kTanh, Activation::kRelu}) {
    Eigen::ArrayXf x = points, slope = points, y(points.size()), scratch;
    Activate(activation, Values(x.data(), x.size()));
    ActivateKeepingSlope(activation, Values(slope.data(), slope.size()), Values(y.data(), y.size()),
                         scratch);
    for (Eigen::Index i = 0; i < points.size(); ++i) {
      const auto at = static_cast<double>(points(i));
      EXPECT_NEAR(static_cast<double>(x(i)), Exact(activation, at), 5e-6);
      EXPECT_NEAR(static_cast<double>(y(i)), Exact(activation, at), 5e-6);
      constexpr double kStep = 1e-5;
      const double expected =
          (Exact(activation, at + kStep) - Exact(activation, at - kStep)) / (2.0 * kStep);
      EXPECT_NEAR(static_cast<double>(slope(i)), expected, 2e-5);
    }
  }
}

}  // namespace
}  // namespace lfiw::models
