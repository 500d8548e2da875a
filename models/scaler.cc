#include "models/scaler.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index_list.h"

namespace lfiw::models {

Scaler::Scaler(const VectorF& mean, const VectorF& deviation)
    : mean_(mean), deviation_(deviation), active_(IndexList(mean.size())) {
  LFIW_ASSERT(mean.size() == deviation.size());
}

Scaler Scaler::Fit(ConstMatrixRef rows, const ScalerOptions& options) {
  const auto read = [&](std::int64_t i, VectorF& row) { row = rows.row(i).transpose(); };
  return Fit(rows.rows(), rows.cols(), read, options);
}

Scaler Scaler::Fit(std::int64_t rows, std::int64_t dim, const RowReader& read,
                   const ScalerOptions& options) {
  LFIW_ASSERT(rows >= 1);
  const auto count = static_cast<double>(rows);
  VectorF values(dim);
  VectorD mean = VectorD::Zero(dim);
  for (std::int64_t i = 0; i < rows; ++i) {
    read(i, values);
    mean += values.cast<double>();
  }
  mean /= count;
  VectorD square = VectorD::Zero(dim);
  VectorD largest = VectorD::Zero(dim);
  for (std::int64_t i = 0; i < rows; ++i) {
    read(i, values);
    const VectorD row = values.cast<double>();
    square.array() += (row - mean).array().square();
    largest = largest.cwiseMax(row.cwiseAbs());
  }

  Scaler scaler;
  scaler.mean_ = mean.cast<float>();
  scaler.deviation_ = (square / count).cwiseSqrt().cast<float>();
  for (Eigen::Index j = 0; j < dim; ++j) {
    const double deviation = std::sqrt(square(j) / count);
    const double floor = std::max(options.absolute_floor, options.relative_floor * largest(j));
    if (deviation > floor) scaler.active_.push_back(j);
  }
  return scaler;
}

std::vector<std::int64_t> Scaler::Constant() const {
  const std::vector<std::int64_t> all = IndexList(dim());
  std::vector<std::int64_t> constant;
  std::set_difference(all.begin(), all.end(), active_.begin(), active_.end(),
                      std::back_inserter(constant));
  return constant;
}

void Scaler::Drop(std::span<const std::int64_t> dims) {
  std::erase_if(active_, [&](std::int64_t j) {
    return std::find(dims.begin(), dims.end(), j) != dims.end();
  });
}

void Scaler::ScaleRow(const float* values, float* scaled) const {
  for (const std::int64_t j : active_) *scaled++ = (values[j] - mean_(j)) / deviation_(j);
}

void Scaler::Scale(ConstMatrixRef values, MatrixRef scaled) const {
  LFIW_ASSERT(values.cols() == dim() && scaled.cols() == active_dim());
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    ScaleRow(values.data() + i * values.outerStride(), scaled.data() + i * scaled.outerStride());
  }
}

void Scaler::ScaleRows(ConstMatrixRef values, std::span<const std::int64_t> rows,
                       MatrixRef scaled) const {
  LFIW_ASSERT(values.cols() == dim() && scaled.cols() == active_dim());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ScaleRow(values.data() + rows[i] * values.outerStride(),
             scaled.data() + static_cast<std::int64_t>(i) * scaled.outerStride());
  }
}

void Scaler::Save(const std::string& prefix, NpzFile& file) const {
  file.Put(prefix + ".mean", mean_);
  file.Put(prefix + ".deviation", deviation_);
  file.Put(prefix + ".active", active_);
}

Scaler Scaler::Load(const NpzFile& file, const std::string& prefix) {
  Scaler scaler;
  scaler.mean_ = file.GetVector(prefix + ".mean");
  scaler.deviation_ = file.GetVector(prefix + ".deviation");
  scaler.active_ = file.GetIntegers(prefix + ".active");
  if (scaler.deviation_.size() != scaler.dim()) {
    Throw<DataError>("array {}.deviation has {} values, expected {}", prefix,
                     scaler.deviation_.size(), scaler.dim());
  }
  for (std::size_t i = 0; i < scaler.active_.size(); ++i) {
    const std::int64_t j = scaler.active_[i];
    if (j < 0 || j >= scaler.dim() || (i > 0 && j <= scaler.active_[i - 1])) {
      Throw<DataError>("array {}.active[{}] is {}, expected ascending indices below {}", prefix, i,
                       j, scaler.dim());
    }
    if (!(scaler.deviation_(j) > 0.0f)) {
      Throw<DataError>("array {}.deviation[{}] is {}, expected a positive number", prefix, j,
                       scaler.deviation_(j));
    }
  }
  return scaler;
}

}  // namespace lfiw::models
