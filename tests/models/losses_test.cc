#include "models/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "core/rng.h"

namespace lfiw::models {
namespace {

using Loss = std::function<double(ConstMatrixRef, ConstMatrixRef, MatrixRef)>;

MatrixF RandomRows(std::int64_t rows, std::int64_t cols, std::uint64_t index) {
  MatrixF out(rows, cols);
  Stream(9, "rows", {index})
      .FillNormal(std::span(out.data(), static_cast<std::size_t>(out.size())));
  return out;
}

// Central differences, step 1/64: truncation and float rounding both stay near 1e-5.
void ExpectFiniteDifferences(const Loss& loss, const MatrixF& outputs, const MatrixF& targets) {
  MatrixF gradient(outputs.rows(), outputs.cols()), scratch = gradient;
  loss(outputs, targets, gradient);
  constexpr float kStep = 0x1p-6f;
  for (Eigen::Index i = 0; i < outputs.size(); ++i) {
    MatrixF up = outputs, down = outputs;
    up.data()[i] += kStep;
    down.data()[i] -= kStep;
    const double slope = (loss(up, targets, scratch) - loss(down, targets, scratch)) /
                         (2.0 * static_cast<double>(kStep));
    EXPECT_NEAR(gradient.data()[i], slope, 1e-4) << "output " << i;
  }
}

TEST(GaussianNll, GradientEqualsFiniteDifferences) {
  MatrixF outputs = RandomRows(4, 6, 0);
  outputs(0, 3) = -14.0f;  // beyond both bounds of the log-variance
  outputs(1, 4) = 3.0f;
  MatrixF targets = RandomRows(4, 3, 1);
  targets(0, 0) = outputs(0, 0) + 0.01f;  // 1.5 standard deviations at that variance
  ExpectFiniteDifferences(GaussianNll, outputs, targets);
}

TEST(GaussianNll, EqualsTheNormalDensity) {
  MatrixF outputs(1, 2), targets(1, 1), gradient(1, 2), log_variance(1, 1);
  outputs << 0.25f, -1.0f;
  targets << 1.0f;
  SoftClampLogVariance(outputs.rightCols(1), log_variance);
  const double variance = std::exp(static_cast<double>(log_variance(0, 0)));
  const double expected =
      0.5 * (0.75 * 0.75 / variance + std::log(2.0 * std::numbers::pi * variance));
  EXPECT_NEAR(GaussianNll(outputs, targets, gradient), expected, 1e-6);
}

TEST(SoftClampLogVariance, StaysWithinItsBoundsAndNearTheIdentityBetween) {
  MatrixF raw(1, 4), log_variance(1, 4);
  raw << -1000.0f, -5.0f, -4.0f, 1000.0f;
  SoftClampLogVariance(raw, log_variance);
  EXPECT_NEAR(log_variance(0, 0), kLogVarianceLow, 1e-4);
  EXPECT_NEAR(log_variance(0, 1), -5.0f, 0.02f);
  EXPECT_NEAR(log_variance(0, 2), -4.0f, 0.02f);
  EXPECT_NEAR(log_variance(0, 3), kLogVarianceHigh, 1e-4);
}

TEST(SquaredError, GradientEqualsFiniteDifferences) {
  ExpectFiniteDifferences(SquaredError, RandomRows(3, 2, 0), RandomRows(3, 2, 1));
}

TEST(LogisticLoss, GradientEqualsFiniteDifferences) {
  MatrixF labels(4, 1);
  labels << 1.0f, 0.0f, 1.0f, 0.0f;
  ExpectFiniteDifferences(LogisticLoss, RandomRows(4, 1, 0), labels);
}

TEST(LogisticLoss, IsFiniteAndExactForHugeLogits) {
  MatrixF logits(2, 1), labels(2, 1), gradient(2, 1);
  logits << 1e6f, -1e6f;
  labels << 0.0f, 0.0f;
  EXPECT_DOUBLE_EQ(LogisticLoss(logits, labels, gradient), 5e5);
  EXPECT_EQ(gradient(0, 0), 0.5f);
  EXPECT_EQ(gradient(1, 0), 0.0f);
}

}  // namespace
}  // namespace lfiw::models
