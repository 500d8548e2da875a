#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_

#include <cstdint>

#include "core/layers.h"
#include "core/run/stage.h"
#include "experiments/image_gof/toy_gaussian_config.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// The curves of one panel.
struct ToyCurvesStage {
  static constexpr StageInfo kInfo{.name = "toy_curves", .layer = Layer::kExperiments};
  struct Key {
    std::int64_t n = 0;
    ToyCurveOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("n", n, "points of the data, and of the model");
      v.Field("options", options, "data, classifiers and grid");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  using Inputs = NoInputs;
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);
};

// The paper's figure 1: class probabilities with bootstrap intervals for every size, one stage
// each. Writes results.csv (a line per size), curves.csv, plots and report.html into the run
// directory. The outcome's object holds `results`.
Outcome RunToyGaussian(const ToyGaussianConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_TOY_GAUSSIAN_H_
