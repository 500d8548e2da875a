#include "experiments/image_gof/kernel_distance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const Stream kOrder(3, "test blocks");

KernelDistance Polynomial(const MatrixF& real, const MatrixF& generated,
                          const SampleWeights& weights, std::int64_t block = 1'000'000) {
  return PolynomialKernelDistances(real, generated, std::vector{weights}, block, kOrder)[0];
}

double Rbf(const MatrixF& real, const MatrixF& generated, const SampleWeights& weights) {
  return BiasedRbfDistances(real, generated, std::vector{weights})[0];
}

double SquaredDistance(const MatrixF& a, Eigen::Index i, const MatrixF& b, Eigen::Index j) {
  return (a.row(i).cast<double>() - b.row(j).cast<double>()).squaredNorm();
}

// The definition of the unbiased statistic in one block, pair by pair.
double SlowPolynomial(const MatrixF& x, const MatrixF& y, const SampleWeights& weights) {
  const auto k = [](const MatrixF& a, Eigen::Index i, const MatrixF& b, Eigen::Index j) {
    const double product = a.row(i).cast<double>().dot(b.row(j).cast<double>());
    return std::pow(product / static_cast<double>(a.cols()) + 1.0, 3);
  };
  const auto n = static_cast<double>(x.rows()), m = static_cast<double>(y.rows());
  double xx = 0.0, yy = 0.0, xy = 0.0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.rows(); ++j) xx += i == j ? 0.0 : k(x, i, x, j);
    for (Eigen::Index j = 0; j < y.rows(); ++j) xy += weights.values[j] * k(x, i, y, j);
  }
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.rows(); ++j) {
      if (i != j) yy += weights.values[i] * weights.values[j] * k(y, i, y, j);
    }
  }
  const double share =
      weights.scale == WeightScale::kSum ? 1.0 - weights.values.squaredNorm() : (m - 1.0) / m;
  return xx / (n * (n - 1.0)) + yy / share - 2.0 * xy / n;
}

// The definition of the paper's statistic, pair by pair.
double SlowRbf(const MatrixF& x, const MatrixF& y, const SampleWeights& weights) {
  const auto n = static_cast<double>(x.rows());
  double scale = 0.0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.rows(); ++j) scale += SquaredDistance(x, i, x, j) / (n * n);
  }
  const auto k = [&](const MatrixF& a, Eigen::Index i, const MatrixF& b, Eigen::Index j) {
    return std::exp(-SquaredDistance(a, i, b, j) / (2.0 * scale));
  };
  double sum = 0.0;
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    for (Eigen::Index j = 0; j < x.rows(); ++j) sum += k(x, i, x, j) / (n * n);
    for (Eigen::Index j = 0; j < y.rows(); ++j) sum -= 2.0 * weights.values[j] * k(x, i, y, j) / n;
  }
  for (Eigen::Index i = 0; i < y.rows(); ++i) {
    for (Eigen::Index j = 0; j < y.rows(); ++j) {
      sum += weights.values[i] * weights.values[j] * k(y, i, y, j);
    }
  }
  return std::sqrt(sum);
}

TEST(PolynomialKernelDistance, EqualsTheSlowDefinition) {
  // more rows than a tile
  const MatrixF real = NormalRows(600, 9, 1, 0.2f), generated = NormalRows(550, 9, 2);
  for (const WeightScale scale : {WeightScale::kNumber, WeightScale::kSum}) {
    const SampleWeights weights = RandomWeights(550, scale);
    EXPECT_NEAR(*Polynomial(real, generated, weights).value,
                SlowPolynomial(real, generated, weights), 1e-10);
  }
}

TEST(PolynomialKernelDistance, OfUniformWeightsIsTheUnweightedOneOnBothScales) {
  const MatrixF real = NormalRows(60, 9, 1), generated = NormalRows(50, 9, 2);
  SampleWeights plain = UniformWeights(50);
  plain.scale = WeightScale::kNumber;
  EXPECT_NEAR(*Polynomial(real, generated, UniformWeights(50)).value,
              *Polynomial(real, generated, plain).value, 1e-10);
}

TEST(PolynomialKernelDistance, IsWithinItsStandardErrorOfZeroForEqualDistributions) {
  // fixed seeds; 4 standard errors are exceeded once in 10,000
  const KernelDistance distance =
      Polynomial(NormalRows(2000, 16, 1), NormalRows(3000, 16, 2), UniformWeights(3000), 200);
  EXPECT_EQ(distance.blocks, 15);
  EXPECT_LT(std::abs(*distance.value), 4.0 * *distance.standard_error);
}

TEST(PolynomialKernelDistance, ExactRatiosRemoveAShift) {
  // y ~ N(0, I), x ~ N(0.3, I) in 2 dimensions: log w = sum_j (0.3 y_j - 0.045)
  const MatrixF real = NormalRows(4000, 2, 1, 0.3f), generated = NormalRows(4000, 2, 2);
  std::vector<double> log_weights;
  for (Eigen::Index i = 0; i < generated.rows(); ++i) {
    log_weights.push_back(0.3 * static_cast<double>(generated.row(i).sum()) - 0.09);
  }
  const SampleWeights weights =
      MakeWeights(log_weights, {.name = "", .params = "", .scale = WeightScale::kNumber});
  const KernelDistance plain = Polynomial(real, generated, UniformWeights(4000), 500);
  const KernelDistance exact = Polynomial(real, generated, weights, 500);
  EXPECT_GT(*plain.value, 5.0 * *plain.standard_error);
  EXPECT_LT(std::abs(*exact.value), 4.0 * *exact.standard_error);
}

