#ifndef LFIW_OPE_ROLLOUTS_IMPORTANCE_RESAMPLING_H_
#define LFIW_OPE_ROLLOUTS_IMPORTANCE_RESAMPLING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/rng.h"
#include "ope/judgement/diagnostics.h"

namespace lfiw::ope {

// The importance resampled model of a base model p and weights w, with density p(x) w(x) / Z and
// Z = E_p[w] (the paper's section 4). Weights are logarithms of any scale; -inf is a weight of 0.

// log Z from samples of the base model, log_weights [T], T >= 1. The mean weight is unbiased, its
// logarithm is not: by about -standard_error^2 / 2. Throws NumericError when every weight is 0.
struct LogPartition {
  double value = 0.0;
  std::optional<double> standard_error = std::nullopt;  // first order; needs two samples
};
LogPartition EstimateLogPartition(std::span<const double> log_weights);

// Log-density of the importance resampled model where the base has one (equation 11), in nats. The
// standard error is that of log Z: the same for every x, so differences between x are free of it.
struct LogDensityEstimate {
  double value = 0.0;
  std::optional<double> standard_error = std::nullopt;
};
LogDensityEstimate ResampledLogDensity(double base_log_density, double log_weight,
                                       const LogPartition& partition);

// Draws `count` indices of one pool by systematic resampling, ascending: candidate i is drawn floor
// or ceil of count * w_i / sum w times, which has less variance than as many single draws. One
// uniform number decides all. One draw for every T fresh candidates is
// sampling-importance-resampling (algorithm 1), with the density of equation 12. log_weights [T], T
// >= 1. Throws NumericError when every weight is 0.
std::vector<std::int64_t> DrawSystematically(std::span<const double> log_weights,
                                             std::int64_t count, Stream& stream);

// Whether weights bring the model closer to the data, judged without knowing the truth. Margins are
// in nats.
struct ResamplingConditions {
  // KL(data, model) - KL(data, resampled model) = E_data[log w] - log E_model[w] >= 0: necessary
  // and sufficient (the paper prints the opposite sign of the difference).
  ImprovementCheck divergence;
  // Proposition 1, necessary only: E_data[w] >= E_model[w], as a difference of logarithms, and
  // E_data[log w] >= E_model[log w].
  ImprovementCheck mean_weight;
  ImprovementCheck mean_log_weight;
};

// data, model [any]: log-weights of held-out real samples and of samples of the model.
ResamplingConditions CheckResampling(std::span<const double> data, std::span<const double> model);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ROLLOUTS_IMPORTANCE_RESAMPLING_H_
