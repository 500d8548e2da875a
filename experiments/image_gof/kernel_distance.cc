#include "experiments/image_gof/kernel_distance.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/parallel.h"
#include "core/statistics.h"

namespace lfiw::experiments {
namespace {

constexpr std::int64_t kTile = 512;

// One side of a Gram matrix: rows [n, d], and weights [n, V] of V estimates.
struct Side {
  const MatrixD& rows;
  const MatrixD& weights;
};

struct Tile {
  std::int64_t i, j, rows, cols;
};

// Inner products of rows i .. of x and rows j .. of y.
MatrixD InnerProducts(const MatrixD& x, const MatrixD& y, const Tile& tile) {
  const auto d = static_cast<int>(x.cols());
  MatrixD products(tile.rows, tile.cols);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(tile.rows),
              static_cast<int>(tile.cols), d, 1.0, x.data() + tile.i * d, d, y.data() + tile.j * d,
              d, 0.0, products.data(), static_cast<int>(tile.cols));
  return products;
}

// sum_ij a_i b_j k_ij over one tile, for every estimate.
VectorD TileForms(const Side& x, const Side& y, const Tile& tile, const MatrixD& kernel) {
  const MatrixD right = kernel * y.weights.middleRows(tile.j, tile.cols);
  return x.weights.middleRows(tile.i, tile.rows).cwiseProduct(right).colwise().sum();
}

enum class Terms { kAll, kOffDiagonal };

template <class Keep>
std::vector<Tile> Tiles(std::int64_t rows, std::int64_t cols, const Keep& keep) {
  std::vector<Tile> tiles;
  for (std::int64_t i = 0; i < rows; i += kTile) {
    for (std::int64_t j = 0; j < cols; j += kTile) {
      if (keep(i, j)) tiles.push_back({i, j, std::min(kTile, rows - i), std::min(kTile, cols - j)});
    }
  }
  return tiles;
}

VectorD SumInOrder(const std::vector<VectorD>& parts, Eigen::Index size) {
  VectorD sum = VectorD::Zero(size);
  for (const VectorD& part : parts) sum += part;
  return sum;
}

// sum_ij a_i b_j kernel(x_i'y_j) between two sets, for every estimate; kernel(tile, products) turns
// products into values in place.
template <class Kernel>
VectorD CrossForms(const Side& x, const Side& y, const Kernel& kernel) {
  const auto all = [](std::int64_t, std::int64_t) { return true; };
  const std::vector<Tile> tiles = Tiles(x.rows.rows(), y.rows.rows(), all);
  std::vector<VectorD> parts(tiles.size());
  ParallelFor(std::ssize(tiles), [&](std::int64_t t) {
    const auto at = static_cast<std::size_t>(t);
    MatrixD values = InnerProducts(x.rows, y.rows, tiles[at]);
    kernel(tiles[at], values);
    parts[at] = TileForms(x, y, tiles[at], values);
  });
  return SumInOrder(parts, x.weights.cols());
}

// The same within one set: tiles below the diagonal count for those above it.
template <class Kernel>
VectorD OwnForms(const Side& x, const Kernel& kernel, Terms terms) {
  const auto upper = [](std::int64_t i, std::int64_t j) { return j >= i; };
  const std::vector<Tile> tiles = Tiles(x.rows.rows(), x.rows.rows(), upper);
  std::vector<VectorD> parts(tiles.size());
  ParallelFor(std::ssize(tiles), [&](std::int64_t t) {
    const auto at = static_cast<std::size_t>(t);
    const Tile& tile = tiles[at];
    MatrixD values = InnerProducts(x.rows, x.rows, tile);
    kernel(tile, values);
    if (tile.i == tile.j && terms == Terms::kOffDiagonal) values.diagonal().setZero();
    parts[at] = TileForms(x, x, tile, values) * (tile.i == tile.j ? 1.0 : 2.0);
  });
  return SumInOrder(parts, x.weights.cols());
}

// Rows of one block in double.
MatrixD TakeRows(ConstMatrixRef features, std::span<const std::int64_t> rows) {
  MatrixD taken(std::ssize(rows), features.cols());
  for (Eigen::Index i = 0; i < taken.rows(); ++i) {
    taken.row(i) = features.row(rows[static_cast<std::size_t>(i)]).cast<double>();
  }
  return taken;
}

// The rows of block b of `count`.
std::span<const std::int64_t> BlockOf(const std::vector<std::int64_t>& order, std::int64_t b,
                                      std::int64_t count) {
  const std::int64_t n = std::ssize(order);
  const auto begin = static_cast<std::size_t>(b * n / count);
  const auto end = static_cast<std::size_t>((b + 1) * n / count);
  return std::span(order).subspan(begin, end - begin);
}

// The share of pairs i != j in the weight of all pairs.
double PairShare(const SampleWeights& weights) {
  const auto m = static_cast<double>(weights.size());
  return weights.scale == WeightScale::kSum ? 1.0 - weights.values.squaredNorm() : (m - 1.0) / m;
}

// The weights of a block's samples, as far as the block has any.
std::vector<std::optional<SampleWeights>> BlockWeights(std::span<const SampleWeights> weights,
                                                       std::span<const std::int64_t> samples) {
  std::vector<std::optional<SampleWeights>> block(weights.size());
  for (std::size_t v = 0; v < weights.size(); ++v) {
    try {
      block[v] = TakeWeights(weights[v], samples);
    } catch (const NumericError&) {
      continue;
    }
    if (PairShare(*block[v]) < 1e-9) block[v].reset();
  }
  return block;
}

// The statistic of one block under every weighting; NaN where the block leaves no pair.
VectorD BlockStatistic(const MatrixD& x, const MatrixD& y,
                       const std::vector<std::optional<SampleWeights>>& weights) {
  const auto estimates = std::ssize(weights);
  const auto n = static_cast<double>(x.rows());
  const auto d = static_cast<double>(x.cols());
  const MatrixD equal = MatrixD::Constant(x.rows(), 1, 1.0 / n);
  const MatrixD cross = MatrixD::Constant(x.rows(), estimates, 1.0 / n);
  MatrixD v = MatrixD::Zero(y.rows(), estimates);
  for (Eigen::Index e = 0; e < estimates; ++e) {
    const auto& own = weights[static_cast<std::size_t>(e)];
    if (own) v.col(e) = own->values;
  }
  const auto kernel = [d](const Tile&, MatrixD& values) {
    values = (values.array() / d + 1.0).cube();
  };
  const double xx = OwnForms({x, equal}, kernel, Terms::kOffDiagonal)[0] * n / (n - 1.0);
  const VectorD yy = OwnForms({y, v}, kernel, Terms::kOffDiagonal);
  const VectorD xy = CrossForms({x, cross}, {y, v}, kernel);
  VectorD result(estimates);
  for (Eigen::Index e = 0; e < estimates; ++e) {
    const auto& own = weights[static_cast<std::size_t>(e)];
    result[e] =
        own ? xx + yy[e] / PairShare(*own) - 2.0 * xy[e] : std::numeric_limits<double>::quiet_NaN();
  }
  return result;
}

KernelDistance Average(std::span<const double> blocks) {
  KernelDistance distance{.blocks = std::ssize(blocks)};
  if (!std::ranges::all_of(blocks, [](double value) { return std::isfinite(value); })) {
    distance.reason = "a block of samples has its weight on one sample; larger blocks may help";
    return distance;
  }
  distance.value = Mean(blocks);
  if (blocks.size() >= 2) distance.standard_error = StandardError(blocks);
  return distance;
}

// Rows relative to the mean of the real ones, which leaves distances as they are and squares small.
MatrixD Centered(ConstMatrixRef features, const Eigen::RowVectorXd& mean) {
  MatrixD rows = features.cast<double>();
  rows.rowwise() -= mean;
  return rows;
}

}  // namespace

