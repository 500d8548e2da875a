#include "ope/fits/fourier_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;

// Standard normal rows.
MatrixF Rows(std::int64_t n, std::int64_t dim) {
  MatrixF rows(n, dim);
  Stream stream(3, "rows");
  stream.FillNormal(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
  return rows;
}

MatrixF Apply(const FeatureMap& map, const MatrixF& rows, const std::vector<std::int64_t>& steps) {
  MatrixF out(rows.rows(), map.size());
  map.Apply(rows, steps, out);
  return out;
}

TEST(FourierFeatures, MultiplyToTheGaussianKernel) {
  const MatrixF rows = Rows(200, 3);
  FourierOptions options;
  options.features = 10'000;
  options.polynomial = PolynomialTerms::kConstant;
  const FourierFeatures map(rows, 1, options, Stream(1, "features"));
  const Scaler scaler = Scaler::Fit(rows);
  MatrixF scaled(rows.rows(), 3);
  scaler.Scale(rows, scaled);
  const MatrixF features =
      Apply(map, rows, std::vector<std::int64_t>(200, 0)).rightCols(options.features);
  // each of D terms has variance below 1 / 2: five deviations of their mean, times 2
  const double bound = 5.0 / std::sqrt(0.5 * 10'000);
  for (Eigen::Index i = 1; i < rows.rows(); ++i) {
    const double distance = static_cast<double>((scaled.row(0) - scaled.row(i)).norm());
    const double kernel = std::exp(-0.5 * std::pow(distance / map.length_scale(), 2));
    EXPECT_NEAR(static_cast<double>(features.row(0).dot(features.row(i))), kernel, bound);
  }
}

TEST(FourierFeatures, TakeTheirLengthFromTheMedianDistance) {
  // of normal rows in d dimensions squared distances are 2 chi^2_d, of median 2 d (1 - 2 / 9d)^3
  FourierOptions options;
  options.length_scale = 0.5;
  const FourierFeatures map(Rows(2000, 10), 1, options, Stream(1, "features"));
  EXPECT_NEAR(map.length_scale(), 0.5 * std::sqrt(20.0 * std::pow(1.0 - 2.0 / 90.0, 3)), 0.1);
}

TEST(FourierFeatures, HaveConstantLinearAndQuadraticTermsOfScaledInputs) {
  // mean 0 and deviation 1; the second input is constant and left out; t runs over -sqrt(3) ..
  // sqrt(3)
  const MatrixF rows{{-1.0f, 5.0f}, {1.0f, 5.0f}};
  FourierOptions options;
  options.features = 0;
  options.polynomial = PolynomialTerms::kQuadratic;
  const FourierFeatures map(rows, 3, options, Stream(1, "features"));
  const auto root = static_cast<float>(std::numbers::sqrt3);
  const MatrixF features = Apply(map, rows, {0, 2});
  ASSERT_EQ(features.cols(), 6);
  const MatrixF expected{{1.0f, -1.0f, -root, 1.0f, root, 3.0f},
                         {1.0f, 1.0f, root, 1.0f, root, 3.0f}};
  EXPECT_LT((features - expected).cwiseAbs().maxCoeff(), 1e-6f);
}

TEST(FourierFeatures, LeaveTheStepOutWithoutAHorizon) {
  FourierOptions options;
  options.features = 7;
  const MatrixF rows = Rows(20, 2);
  EXPECT_EQ(FourierFeatures(rows, 1, options, Stream(1, "features")).size(), 1 + 2 + 7);
  EXPECT_EQ(FourierFeatures(rows, 5, options, Stream(1, "features")).size(), 1 + 3 + 7);
}

TEST(FourierFeatures, StandOnRowsThatAreAllEqual) {
  const MatrixF rows = MatrixF::Ones(3, 2);
  const FourierFeatures map(rows, 1, {}, Stream(1, "features"));
  EXPECT_TRUE(Apply(map, rows, {0, 0, 0}).allFinite());
}

}  // namespace
}  // namespace lfiw::ope
