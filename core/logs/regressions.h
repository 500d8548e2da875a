#ifndef LFIW_CORE_LOGS_REGRESSIONS_H_
#define LFIW_CORE_LOGS_REGRESSIONS_H_

#include <array>
#include <vector>

#include "core/matrix.h"

namespace lfiw::core {

// Columns of a matrix by their numbers, and those of two sets.
using ColumnList = std::vector<Eigen::Index>;
ColumnList operator+(ColumnList a, const ColumnList& b);

// Squared residuals of some targets, [targets].
struct Residuals {
  VectorD held_out;   // of fits to the other folds, summed over folds
  VectorD in_sample;  // of a fit to all
};

// Ridge regressions of some columns of a table on others, which follow from sums of products of the
// standardized columns by fold. Standard scores are clamped, so that one row can not decide.
class Regressions {
 public:
  static constexpr int kFolds = 3;

  // `columns` [rows, p] are finite; `folds` [rows] are in 0 .. kFolds - 1.
  Regressions(MatrixD columns, const std::vector<int>& folds);

  Eigen::Index rows() const { return rows_; }
  bool Varies(Eigen::Index column) const { return total_(column, column) > 0.0; }
  // Sums of squares of the standardized targets.
  VectorD Totals(const ColumnList& targets) const;
  Residuals Fit(const ColumnList& features, const ColumnList& targets) const;

 private:
  Eigen::Index rows_ = 0;
  MatrixD total_;
  std::array<MatrixD, kFolds> products_;
  std::array<double, kFolds> counts_{};
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_REGRESSIONS_H_
