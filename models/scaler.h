#ifndef LFIW_MODELS_SCALER_H_
#define LFIW_MODELS_SCALER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::models {

struct ScalerOptions {
  // A dimension is constant when its standard deviation is at most this share of its largest
  // magnitude; float rounding alone stays below.
  double relative_floor = 1e-6;
  // ... or at most this in its own unit.
  double absolute_floor = 1e-8;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("relative_floor", relative_floor,
            "a dimension is constant below this ratio of standard deviation to magnitude",
            Between(0.0, 1.0));
    v.Field("absolute_floor", absolute_floor,
            "a dimension is constant below this standard deviation", AtLeast(0.0));
  }
};

// Z-scores of the dimensions that vary. Constant dimensions are left out of the scaled rows, since
// dividing by their deviation would turn rounding errors into signals.
class Scaler {
 public:
  Scaler() = default;
  // A scaler of given moments, all dimensions active. mean, deviation [dim], deviation > 0.
  Scaler(const VectorF& mean, const VectorF& deviation);
  // Moments (in double) of rows [n, dim], n >= 1; dim may be 0.
  static Scaler Fit(ConstMatrixRef rows, const ScalerOptions& options = {});
  // Writes row i to its argument [dim].
  using RowReader = std::function<void(std::int64_t i, VectorF& row)>;
  // Fits to `count` >= 1 rows that are read one at a time, each of them twice, so that rows which
  // are spread over a log need no copy. Gives the bytes of the Fit of a matrix of these rows.
  static Scaler Fit(std::int64_t count, std::int64_t dim, const RowReader& read,
                    const ScalerOptions& options);

  std::int64_t dim() const { return mean_.size(); }
  std::int64_t active_dim() const { return static_cast<std::int64_t>(active_.size()); }
  // Indices that vary, ascending, and the others.
  const std::vector<std::int64_t>& active() const { return active_; }
  std::vector<std::int64_t> Constant() const;
  // [dim]; the deviation of a constant dimension is as measured.
  const VectorF& mean() const { return mean_; }
  const VectorF& deviation() const { return deviation_; }

  // Treats the listed dimensions as constant too.
  void Drop(std::span<const std::int64_t> dims);

  // scaled[i, j] = (values[i, active[j]] - mean) / deviation; values [n, dim], scaled
  // [n, active_dim].
  void Scale(ConstMatrixRef values, MatrixRef scaled) const;
  // The same for the listed rows of `values`; scaled [rows.size(), active_dim].
  void ScaleRows(ConstMatrixRef values, std::span<const std::int64_t> rows, MatrixRef scaled) const;

  // Arrays "<prefix>.mean", ".deviation", ".active". Load throws DataError when they disagree.
  void Save(const std::string& prefix, NpzFile& file) const;
  static Scaler Load(const NpzFile& file, const std::string& prefix);

 private:
  void ScaleRow(const float* values, float* scaled) const;

  VectorF mean_;
  VectorF deviation_;
  std::vector<std::int64_t> active_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_SCALER_H_
