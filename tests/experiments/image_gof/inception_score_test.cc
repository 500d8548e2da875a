#include "experiments/image_gof/inception_score.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

// The definition, one probability at a time.
double SlowScore(const MatrixF& logits, const SampleWeights& weights) {
  const auto n = logits.rows(), classes = logits.cols();
  MatrixD p(n, classes);
  for (Eigen::Index i = 0; i < n; ++i) {
    double sum = 0.0;
    for (Eigen::Index k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits(i, k)));
    for (Eigen::Index k = 0; k < classes; ++k) {
      p(i, k) = std::exp(static_cast<double>(logits(i, k))) / sum;
    }
  }
  double divergence = 0.0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index k = 0; k < classes; ++k) {
      double marginal = 0.0;
      for (Eigen::Index j = 0; j < n; ++j) marginal += weights.values[j] * p(j, k);
      divergence += weights.values[i] * p(i, k) * std::log(p(i, k) / marginal);
    }
  }
  return std::exp(divergence);
}

TEST(InceptionScore, EqualsTheSlowDefinition) {
  const MatrixF logits = 2.0f * NormalRows(60, 7, 1);
  for (const WeightScale scale : {WeightScale::kNumber, WeightScale::kSum}) {
    const SampleWeights weights = RandomWeights(60, scale);
    EXPECT_NEAR(InceptionScore(logits, weights), SlowScore(logits, weights), 1e-12);
  }
}

TEST(InceptionScore, IsTheNumberOfClassesForSureAndBalancedPredictions) {
  MatrixF logits = MatrixF::Zero(20, 5);
  for (Eigen::Index i = 0; i < 20; ++i) logits(i, i % 5) = 1e4f;
  EXPECT_NEAR(InceptionScore(logits, UniformWeights(20)), 5.0, 1e-12);
}

TEST(InceptionScore, IsOneWhenAllPredictionsAreEqual) {
  const MatrixF logits = NormalRows(1, 5, 2).replicate(10, 1);
  EXPECT_NEAR(InceptionScore(logits, UniformWeights(10)), 1.0, 1e-12);
}

TEST(InceptionScore, IntegerWeightsEqualRepetition) {
  const MatrixF logits = NormalRows(50, 10, 3);
  const IntegerWeights integer(logits);
  EXPECT_NEAR(InceptionScore(logits, integer.weights),
              InceptionScore(integer.repeated, UniformWeights(integer.repeated.rows())), 1e-12);
}

TEST(InceptionScore, DoesNotDependOnTheOrder) {
  const MatrixF logits = NormalRows(700, 10, 3);
  const SampleWeights weights = RandomWeights(700, WeightScale::kSum);
  const Shuffled shuffled(logits, weights);
  EXPECT_NEAR(InceptionScore(logits, weights), InceptionScore(shuffled.rows, shuffled.weights),
              1e-12);
}

TEST(InceptionScore, AWeightOfOneSampleLeavesItsOwnPrediction) {
  SampleWeights weights = UniformWeights(3);
  weights.values << 0.0, 1.0, 0.0;
  EXPECT_NEAR(InceptionScore(NormalRows(3, 4, 4), weights), 1.0, 1e-12);
}

}  // namespace
}  // namespace lfiw::experiments
