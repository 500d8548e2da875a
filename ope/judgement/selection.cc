#include "ope/judgement/selection.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/matrix.h"

namespace lfiw::ope {
namespace {

// Returns weights of the listed coordinates that sum to 1 and minimize the quadratic form there,
// signs free.
VectorD SolveOnFace(const MatrixD& a, const std::vector<Eigen::Index>& face) {
  const auto m = static_cast<Eigen::Index>(face.size());
  MatrixD system = MatrixD::Zero(m + 1, m + 1);
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index j = 0; j < m; ++j) {
      system(i, j) = a(face[static_cast<std::size_t>(i)], face[static_cast<std::size_t>(j)]);
    }
    system(i, m) = system(m, i) = 1.0;
  }
  VectorD right = VectorD::Zero(m + 1);
  right(m) = 1.0;
  // least norm where estimates coincide
  const Eigen::MatrixXd dense = system;
  return dense.completeOrthogonalDecomposition().solve(right).head(m);
}

// Moves from feasible `x` towards `target` on the face until a weight reaches 0, which it then
// leaves. Returns true when the target itself was reached.
bool MoveOnFace(const VectorD& target, std::vector<Eigen::Index>& face, VectorD& x) {
  double step = 1.0;
  std::size_t leaves = face.size();
  for (std::size_t i = 0; i < face.size(); ++i) {
    const double now = x(face[i]), goal = target(static_cast<Eigen::Index>(i));
    if (goal >= 0.0) continue;
    const double reach = now / (now - goal);
    if (reach < step) {
      step = reach;
      leaves = i;
    }
  }
  for (std::size_t i = 0; i < face.size(); ++i) {
    x(face[i]) += step * (target(static_cast<Eigen::Index>(i)) - x(face[i]));
  }
  if (leaves == face.size()) return true;
  x(face[leaves]) = 0.0;
  face.erase(face.begin() + static_cast<std::ptrdiff_t>(leaves));
  return false;
}

}  // namespace

std::int64_t DifferenceChoice(std::span<const double> values, const Array<double, 2>& influences,
                              double width) {
  LFIW_ASSERT(influences.shape()[0] == std::ssize(values) && influences.shape()[1] >= 2);
  const auto n = static_cast<double>(influences.shape()[1]);
  const auto agree = [&](std::int64_t a, std::int64_t b) {
    const std::span<const double> one = influences.Row(a), other = influences.Row(b);
    double squares = 0.0;
    for (std::size_t i = 0; i < one.size(); ++i) squares += std::pow(one[i] - other[i], 2);
    const double error = std::sqrt(squares / (n - 1.0) / n);
    const double difference =
        values[static_cast<std::size_t>(a)] - values[static_cast<std::size_t>(b)];
    return std::abs(difference) <= width * error;
  };
  std::int64_t chosen = 0;
  for (std::int64_t k = 1; k < std::ssize(values); ++k) {
    for (std::int64_t before = 0; before < k; ++before) {
      if (!agree(before, k)) return chosen;
    }
    chosen = k;
  }
  return chosen;
}

std::int64_t SlopeChoice(std::span<const double> values, std::span<const double> widths) {
  LFIW_ASSERT(!values.empty() && values.size() == widths.size());
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double width = high;
  std::int64_t chosen = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    width = std::min(width, widths[i]);
    low = std::max(low, values[i] - width);
    high = std::min(high, values[i] + width);
    if (low > high) break;
    chosen = static_cast<std::int64_t>(i);
  }
  return chosen;
}

std::vector<double> MinimizeOnSimplex(const Array<double, 2>& a) {
  const std::int64_t m = a.shape()[0];
  LFIW_ASSERT(m >= 1 && a.shape()[1] == m);
  MatrixD matrix = Eigen::Map<const MatrixD>(a.flat().data(), m, m);
  const double size = matrix.diagonal().cwiseAbs().maxCoeff();
  if (size > 0.0) matrix /= size;

  // start at the best vertex
  Eigen::Index best = 0;
  matrix.diagonal().minCoeff(&best);
  VectorD x = VectorD::Zero(m);
  x(best) = 1.0;
  std::vector<Eigen::Index> face = {best};
  constexpr double kTolerance = 1e-12;
  for (std::int64_t round = 0; round < 20 * m + 20; ++round) {
    while (!MoveOnFace(SolveOnFace(matrix, face), face, x)) {
    }
    // the coordinate along which the form falls fastest joins
    const VectorD gradient = matrix * x;
    const double level = x.dot(gradient);
    Eigen::Index enters = 0;
    if (gradient.minCoeff(&enters) >= level - kTolerance) break;
    if (std::ranges::find(face, enters) != face.end()) break;
    face.push_back(enters);
  }
  const VectorD positive = x.cwiseMax(0.0);
  const double sum = positive.sum();
  std::vector<double> weights;
  for (const double weight : positive) weights.push_back(weight / sum);
  return weights;
}

std::vector<double> BlendWeights(std::span<const double> values, const Array<double, 2>& replicates,
                                 double scale) {
  const std::int64_t m = std::ssize(values), count = replicates.shape()[0];
  LFIW_ASSERT(count >= 1 && replicates.shape()[1] == m);
  Array<double, 2> errors({m, m});
  for (std::int64_t b = 0; b < count; ++b) {
    for (std::int64_t i = 0; i < m; ++i) {
      const double e_i = replicates(b, i) - values[static_cast<std::size_t>(i)];
      for (std::int64_t j = 0; j < m; ++j) {
        const double e_j = replicates(b, j) - values[static_cast<std::size_t>(j)];
        errors(i, j) += scale * e_i * e_j / static_cast<double>(count);
      }
    }
  }
  return MinimizeOnSimplex(errors);
}

}  // namespace lfiw::ope
