#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_KERNEL_DISTANCE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_KERNEL_DISTANCE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "experiments/image_gof/sample_weights.h"

namespace lfiw::experiments {

// Distances by kernels between features of real rows x [n, d], equally weighted, and generated rows
// y [m, d], under each of several weights v [m] at the cost of one. Products go through GEMM in
// double; tiles and blocks are parallel tasks whose sums are taken in index order.

// The squared maximum mean discrepancy with the kernel (x'y / d + 1)^3, averaged over blocks.
struct KernelDistance {
  std::optional<double> value = std::nullopt;           // may be negative
  std::optional<double> standard_error = std::nullopt;  // over blocks; needs two
  std::int64_t blocks = 0;
  std::string reason = {};  // why there is no value
};

// Blocks that two sets are cut into.
std::int64_t KernelBlocks(std::int64_t n, std::int64_t m, std::int64_t block);

// The Kernel Inception Distance (Binkowski et al. 2018): in every block the statistic without the
// terms i = j,
//   mean_{i != j} k(x_i, x_j) + sum_{i != j} v_i v_j k(y_i, y_j) / r - 2 sum_j v_j mean_i k(x_i,
//   y_j)
// where r = 1 - sum v^2 for weights that sum to 1, which are normalized anew in every block, and
// (m - 1) / m for others: unbiased for equal weights and for exact ratios. Both sets are put in an
// order drawn from `order` and cut into KernelBlocks blocks: the larger set into blocks of at most
// `block` rows unless that left the smaller one fewer than two for each. Throws DataError when
// a set has fewer than two rows.
std::vector<KernelDistance> PolynomialKernelDistances(ConstMatrixRef real, ConstMatrixRef generated,
                                                      std::span<const SampleWeights> weights,
                                                      std::int64_t block, const Stream& order);

// The statistic that the paper's code reports as KID: the root of the biased squared discrepancy
// (terms i = j included) with the kernel exp(-|x - y|^2 / (2 s)), s the mean squared distance
// between real rows. It is above 0 for equal distributions, the more so the smaller the effective
// sample size. Throws DataError when all real rows are equal.
std::vector<double> BiasedRbfDistances(ConstMatrixRef real, ConstMatrixRef generated,
                                       std::span<const SampleWeights> weights);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_KERNEL_DISTANCE_H_