std::int64_t KernelBlocks(std::int64_t n, std::int64_t m, std::int64_t block) {
  return std::min((std::max(n, m) + block - 1) / block, std::min(n, m) / 2);
}

std::vector<KernelDistance> PolynomialKernelDistances(ConstMatrixRef real, ConstMatrixRef generated,
                                                      std::span<const SampleWeights> weights,
                                                      std::int64_t block, const Stream& order) {
  LFIW_ASSERT(block >= 2 && real.cols() == generated.cols());
  if (std::min(real.rows(), generated.rows()) < 2) {
    Throw<DataError>("{} real and {} generated samples, expected at least 2 of each", real.rows(),
                     generated.rows());
  }
  const std::int64_t blocks = KernelBlocks(real.rows(), generated.rows(), block);
  const auto real_order = order.Child(0).Permutation(real.rows());
  const auto generated_order = order.Child(1).Permutation(generated.rows());
  MatrixD values(std::ssize(weights), blocks);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const auto samples = BlockOf(generated_order, b, blocks);
    values.col(b) = BlockStatistic(TakeRows(real, BlockOf(real_order, b, blocks)),
                                   TakeRows(generated, samples), BlockWeights(weights, samples));
  }
  std::vector<KernelDistance> distances;
  for (Eigen::Index v = 0; v < values.rows(); ++v) {
    distances.push_back(Average({values.row(v).data(), static_cast<std::size_t>(blocks)}));
  }
  return distances;
}

