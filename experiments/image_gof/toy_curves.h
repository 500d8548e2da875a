#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_CURVES_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_CURVES_H_

#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "core/rng.h"
#include "core/run/progress.h"
#include "experiments/image_gof/toy_gaussian_config.h"
#include "ope/rollouts/importance_resampling.h"

namespace lfiw::experiments {

// log-density in nats.
double MixtureLogDensity(const MixtureOptions& mixture, double x);
double NormalLogDensity(double mean, double deviation, double x);

double DrawMixture(const MixtureOptions& mixture, Stream& stream);

// The points of a grid, both ends included.
std::vector<double> GridPoints(const GridOptions& grid);

// What one panel of the figure shows.
struct ToyCurves {
  std::int64_t n = 0;
  double model_mean = 0.0;  // of the Gaussian with the data's moments
  double model_deviation = 0.0;
  // Log-ratios at the grid's points: of the classifier trained on the data, and the quantiles of
  // those trained on bootstraps.
  std::vector<double> estimate = {}, low = {}, high = {};  // [points]
  // The estimate's log-weights at n fresh points of the data and n of the model.
  std::vector<double> held_out_data = {}, held_out_model = {};  // [n]
};

// Draws n points of the mixture, fits the Gaussian, and trains a classifier on them and on n points
// of the Gaussian, then one for every bootstrap (appendix A of the paper): points of the data drawn
// with replacement, fresh points of the Gaussian, which stays as it is. Bootstraps are parallel
// tasks; `progress` advances by classifiers and may be null.
ToyCurves FitToyCurves(const ToyCurveOptions& options, std::int64_t n, std::uint64_t seed,
                       Progress* progress);

// How good the estimate is, by integrals over the grid in which the truth is known.
struct ToySummary {
  double rms_gap = 0.0;     // of the class probability, under an equal mixture of data and model
  double mean_width = 0.0;  // of the interval of the probability, likewise
  double coverage = 0.0;    // share of that mixture where the interval holds the optimal curve
  double model_divergence = 0.0;      // KL(data, model), nats
  double resampled_divergence = 0.0;  // KL(data, resampled model)
  double ess = 0.0;                   // of the held-out model points' weights
  LogPartition partition;
  ResamplingConditions conditions;
};
ToySummary SummarizeToy(const ToyCurveOptions& options, const ToyCurves& curves);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_CURVES_H_
