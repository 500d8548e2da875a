#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_BIAS_VARIANCE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_BIAS_VARIANCE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "experiments/image_gof/sample_weights.h"

namespace lfiw::experiments {

// How far estimates of d mean features are off, over several draws of T samples (the paper's
// appendix B). With bias_j = mean over draws - truth_j and var_j = mean squared deviation from the
// mean over draws (ddof 0), statistics j = 1 .. d.
struct BiasVariance {
  std::string weights;
  std::string params;
  std::int64_t draws = 0;
  // |mean over j of bias_j|, which is what the paper's code reports, and the mean of |bias_j|. The
  // standard errors are those of the mean over the d statistics.
  double abs_mean_bias = 0.0, bias_error = 0.0;
  double mean_abs_bias = 0.0;
  double variance = 0.0, variance_error = 0.0;
  double mse = 0.0, mse_error = 0.0;  // of bias_j^2 + var_j
  std::string reason = {};            // why there are no numbers
};

// One entry per variant, after one without weights. features [m, d] of the generator's samples,
// log_weights [m], truth [d]. Draws are disjoint parts of a random order as long as m lasts for two
// of them, at most `draws`; else random subsets, which overlap. d >= 2, size <= m.
std::vector<BiasVariance> MeasureBiasVariance(ConstMatrixRef features, const SampleRatios& ratios,
                                              const VectorD& truth,
                                              std::span<const WeightVariant> variants,
                                              std::int64_t size, std::int64_t draws,
                                              std::uint64_t seed);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_BIAS_VARIANCE_H_
