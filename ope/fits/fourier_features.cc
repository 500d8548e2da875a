#include "ope/fits/fourier_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/index_list.h"
#include "core/statistics.h"
#include "models/episode_split.h"
#include "ope/fits/logged_rows.h"

namespace lfiw::ope {

FourierFeatures::FourierFeatures(ConstMatrixRef pairs, std::int64_t steps,
                                 const FourierOptions& options, const Stream& stream)
    : scaler_(Scaler::Fit(pairs, options.scaler)), steps_(steps), polynomial_(options.polynomial) {
  length_scale_ =
      options.length_scale * MedianDistance(pairs, options.median_rows, stream.Child(0));
  frequencies_.resize(inputs(), options.features);
  phases_.resize(options.features);
  Stream frequencies = stream.Child(1), phases = stream.Child(2);
  frequencies.FillNormal(
      std::span(frequencies_.data(), static_cast<std::size_t>(frequencies_.size())));
  frequencies_ /= static_cast<float>(length_scale_);
  phases.FillUniform(std::span(phases_.data(), static_cast<std::size_t>(phases_.size())));
  phases_ *= static_cast<float>(2.0 * std::numbers::pi);
}

std::int64_t FourierFeatures::size() const { return polynomials() + frequencies_.cols(); }

std::int64_t FourierFeatures::polynomials() const {
  const std::int64_t d = inputs();
  switch (polynomial_) {
    case PolynomialTerms::kConstant:
      return 1;
    case PolynomialTerms::kLinear:
      return 1 + d;
    case PolynomialTerms::kQuadratic:
      return 1 + d + d * (d + 1) / 2;
  }
  return 0;
}

void FourierFeatures::Apply(ConstMatrixRef pairs, std::span<const std::int64_t> steps,
                            MatrixRef features) const {
  const MatrixF inputs = Inputs(pairs, steps);
  Polynomials(inputs, features.leftCols(polynomials()));
  if (frequencies_.cols() == 0) return;
  MatrixF angles = inputs * frequencies_;
  angles.rowwise() += phases_;
  const float amplitude = std::sqrt(2.0f / static_cast<float>(frequencies_.cols()));
  features.rightCols(frequencies_.cols()) = amplitude * angles.array().cos();
}

MatrixF FourierFeatures::Inputs(ConstMatrixRef pairs, std::span<const std::int64_t> steps) const {
  MatrixF out(pairs.rows(), inputs());
  scaler_.Scale(pairs, out.leftCols(scaler_.active_dim()));
  if (steps_ == 1) return out;
  // uniform steps get deviation 1 too
  const double scale = std::numbers::sqrt3 * 2.0 / static_cast<double>(steps_ - 1);
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto t = static_cast<double>(steps[static_cast<std::size_t>(i)]);
    out(i, out.cols() - 1) = static_cast<float>(scale * t - std::numbers::sqrt3);
  }
  return out;
}

void FourierFeatures::Polynomials(const MatrixF& inputs, MatrixRef features) const {
  features.col(0).setOnes();
  if (polynomial_ == PolynomialTerms::kConstant) return;
  features.middleCols(1, inputs.cols()) = inputs;
  if (polynomial_ == PolynomialTerms::kLinear) return;
  Eigen::Index column = 1 + inputs.cols();
  for (Eigen::Index j = 0; j < inputs.cols(); ++j) {
    for (Eigen::Index k = 0; k <= j; ++k, ++column) {
      features.col(column) = inputs.col(j).cwiseProduct(inputs.col(k));
    }
  }
}

double FourierFeatures::MedianDistance(ConstMatrixRef pairs, std::int64_t count,
                                       Stream stream) const {
  const std::vector<std::int64_t> picked =
      Subsample(IndexList(pairs.rows()), count, stream.Child(0));
  // steps are as good as drawn uniformly
  std::vector<std::int64_t> steps;
  MatrixF rows(std::ssize(picked), pairs.cols());
  for (const std::int64_t row : picked) {
    rows.row(std::ssize(steps)) = pairs.row(row);
    steps.push_back(static_cast<std::int64_t>(stream.Below(static_cast<std::uint64_t>(steps_))));
  }
  const MatrixF inputs = Inputs(rows, steps);
  std::vector<double> distances;
  for (Eigen::Index i = 0; i < inputs.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      distances.push_back(static_cast<double>((inputs.row(i) - inputs.row(j)).norm()));
    }
  }
  const double median = distances.empty() ? 0.0 : Quantile(distances, 0.5);
  return median > 0.0 ? median : 1.0;
}

}  // namespace lfiw::ope