TEST(PolynomialKernelDistance, SeveralWeightsCostOneAndChangeNothing) {
  const MatrixF real = NormalRows(300, 5, 1), generated = NormalRows(200, 5, 2);
  const std::vector<SampleWeights> weights = {UniformWeights(200),
                                              RandomWeights(200, WeightScale::kSum)};
  const auto together = PolynomialKernelDistances(real, generated, weights, 100, kOrder);
  EXPECT_NEAR(*together[0].value, *Polynomial(real, generated, weights[0], 100).value, 1e-12);
  EXPECT_NEAR(*together[1].value, *Polynomial(real, generated, weights[1], 100).value, 1e-12);
}

TEST(PolynomialKernelDistance, ABlockWithoutPairsSaysSo) {
  SampleWeights weights = UniformWeights(40);
  weights.values.setZero();
  weights.values[0] = 1.0;
  const KernelDistance distance =
      Polynomial(NormalRows(40, 3, 1), NormalRows(40, 3, 2), weights, 10);
  EXPECT_FALSE(distance.value);
  EXPECT_THAT(distance.reason, HasSubstr("weight on one sample"));
}

TEST(PolynomialKernelDistance, EveryBlockHasTwoRowsOfTheSmallerSet) {
  const MatrixF few = NormalRows(10, 3, 2), many = NormalRows(1000, 3, 1);
  EXPECT_EQ(Polynomial(many, few, UniformWeights(10), 100).blocks, 5);
  EXPECT_EQ(Polynomial(many, NormalRows(400, 3, 2), UniformWeights(400), 100).blocks, 10);
  EXPECT_THAT([&] { Polynomial(many, few.topRows(1), UniformWeights(1)); },
              ThrowsMessage<DataError>(HasSubstr("1000 real and 1 generated samples")));
}

TEST(BiasedRbfDistance, EqualsTheSlowDefinition) {
  const MatrixF real = NormalRows(600, 9, 1, 0.2f), generated = NormalRows(550, 9, 2);
  for (const WeightScale scale : {WeightScale::kNumber, WeightScale::kSum}) {
    const SampleWeights weights = RandomWeights(550, scale);
    EXPECT_NEAR(Rbf(real, generated, weights), SlowRbf(real, generated, weights), 1e-10);
  }
}

TEST(BiasedRbfDistance, IsZeroForEqualSets) {
  const MatrixF rows = NormalRows(1100, 9, 1);
  EXPECT_NEAR(Rbf(rows, rows, UniformWeights(1100)), 0.0, 1e-7);
}

TEST(BiasedRbfDistance, IntegerWeightsEqualRepetition) {
  const MatrixF real = NormalRows(60, 4, 1), generated = NormalRows(50, 4, 2);
  const IntegerWeights integer(generated);
  EXPECT_NEAR(Rbf(real, generated, integer.weights),
              Rbf(real, integer.repeated, UniformWeights(integer.repeated.rows())), 1e-10);
}

TEST(BiasedRbfDistance, DoesNotDependOnTheOrder) {
  const MatrixF real = NormalRows(600, 4, 1), generated = NormalRows(700, 4, 2);
  const SampleWeights weights = RandomWeights(700, WeightScale::kSum);
  const Shuffled shuffled(generated, weights);
  EXPECT_NEAR(Rbf(real, generated, weights), Rbf(real, shuffled.rows, shuffled.weights), 1e-10);
}

TEST(BiasedRbfDistance, OfEqualDistributionsIsItsBias) {
  // sqrt((1 / n + 1 / m) (1 - E k)) at n = m = 2000
  const MatrixF real = NormalRows(2000, 64, 1), generated = NormalRows(2000, 64, 2);
  EXPECT_NEAR(Rbf(real, generated, UniformWeights(2000)), std::sqrt(1e-3 * (1.0 - std::exp(-0.5))),
              0.002);
}

TEST(BiasedRbfDistance, EqualRealRowsAreRefused) {
  EXPECT_THAT([] { Rbf(MatrixF::Ones(5, 2), NormalRows(5, 2, 1), UniformWeights(5)); },
              ThrowsMessage<DataError>(HasSubstr("real feature rows are equal")));
}

TEST(KernelDistances, AreTheSameBytesForAnyNumberOfThreads) {
  const MatrixF real = NormalRows(1300, 10, 1), generated = NormalRows(1200, 10, 2);
  const SampleWeights weights = RandomWeights(1200, WeightScale::kSum);
  SetThreads(1);
  const double rbf = Rbf(real, generated, weights);
  const auto polynomial = Polynomial(real, generated, weights, 700).value;
  SetThreads(3);
  EXPECT_EQ(Rbf(real, generated, weights), rbf);
  EXPECT_EQ(Polynomial(real, generated, weights, 700).value, polynomial);
}

}  // namespace
}  // namespace lfiw::experiments
