#ifndef LFIW_OPE_FITS_LINEAR_VALUES_H_
#define LFIW_OPE_FITS_LINEAR_VALUES_H_

#include <cstdint>
#include <memory>
#include <span>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/matrix.h"
#include "ope/estimator.h"
#include "ope/fits/fourier_features.h"
#include "ope/fits/logged_rows.h"

namespace lfiw::ope {

// Minimax Q and weight learning (MQL and MWL, Uehara, Huang and Jiang 2020) with functions linear
// in features phi(s, a, t), in closed form. Both ask that a bilinear form vanish for every test
// function of the same features:
//
//   MQL:  E[ phi_i (r + g Q_{t+1}(s', pi) - Q_t(s, a)) ] = 0,    Q = theta . phi
//   MWL:  E[ w_t(s, a) (f_t(s, a) - f_{t+1}(s', pi)) ] = E[ f_0(s_0, pi) ]  for f = phi_i,
//         w = alpha . phi
//
// MQL is then LSTD-Q (Bradtke and Barto 1996; Lagoudakis and Parr 2003). w_t is the ratio of the
// evaluation policy's to the logged distribution of (s, a) at t; over an infinite horizon f_{t+1}
// is discounted and E f_0 times 1 - g, and w is the ratio of the discounted visitation to all
// logged steps. Without discount, ridge and penalty MQL's value is MWL's, 1 / n sum w r, whatever
// the features. With random Fourier features these are the kernel versions.

struct LinearValueOptions {
  // On Q's coefficients: added to diagonals of the normal equations, as a share of their mean.
  double ridge = 1e-6;
  // On E[w^2], as a share of the mean diagonals of the two terms. Weights match noise in the
  // moments without.
  double weight_penalty = 1e-6;
  // Actions of the policy that stand for its expectation at successors, and in V.
  std::int64_t target_draws = 10;
  std::int64_t value_draws = 20;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("ridge", ridge, "ridge as a share of the mean diagonal", AtLeast(0.0));
    v.Field("weight_penalty", weight_penalty, "penalty on the mean square of the weights, relative",
            AtLeast(0.0));
    v.Field("target_draws", target_draws, "actions drawn at each successor", AtLeast(1));
    v.Field("value_draws", value_draws, "actions drawn for each value of a state", AtLeast(1));
  }
};

struct LinearValues {
  std::shared_ptr<const FeatureMap> features;
  VectorD q;        // theta
  VectorD weights;  // alpha
  // Estimated condition numbers of the systems that were solved, ridge included.
  double q_condition = 0.0;
  double weight_condition = 0.0;
  double value = 0.0;        // MQL's, E Q_0(s_0, pi)
  double mean_weight = 0.0;  // MWL's over all steps; 1 when exact
};

// Fourier features of the logged steps that count for the estimand.
std::shared_ptr<const FeatureMap> MakeFourierFeatures(const EpisodeBatch& log,
                                                      const Estimand& estimand,
                                                      const FourierOptions& options,
                                                      std::uint64_t seed);

// Fits both to the first T steps of all episodes of the log. With G = E[phi phi'],
// A = E[phi (phi - g phi_next)'] and A_1 the same without discount (over an infinite horizon with
// it), theta minimizes the projected Bellman error |G^{-1/2} (E[phi r] - A theta)|^2 plus the
// ridge, alpha the largest violation by test functions |f| <= 1, |E phi_0 - A_1' alpha|^2, plus the
// penalty on E[w^2] = alpha' G alpha; by Cholesky in double. Episodes that a time limit cut are
// continued, those that terminated are not. Throws DataError for a log without steps, ConfigError
// for an infinite horizon without discount below 1, NumericError when features depend on each other
// and ridge or penalty are too small for it.
LinearValues FitLinearValues(const LoggedProblem& problem,
                             std::shared_ptr<const FeatureMap> features,
                             const LinearValueOptions& options, std::uint64_t seed);

// MQL's Q and V on the listed episodes, padded to `columns` steps: values "mql".
ValueArrays LinearQValues(const LinearValues& fit, const LoggedProblem& problem,
                          std::span<const std::int64_t> episodes, std::int64_t columns,
                          const LinearValueOptions& options, std::uint64_t seed);

// MWL's weights on the listed episodes, [n, columns]: weights "mwl". They may be negative.
Array<double, 2> LinearWeights(const LinearValues& fit, const EpisodeBatch& log,
                               std::span<const std::int64_t> episodes, const Estimand& estimand,
                               std::int64_t columns);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_LINEAR_VALUES_H_
