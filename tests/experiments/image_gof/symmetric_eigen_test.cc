#include "experiments/image_gof/symmetric_eigen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/error.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

MatrixD RandomSymmetric(std::int64_t d) {
  const MatrixD rows = NormalRows(d, d, 1).cast<double>();
  return rows + rows.transpose();
}

TEST(SymmetricEigen, TwoByTwoHasItsClosedForm) {
  const SymmetricEigen eigen = DecomposeSymmetric(MatrixD{{2.0, 1.0}, {1.0, 2.0}});
  EXPECT_NEAR(eigen.values[0], 1.0, 1e-14);
  EXPECT_NEAR(eigen.values[1], 3.0, 1e-14);
  EXPECT_NEAR(std::abs(eigen.vectors(1, 0)), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(eigen.vectors(1, 0), eigen.vectors(1, 1), 1e-14);
}

TEST(SymmetricEigen, ValuesAndVectorsRebuildTheMatrix) {
  const MatrixD matrix = RandomSymmetric(37);
  const auto [values, vectors] = DecomposeSymmetric(matrix);
  const MatrixD rebuilt = vectors.transpose() * values.asDiagonal() * vectors;
  EXPECT_LT((rebuilt - matrix).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((vectors * vectors.transpose() - MatrixD::Identity(37, 37)).cwiseAbs().maxCoeff(),
            1e-12);
}

TEST(SymmetricEigen, TheValuesAloneAreTheSame) {
  const MatrixD matrix = RandomSymmetric(50);
  const VectorD values = SymmetricEigenvalues(matrix);
  EXPECT_LT((values - DecomposeSymmetric(matrix).values).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SymmetricEigen, AnEmptyMatrixHasNoValues) {
  EXPECT_EQ(SymmetricEigenvalues(MatrixD(0, 0)).size(), 0);
}

TEST(SymmetricEigen, WhatIsNotFiniteIsRefused) {
  MatrixD matrix = MatrixD::Identity(2, 2);
  matrix(0, 1) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { DecomposeSymmetric(matrix); },
              ThrowsMessage<NumericError>(HasSubstr("not finite")));
}

}  // namespace
}  // namespace lfiw::experiments
