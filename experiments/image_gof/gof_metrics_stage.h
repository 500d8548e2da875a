#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_STAGE_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_STAGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/image_gof/fitted_weights.h"
#include "experiments/image_gof/gof_metrics.h"
#include "experiments/image_gof/sample_set.h"

namespace lfiw::experiments {

// The metrics of generated samples, plain and weighted, as MeasureFit gives them.
struct GofMetricsStage {
  static constexpr StageInfo kInfo{.name = "gof_metrics", .layer = Layer::kExperiments};
  struct Key {
    GofMetricOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "what is measured");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const SamplePair& samples;
    const FittedWeights& weights;
    const SmoothedWeights& smoothed;
    std::vector<std::string> Hashes() const {
      return {samples.real.hash, samples.generated.hash, samples.features_hash, weights.hash,
              smoothed.Identity()};
    }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static std::vector<GofRow> Read(const Artifact& artifact);
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_METRICS_STAGE_H_
