#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_CONFIG_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/presentation/experiment.h"
#include "models/image/feature_classifier.h"

namespace lfiw::experiments {

// The data of the toy: two Gaussians of equal weight and deviation.
struct MixtureOptions {
  double low = -2.0;
  double high = 2.0;
  double deviation = 1.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("low", low, "mean of one Gaussian");
    v.Field("high", high, "mean of the other");
    v.Field("deviation", deviation, "standard deviation of both", Positive());
  }
};

// Where class probabilities are evaluated.
struct GridOptions {
  double low = -8.0;
  double high = 8.0;
  std::int64_t points = 161;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("low", low, "first point");
    v.Field("high", high, "last point");
    v.Field("points", points, "points, evenly spaced", Between(3, 100'000));
  }
};

// What the curves of the figure are computed from, beside the number of points and the seed.
struct ToyCurveOptions {
  std::int64_t bootstraps = 1000;
  double level = 0.95;
  MixtureOptions mixture;
  GridOptions grid;
  FeatureClassifierOptions classifier;

  ToyCurveOptions();

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("bootstraps", bootstraps, "classifiers behind an interval", Between(2, 1e6));
    v.Field("level", level, "coverage of the interval at each point", Between(0.5, 0.999));
    v.Field("mixture", mixture, "distribution of the data");
    v.Field("grid", grid, "points at which the class probability is shown");
    v.Field("classifier", classifier,
            "classifier; a batch holds at most all 2 n points, and the last parameters are kept");
  }
};

// The paper's figure 1.
struct ToyGaussianConfig : ToyCurveOptions {
  std::string name = "toy_gaussian";
  ExperimentKind experiment = ExperimentKind::kToyGaussian;
  std::uint64_t seed = 0;
  std::vector<std::int64_t> sizes = {50, 100, 1000};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("seed", seed, "root seed");
    v.Field("sizes", sizes, "real, and generated, points n of each panel", Between(2, 1e7));
    ToyCurveOptions::Visit(v);
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_CONFIG_H_
