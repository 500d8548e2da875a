#ifndef LFIW_OPE_FITS_LINEAR_GAUSSIAN_FITS_H_
#define LFIW_OPE_FITS_LINEAR_GAUSSIAN_FITS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/arrays/array.h"
#include "core/layers.h"
#include "envs/linear_gaussian.h"
#include "envs/linear_gaussian_log.h"
#include "ope/estimator.h"
#include "ope/fits/tabular_fits.h"

namespace lfiw::ope {

// Estimates from the log of a linear-Gaussian system by least squares, and exact ratios beside
// them: everything that estimators read, in closed form.

// The system fitted to a log: transitions by least squares, noise from its residuals (per degree of
// freedom), first states by their mean and covariance. Rewards are those of `system`, whose
// reward function is known. Throws DataError unless there are more transitions than unknowns.
LinearGaussianSystem FitLinearGaussian(const LinearGaussianLog& log,
                                       const LinearGaussianSystem& system);

// Q and V of the policy in `model` at the logged steps, exact; v_fit is V. Beyond the last of T
// steps V is 0 for a finite horizon; for an infinite one the log goes on. The log must have as many
// steps as a finite horizon. Throws as InfiniteHorizonValue.
ValueArrays LinearGaussianValues(const LinearGaussianSystem& model,
                                 const LinearGaussianPolicy& evaluation,
                                 const LinearGaussianLog& log, const Estimand& estimand);

// Features of the fitted Q: 1, z_i and z_i z_j of z = (x, u).
std::int64_t QuadraticFeatures(std::int64_t state_dim, std::int64_t action_dim);

// Fitted Q evaluation with quadratic features, of which the true Q is a combination: over a finite
// horizon least squares of r + g E_pi Q_{t+1}(x', .) at each step, backward in t; for an infinite
// horizon its fixed point over all steps (LSTD-Q). v_fit is left empty. Where features depend on
// each other the smallest coefficients are taken. Horizons as above. Throws DataError for fewer
// episodes (finite) or transitions (infinite) than features.
ValueArrays QuadraticFqeValues(const LinearGaussianLog& log, const LinearGaussianPolicy& evaluation,
                               const Estimand& estimand);

// MWL's weights with quadratic features, [n, T] (see ope/fits/linear_values.h); they may be
// negative. Over a finite horizon forward in t, E[phi_t w_t] = E[w_{t-1} E_pi phi(x_t, .)], over an
// infinite one by one solve. Not normalized by their sum they estimate the same number as
// QuadraticFqeValues. Errors as of QuadraticFqeValues.
Array<double, 2> QuadraticWeights(const LinearGaussianLog& log,
                                  const LinearGaussianPolicy& evaluation, const Estimand& estimand);

// log pi_e(u|x) - log pi_b(u|x), [n, T]. Throws PolicyError unless both policies' covariances are
// positive definite.
Array<double, 2> ActionLogRatios(const LinearGaussianPolicy& behavior,
                                 const LinearGaussianPolicy& evaluation,
                                 const LinearGaussianLog& log);

// Log-ratio at x_t of the exact densities of the states at t under the two policies, [n, T]; 0 at
// t = 0, where the densities are the same. Throws NumericError where one is singular.
Array<double, 2> VisitationLogRatios(const LinearGaussianSystem& system,
                                     const LinearGaussianPolicy& behavior,
                                     const LinearGaussianPolicy& evaluation,
                                     const LinearGaussianLog& log);

// The same of the states' density under the evaluation policy in the model, over the normal density
// with mean and covariance of the logged states at t.
Array<double, 2> ModelVisitationLogRatios(const LinearGaussianSystem& model,
                                          const LinearGaussianPolicy& evaluation,
                                          const LinearGaussianLog& log);

// What the fits to the log of a linear-Gaussian system are functions of: the first T steps of the
// log, and the system that is fitted to it. References outlive it; one thread uses it.
struct LinearGaussianSource {
  const LinearGaussianSystem& system;
  const LinearGaussianPolicy& behavior;
  const LinearGaussianPolicy& evaluation;
  LinearGaussianLog log;
  LinearGaussianSystem model;
  Estimand estimand;
  ModelRolloutCounts counts;
  std::uint64_t seed = 0;

  // Throws DataError for a log shorter than the horizon, else as FitLinearGaussian.
  LinearGaussianSource(const LinearGaussianSystem& of, const LinearGaussianPolicy& logs,
                       const LinearGaussianPolicy& evaluated, const LinearGaussianLog& episodes,
                       const Estimand& value, const ModelRolloutCounts& draw, std::uint64_t root);

  // Returns QuadraticFqeValues, computed once.
  const ValueArrays& FittedQ() const;

 private:
  mutable std::optional<ValueArrays> q_;
};

// What several kinds of fits are in a linear-Gaussian system. Errors are those of the functions
// above.
//
// log_ratios "action"; missing where a policy is deterministic in some direction.
FittedArrays LinearGaussianActionRatios(const LinearGaussianSource& source);
// Values by that name from least squares on quadratic features, which FQE and MQL agree on; missing
// where the log has fewer rows than features.
FittedArrays QuadraticQ(const LinearGaussianSource& source, const std::string& name);
// Weights "mwl" of the same features; missing likewise.
FittedArrays QuadraticMarginalWeights(const LinearGaussianSource& source);
// Values "model", exact in the fitted system, "model_visitation" and model_alive (all 1).
FittedArrays LinearGaussianModelValues(const LinearGaussianSource& source);
// Rollouts of the evaluation policy in the fitted system with the exact log-ratios of their
// transitions; missing for an infinite horizon. Throws ConfigError where the noise is singular.
FittedArrays LinearGaussianRollouts(const LinearGaussianSource& source);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_LINEAR_GAUSSIAN_FITS_H_