std::vector<double> BiasedRbfDistances(ConstMatrixRef real, ConstMatrixRef generated,
                                       std::span<const SampleWeights> weights) {
  LFIW_ASSERT(real.rows() >= 1 && real.cols() == generated.cols());
  const auto n = static_cast<double>(real.rows());
  const Eigen::RowVectorXd mean = real.cast<double>().colwise().sum() / n;
  const MatrixD x = Centered(real, mean), y = Centered(generated, mean);
  const VectorD x_squares = x.rowwise().squaredNorm(), y_squares = y.rowwise().squaredNorm();
  // the mean of |x_i - x_j|^2 over all pairs is twice the mean square about the mean
  const double scale = 2.0 * x_squares.sum() / n;
  if (!(scale > 0.0)) Throw<DataError>("all {} real feature rows are equal", real.rows());
  const auto kernel_of = [scale](const VectorD& rows, const VectorD& cols) {
    return [&rows, &cols, scale](const Tile& tile, MatrixD& values) {
      values *= -2.0;
      values.colwise() += rows.segment(tile.i, tile.rows);
      values.rowwise() += cols.segment(tile.j, tile.cols).transpose();
      values = (values.array().max(0.0) * (-0.5 / scale)).exp();
    };
  };
  const auto estimates = std::ssize(weights);
  const MatrixD equal = MatrixD::Constant(x.rows(), 1, 1.0 / n);
  const MatrixD cross = MatrixD::Constant(x.rows(), estimates, 1.0 / n);
  MatrixD v(y.rows(), estimates);
  for (Eigen::Index e = 0; e < estimates; ++e) {
    v.col(e) = weights[static_cast<std::size_t>(e)].values;
  }
  const double xx = OwnForms({x, equal}, kernel_of(x_squares, x_squares), Terms::kAll)[0];
  const VectorD yy = OwnForms({y, v}, kernel_of(y_squares, y_squares), Terms::kAll);
  const VectorD xy = CrossForms({x, cross}, {y, v}, kernel_of(x_squares, y_squares));
  std::vector<double> distances;
  for (Eigen::Index e = 0; e < estimates; ++e) {
    distances.push_back(std::sqrt(std::max(xx + yy[e] - 2.0 * xy[e], 0.0)));
  }
  return distances;
}

}  // namespace lfiw::experiments
