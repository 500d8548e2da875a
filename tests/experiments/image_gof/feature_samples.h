#ifndef LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_FEATURE_SAMPLES_H_
#define LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_FEATURE_SAMPLES_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "experiments/image_gof/sample_weights.h"

namespace lfiw::experiments {

// Standard normal rows, moved by `shift`.
inline MatrixF NormalRows(std::int64_t n, std::int64_t d, std::uint64_t seed, float shift = 0.0f) {
  MatrixF rows(n, d);
  Stream(seed, "test features")
      .FillNormal(std::span(rows.data(), static_cast<std::size_t>(rows.size())));
  rows.array() += shift;
  return rows;
}

// Weights 1 + i % 3, self-normalized, and each row as often as its weight says.
struct IntegerWeights {
  explicit IntegerWeights(const MatrixF& rows) {
    weights.values.resize(rows.rows());
    std::vector<Eigen::Index> index;
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
      weights.values[i] = static_cast<double>(1 + i % 3);
      index.insert(index.end(), static_cast<std::size_t>(1 + i % 3), i);
    }
    weights.values /= weights.values.sum();
    repeated = rows(index, Eigen::all);
  }
  SampleWeights weights;
  MatrixF repeated;
};

// The rows, and their weights, in another order.
struct Shuffled {
  Shuffled(const MatrixF& given, const SampleWeights& given_weights) : weights(given_weights) {
    const auto order = Stream(5, "test order").Permutation(given.rows());
    rows = given(order, Eigen::all);
    weights.values = given_weights.values(order);
  }
  MatrixF rows;
  SampleWeights weights;
};

// Weights that differ, summing to 1 or not.
inline SampleWeights RandomWeights(std::int64_t n, WeightScale scale) {
  std::vector<double> logs(static_cast<std::size_t>(n));
  Stream(9, "test weights").FillNormal(std::span<double>(logs));
  return MakeWeights(logs, {.name = "", .params = "", .scale = scale});
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_FEATURE_SAMPLES_H_
