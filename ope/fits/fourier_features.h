#ifndef LFIW_OPE_FITS_FOURIER_FEATURES_H_
#define LFIW_OPE_FITS_FOURIER_FEATURES_H_

#include <array>
#include <cstdint>
#include <span>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "core/rng.h"
#include "models/scaler.h"

namespace lfiw::ope {

// Fixed features phi(s, a, t) of a state, an action and a step, for functions linear in them.
// Thread safe.
class FeatureMap {
 public:
  virtual ~FeatureMap() = default;
  virtual std::int64_t size() const = 0;
  // pairs [n, obs_dim + action_dim], steps [n], features [n, size()] (written).
  virtual void Apply(ConstMatrixRef pairs, std::span<const std::int64_t> steps,
                     MatrixRef features) const = 0;
};

// Which polynomials of the scaled inputs stand beside the Fourier features.
enum class PolynomialTerms { kConstant, kLinear, kQuadratic };
constexpr auto EnumNames(PolynomialTerms /*kind*/) {
  return std::to_array<std::string_view>({"constant", "linear", "quadratic"});
}

struct FourierOptions {
  std::int64_t features = 300;
  // Length scale of the kernel as a multiple of the median distance between rows.
  double length_scale = 1.0;
  std::int64_t median_rows = 500;  // rows among which the median distance is taken
  PolynomialTerms polynomial = PolynomialTerms::kLinear;
  ScalerOptions scaler;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("features", features, "random Fourier features", AtLeast(0));
    v.Field("length_scale", length_scale, "of the kernel, in median distances between rows",
            Positive());
    v.Field("median_rows", median_rows, "rows among which the median distance is taken",
            AtLeast(2));
    v.Field("polynomial", polynomial, "polynomial features beside them");
    v.Field("scaler", scaler, "what counts as a constant dimension");
  }
};

// Random Fourier features of the Gaussian kernel exp(-|x - y|^2 / (2 l^2)) (Rahimi and Recht 2007),
//   sqrt(2 / D) cos(w_k . x + b_k),  w_k ~ N(0, I / l^2),  b_k ~ U[0, 2 pi),
// on x = (scaled s and a, scaled t), with polynomials of x before them. The product of two rows of
// Fourier features is the kernel up to an error of order 1 / sqrt(D). Without a horizon (steps = 1)
// the step is no input. l is length_scale times the median distance (Gretton et al. 2012), which
// keeps the kernel neither flat nor a spike whatever the dimension.
class FourierFeatures final : public FeatureMap {
 public:
  // Scales and length scale from rows pairs [n, obs_dim + action_dim], n >= 1; t = 0 .. steps - 1.
  FourierFeatures(ConstMatrixRef pairs, std::int64_t steps, const FourierOptions& options,
                  const Stream& stream);

  std::int64_t size() const override;
  void Apply(ConstMatrixRef pairs, std::span<const std::int64_t> steps,
             MatrixRef features) const override;

  double length_scale() const { return length_scale_; }  // l, in deviations of the inputs

 private:
  std::int64_t inputs() const { return scaler_.active_dim() + (steps_ > 1 ? 1 : 0); }
  std::int64_t polynomials() const;
  MatrixF Inputs(ConstMatrixRef pairs, std::span<const std::int64_t> steps) const;
  void Polynomials(const MatrixF& inputs, MatrixRef features) const;
  double MedianDistance(ConstMatrixRef pairs, std::int64_t count, Stream stream) const;

  Scaler scaler_;
  std::int64_t steps_;
  PolynomialTerms polynomial_;
  double length_scale_ = 1.0;
  MatrixF frequencies_;  // [inputs, D]
  Eigen::RowVectorXf phases_;
};

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_FOURIER_FEATURES_H_
