#include "policies/cloning_losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

GaussianTargets Targets() {
  return {.center = VectorD{{0.25, -1.0}},
          .scale = VectorD{{0.5, 2.0}},
          .low = VectorD{{-1.0, -kUnbounded}},
          .high = VectorD{{1.0, kUnbounded}},
          .log_std_low = -3.0,
          .log_std_high = 1.5};
}

// Rows inside the bounds and at either of them.
const MatrixF kOutputs{
    {0.3f, -0.7f, 0.2f, -1.0f}, {-1.5f, 0.4f, -0.5f, 0.1f}, {2.0f, 0.1f, 0.6f, -0.3f}};
const MatrixF kActions{{0.5f, -3.0f}, {-1.0f, 0.5f}, {1.0f, 1.5f}};

template <class Loss>
void ExpectGradientOfFiniteDifferences(const MatrixF& at, const Loss& loss) {
  MatrixF gradient(at.rows(), at.cols()), scratch = gradient;
  loss(at, gradient);
  constexpr float kStep = 1e-2f;
  for (Eigen::Index i = 0; i < at.rows(); ++i) {
    for (Eigen::Index j = 0; j < at.cols(); ++j) {
      MatrixF up = at, down = at;
      up(i, j) += kStep;
      down(i, j) -= kStep;
      const double width = static_cast<double>(up(i, j) - down(i, j));
      const double expected = (loss(up, scratch) - loss(down, scratch)) / width;
      EXPECT_NEAR(gradient(i, j), expected, 1e-3 * (1.0 + std::abs(expected)))
          << "row " << i << ", output " << j;
    }
  }
}

TEST(CensoredGaussianNllTest, IsMinusTheMeanCensoredDensity) {
  MatrixF gradient(3, 4);
  const GaussianTargets how = Targets();
  double expected = 0.0;
  for (Eigen::Index i = 0; i < 3; ++i) {
    for (Eigen::Index j = 0; j < 2; ++j) {
      expected -= LogCensoredDensity(
          kActions(i, j), how.center[j] + how.scale[j] * static_cast<double>(kOutputs(i, j)),
          how.scale[j] * std::exp(static_cast<double>(kOutputs(i, 2 + j))), how.low[j],
          how.high[j]);
    }
  }
  EXPECT_NEAR(CensoredGaussianNll(kOutputs, kActions, how, gradient), expected / 3, 1e-9);
}

TEST(CensoredGaussianNllTest, GradientIsThatOfFiniteDifferences) {
  ExpectGradientOfFiniteDifferences(kOutputs, [](const MatrixF& outputs, MatrixF& gradient) {
    return CensoredGaussianNll(outputs, kActions, Targets(), gradient);
  });
}

TEST(CensoredGaussianNllTest, AClampedDeviationFollowsOnlyGradientsThatLeadBack) {
  GaussianTargets how = Targets();
  how.center.setZero();
  how.scale.setOnes();
  MatrixF gradient(1, 4);
  // far below the range, the first target is many deviations away and the second is met
  CensoredGaussianNll(MatrixF{{0.0f, 0.0f, -9.0f, -9.0f}}, MatrixF{{0.9f, 0.0f}}, how, gradient);
  EXPECT_LT(gradient(0, 2), 0.0f);
  EXPECT_EQ(gradient(0, 3), 0.0f);
}

TEST(CategoricalNllTest, IsMinusTheLogSoftmaxOfTheActionTaken) {
  MatrixF gradient(2, 3);
  const MatrixF logits{{0.0f, std::log(2.0f), std::log(5.0f)}, {500.0f, 0.0f, 0.0f}};
  const MatrixF actions{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}};
  EXPECT_NEAR(CategoricalNll(logits, actions, gradient), -std::log(5.0 / 8.0) / 2, 1e-6);
}

TEST(CategoricalNllTest, GradientIsThatOfFiniteDifferences) {
  const MatrixF actions{{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f}};
  ExpectGradientOfFiniteDifferences(MatrixF{{0.2f, -0.4f, 1.0f}, {0.3f, 0.3f, -2.0f}},
                                    [&](const MatrixF& logits, MatrixF& gradient) {
                                      return CategoricalNll(logits, actions, gradient);
                                    });
}

}  // namespace
}  // namespace lfiw::policies
