#include "experiments/image_gof/symmetric_eigen.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

// LAPACK has no header among the packages; OpenBLAS holds its routines.
extern "C" void dsyevd_(const char* job, const char* triangle, const int* n, double* a,
                        const int* lda, double* w, double* work, const int* work_size,
                        int* integer_work, const int* integer_work_size, int* info);

namespace lfiw::experiments {
namespace {

// beyond it the size of the workspace leaves a 32-bit integer
constexpr Eigen::Index kMaxDim = 16'384;

// Overwrites `matrix` by its eigenvectors (job 'V') or anything (job 'N').
VectorD Run(char job, MatrixD& matrix) {
  LFIW_ASSERT(matrix.rows() == matrix.cols() && matrix.rows() <= kMaxDim);
  if (!matrix.allFinite())
    Throw<NumericError>("a covariance matrix holds a value that is not finite");
  // the first call makes core pin OpenBLAS to one thread
  static_cast<void>(Threads());
  const auto n = static_cast<int>(matrix.rows());
  VectorD values(n);
  if (n == 0) return values;
  double work_size = 0.0;
  int integer_size = 0, info = 0;
  const int query = -1;
  dsyevd_(&job, "L", &n, matrix.data(), &n, values.data(), &work_size, &query, &integer_size,
          &query, &info);
  VectorD work(static_cast<Eigen::Index>(work_size));
  std::vector<int> integers(static_cast<std::size_t>(integer_size));
  const auto size = static_cast<int>(work.size());
  dsyevd_(&job, "L", &n, matrix.data(), &n, values.data(), work.data(), &size, integers.data(),
          &integer_size, &info);
  if (info != 0) {
    Throw<NumericError>("the eigenvalues of a {} x {} matrix did not converge (dsyevd: {})", n, n,
                        info);
  }
  return values;
}

}  // namespace

SymmetricEigen DecomposeSymmetric(MatrixD matrix) {
  SymmetricEigen result;
  result.values = Run('V', matrix);
  // LAPACK's columns are the rows of a row-major matrix
  result.vectors = std::move(matrix);
  return result;
}

VectorD SymmetricEigenvalues(MatrixD matrix) { return Run('N', matrix); }

}  // namespace lfiw::experiments
