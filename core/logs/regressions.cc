#include "core/logs/regressions.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lfiw::core {
namespace {

constexpr double kLargestScore = 8.0;
constexpr double kRidge = 1e-6;  // per row, of standardized columns

// To mean 0 and deviation 1; a column that does not vary, or not beyond rounding, to 0.
void Standardize(MatrixD& columns) {
  for (Eigen::Index j = 0; j < columns.cols(); ++j) {
    const double largest = columns.col(j).cwiseAbs().maxCoeff();
    columns.col(j).array() -= columns.col(j).mean();
    const double deviation =
        std::sqrt(columns.col(j).squaredNorm() / static_cast<double>(columns.rows()));
    if (!(deviation > 1e-7 * largest)) {
      columns.col(j).setZero();
      continue;
    }
    columns.col(j) = (columns.col(j) / deviation).cwiseMax(-kLargestScore).cwiseMin(kLargestScore);
  }
}

VectorD Rest(const MatrixD& train, double train_rows, const MatrixD& test,
             const ColumnList& features, const ColumnList& targets) {
  MatrixD normal = train(features, features);
  normal.diagonal().array() += kRidge * train_rows;
  const MatrixD b = normal.llt().solve(MatrixD(train(features, targets)));
  const MatrixD cross = test(features, targets);
  const MatrixD square = MatrixD(test(features, features)) * b;
  VectorD rest(std::ssize(targets));
  for (std::size_t k = 0; k < targets.size(); ++k) {
    const auto i = static_cast<Eigen::Index>(k);
    const double value = test(targets[k], targets[k]) - 2.0 * b.col(i).dot(cross.col(i)) +
                         b.col(i).dot(square.col(i));
    rest[i] = std::max(value, 0.0);
  }
  return rest;
}

}  // namespace

ColumnList operator+(ColumnList a, const ColumnList& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Regressions::Regressions(MatrixD columns, const std::vector<int>& folds) {
  Standardize(columns);
  const Eigen::Index p = columns.cols();
  rows_ = columns.rows();
  total_ = MatrixD::Zero(p, p);
  for (int fold = 0; fold < kFolds; ++fold) {
    std::vector<Eigen::Index> in;
    for (std::size_t i = 0; i < folds.size(); ++i) {
      if (folds[i] == fold) in.push_back(static_cast<Eigen::Index>(i));
    }
    const MatrixD part = columns(in, Eigen::all);
    products_[static_cast<std::size_t>(fold)] = part.transpose() * part;
    counts_[static_cast<std::size_t>(fold)] = static_cast<double>(in.size());
    total_ += products_[static_cast<std::size_t>(fold)];
  }
}

VectorD Regressions::Totals(const ColumnList& targets) const {
  VectorD out(std::ssize(targets));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    out[static_cast<Eigen::Index>(i)] = total_(targets[i], targets[i]);
  }
  return out;
}

Residuals Regressions::Fit(const ColumnList& features, const ColumnList& targets) const {
  Residuals out{VectorD::Zero(std::ssize(targets)), {}};
  ColumnList varying;
  std::ranges::copy_if(features, std::back_inserter(varying),
                       [&](Eigen::Index column) { return Varies(column); });
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    out.held_out += Rest(total_ - products_[fold], static_cast<double>(rows_) - counts_[fold],
                         products_[fold], varying, targets);
  }
  out.in_sample = Rest(total_, static_cast<double>(rows_), total_, varying, targets);
  return out;
}

}  // namespace lfiw::core
