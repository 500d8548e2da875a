#ifndef LFIW_CORE_MATRIX_H_
#define LFIW_CORE_MATRIX_H_

#include <Eigen/Core>

namespace lfiw::core {

// Batches are row-major: one row per sample. Networks and observations are float, statistics and
// physics double.
using MatrixF = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixD = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using VectorF = Eigen::VectorXf;
using VectorD = Eigen::VectorXd;

// Views of contiguous row-major batches, for parameters.
using ConstMatrixRef = Eigen::Ref<const MatrixF>;
using MatrixRef = Eigen::Ref<MatrixF>;

}  // namespace lfiw::core

#endif  // LFIW_CORE_MATRIX_H_
