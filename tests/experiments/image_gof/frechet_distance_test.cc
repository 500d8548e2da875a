#include "experiments/image_gof/frechet_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <complex>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double Distance(const Moments& a, const Moments& b) { return FrechetReference(a).Distance(b); }

Moments Gaussian(VectorD mean, MatrixD covariance) {
  return {std::move(mean), std::move(covariance)};
}

MatrixD RandomCovariance(std::int64_t d, std::uint64_t seed) {
  const MatrixD rows = NormalRows(2 * d, d, seed).cast<double>();
  return rows.transpose() * rows / static_cast<double>(2 * d);
}

// By the eigenvalues of the product itself, which is not symmetric.
double SlowDistance(const Moments& a, const Moments& b) {
  const Eigen::MatrixXd product = a.covariance * b.covariance;
  const Eigen::VectorXcd values = product.eigenvalues();
  double root = 0.0;
  for (const std::complex<double> value : values) root += std::sqrt(value).real();
  return (a.mean - b.mean).squaredNorm() + a.covariance.trace() + b.covariance.trace() - 2.0 * root;
}

// Sums over rows, one entry at a time.
Moments SlowMoments(const MatrixF& rows, const SampleWeights& weights, double share) {
  const double sum = weights.values.sum();
  Moments result{VectorD::Zero(rows.cols()), MatrixD::Zero(rows.cols(), rows.cols())};
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    result.mean += weights.values[i] * rows.row(i).transpose().cast<double>();
  }
  for (Eigen::Index i = 0; i < rows.rows(); ++i) {
    const VectorD deviation = rows.row(i).transpose().cast<double>() - result.mean / sum;
    result.covariance += weights.values[i] / share * deviation * deviation.transpose();
  }
  return result;
}

TEST(FrechetDistance, OfGaussiansWithScaledCovariancesIsItsClosedForm) {
  // S2 = c^2 S1: |m|^2 + (1 - c)^2 tr S1
  const MatrixD covariance = RandomCovariance(6, 1);
  const Moments a = Gaussian(VectorD::Zero(6), covariance);
  const Moments b = Gaussian(VectorD::Constant(6, 0.5), 9.0 * covariance);
  EXPECT_NEAR(Distance(a, b), 6 * 0.25 + 4.0 * covariance.trace(), 1e-10);
  EXPECT_NEAR(Distance(b, a), 6 * 0.25 + 4.0 * covariance.trace(), 1e-10);
}

TEST(FrechetDistance, OfDiagonalGaussiansIsASumOverDimensions) {
  const VectorD first{{1.0, 4.0, 0.0}}, second{{9.0, 1.0, 2.0}};
  const Moments a = Gaussian(VectorD::Zero(3), first.asDiagonal());
  const Moments b = Gaussian(VectorD::Ones(3), second.asDiagonal());
  EXPECT_NEAR(Distance(a, b), 3.0 + 4.0 + 1.0 + 2.0, 1e-12);
}

TEST(FrechetDistance, EqualsThatOfTheUnsymmetricProduct) {
  const Moments a = Gaussian(VectorD::Zero(20), RandomCovariance(20, 1));
  const Moments b = Gaussian(VectorD::Ones(20), RandomCovariance(20, 2));
  EXPECT_NEAR(Distance(a, b), SlowDistance(a, b), 1e-9);
}

TEST(FrechetDistance, IsZeroForEqualSetsOfFullAndOfLowRank) {
  for (const std::int64_t n : {400, 30}) {
    const MatrixF rows = NormalRows(n, 64, 3);
    const Moments moments = WeightedMoments(rows, UniformWeights(n));
    EXPECT_NEAR(Distance(moments, moments), 0.0, 1e-9);
  }
}

TEST(FrechetDistance, IsSymmetric) {
  const Moments a = WeightedMoments(NormalRows(200, 40, 1), UniformWeights(200));
  const Moments b = WeightedMoments(NormalRows(30, 40, 2, 0.3f), UniformWeights(30));
  EXPECT_NEAR(Distance(a, b), Distance(b, a), 1e-6);
}

TEST(WeightedMoments, EqualTheSlowSums) {
  const MatrixF rows = NormalRows(100, 300, 1, 2.0f);
  const SampleWeights self = RandomWeights(100, WeightScale::kSum);
  const Moments fast = WeightedMoments(rows, self);
  const Moments slow = SlowMoments(rows, self, 1.0 - self.values.squaredNorm());
  EXPECT_LT((fast.mean - slow.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((fast.covariance - slow.covariance).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(WeightedMoments, WithoutNormalizationAreScaledByTheSumOfTheWeights) {
  const MatrixF rows = NormalRows(100, 5, 1, 2.0f);
  SampleWeights doubled = RandomWeights(100, WeightScale::kSum);
  const Moments once = WeightedMoments(rows, doubled);
  doubled.values *= 2.0;
  const Moments twice = WeightedMoments(rows, doubled);
  EXPECT_LT((twice.mean - 2.0 * once.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((twice.covariance - 2.0 * once.covariance).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(WeightedMoments, OfUniformWeightsAreTheUsualOnes) {
  const MatrixF rows = NormalRows(50, 4, 1);
  const Moments moments = WeightedMoments(rows, UniformWeights(50));
  const MatrixD x = rows.cast<double>();
  const MatrixD centered = x.rowwise() - x.colwise().mean();
  EXPECT_LT((moments.covariance - centered.transpose() * centered / 49.0).cwiseAbs().maxCoeff(),
            1e-10);
}

TEST(WeightedMoments, IntegerWeightsEqualRepetitionWithThePlainDivisor) {
  const MatrixF rows = NormalRows(50, 8, 1);
  const IntegerWeights integer(rows);
  const Moments weighted = WeightedMoments(rows, integer.weights, CovarianceDivisor::kPlain);
  const Moments repeated = WeightedMoments(
      integer.repeated, UniformWeights(integer.repeated.rows()), CovarianceDivisor::kPlain);
  EXPECT_LT((weighted.mean - repeated.mean).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((weighted.covariance - repeated.covariance).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(WeightedMoments, DoNotDependOnTheOrder) {
  const MatrixF rows = NormalRows(500, 8, 1);
  const SampleWeights weights = RandomWeights(500, WeightScale::kSum);
  const Shuffled shuffled(rows, weights);
  const Moments a = WeightedMoments(rows, weights);
  const Moments b = WeightedMoments(shuffled.rows, shuffled.weights);
  EXPECT_LT((a.covariance - b.covariance).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(WeightedMoments, AreTheSameBytesForAnyNumberOfThreads) {
  const MatrixF rows = NormalRows(300, 600, 1);
  const SampleWeights weights = RandomWeights(300, WeightScale::kSum);
  SetThreads(1);
  const Moments one = WeightedMoments(rows, weights);
  const double distance = Distance(one, WeightedMoments(rows, UniformWeights(300)));
  SetThreads(3);
  const Moments three = WeightedMoments(rows, weights);
  EXPECT_EQ(one.covariance, three.covariance);
  EXPECT_EQ(Distance(three, WeightedMoments(rows, UniformWeights(300))), distance);
}

TEST(WeightedMoments, OfOneSampleWithAllTheWeightAreRefused) {
  SampleWeights weights = UniformWeights(3);
  weights.values << 0.0, 1.0, 0.0;
  EXPECT_THAT([&] { WeightedMoments(NormalRows(3, 2, 1), weights); },
              ThrowsMessage<NumericError>(HasSubstr("one of 3 samples has all the weight")));
}

}  // namespace
}  // namespace lfiw::experiments
