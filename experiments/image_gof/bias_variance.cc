#include "experiments/image_gof/bias_variance.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::experiments {
namespace {

using Draw = std::vector<std::int64_t>;

std::vector<Draw> MakeDraws(std::int64_t samples, std::int64_t size, std::int64_t draws,
                            std::uint64_t seed) {
  std::vector<Draw> all;
  const bool disjoint = samples / size >= 2;
  const std::int64_t count = disjoint ? std::min(draws, samples / size) : draws;
  const Stream named(seed, "bias variance draws", {static_cast<std::uint64_t>(size)});
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t begin = disjoint ? k * size : 0;
    Stream stream = named.Child(disjoint ? 0 : static_cast<std::uint64_t>(k));
    const std::vector<std::int64_t> order = stream.Permutation(samples);
    all.emplace_back(order.begin() + begin, order.begin() + begin + size);
  }
  return all;
}

// sum_i v_i x_i of one draw.
VectorD WeightedSum(ConstMatrixRef features, const Draw& draw, const VectorD& values) {
  VectorD sum = VectorD::Zero(features.cols());
  for (std::size_t i = 0; i < draw.size(); ++i) {
    sum += values[static_cast<Eigen::Index>(i)] * features.row(draw[i]).transpose().cast<double>();
  }
  return sum;
}

SampleWeights WeightsOf(std::span<const double> log_weights, const Draw& draw,
                        const WeightVariant& variant) {
  std::vector<double> logs;
  for (const std::int64_t i : draw) logs.push_back(log_weights[static_cast<std::size_t>(i)]);
  return MakeWeights(logs, variant);
}

std::span<const double> View(const VectorD& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

// estimates [draws, d].
void SummarizeEstimates(const MatrixD& estimates, const VectorD& truth, BiasVariance& entry) {
  const auto count = static_cast<double>(estimates.rows());
  const Eigen::RowVectorXd mean = estimates.colwise().sum() / count;
  const VectorD bias = mean.transpose() - truth;
  const VectorD variance =
      (estimates.rowwise() - mean).array().square().colwise().sum().transpose() / count;
  const VectorD error = bias.array().square() + variance.array();
  entry.draws = estimates.rows();
  entry.abs_mean_bias = std::abs(Mean(View(bias)));
  entry.bias_error = StandardError(View(bias));
  entry.mean_abs_bias = Mean(View(bias.cwiseAbs()));
  entry.variance = Mean(View(variance));
  entry.variance_error = StandardError(View(variance));
  entry.mse = Mean(View(error));
  entry.mse_error = StandardError(View(error));
}

}  // namespace

std::vector<BiasVariance> MeasureBiasVariance(ConstMatrixRef features, const SampleRatios& ratios,
                                              const VectorD& truth,
                                              std::span<const WeightVariant> variants,
                                              std::int64_t size, std::int64_t draws,
                                              std::uint64_t seed) {
  LFIW_ASSERT(features.cols() >= 2 && size >= 2 && size <= features.rows() && draws >= 2);
  const std::vector<Draw> all = MakeDraws(features.rows(), size, draws, seed);
  std::vector<WeightVariant> wanted = {{.name = "none", .params = "", .alpha = 0.0}};
  wanted.insert(wanted.end(), variants.begin(), variants.end());
  std::vector<BiasVariance> entries;
  for (const WeightVariant& variant : wanted) {
    BiasVariance& entry = entries.emplace_back();
    entry.weights = variant.name;
    entry.params = variant.params;
    MatrixD estimates(std::ssize(all), features.cols());
    try {
      for (std::size_t k = 0; k < all.size(); ++k) {
        const SampleWeights weights = WeightsOf(ratios.Of(variant.ratios), all[k], variant);
        estimates.row(static_cast<Eigen::Index>(k)) = WeightedSum(features, all[k], weights.values);
      }
      SummarizeEstimates(estimates, truth, entry);
    } catch (const NumericError& error) {
      entry.reason = error.what();
    }
  }
  return entries;
}

}  // namespace lfiw::experiments
