#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GENERATORS_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GENERATORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/image_gof/generator_stages.h"
#include "experiments/image_gof/gof_table_config.h"
#include "experiments/image_gof/sample_set.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// Generators as stages of the cache: what trains them, what they sample, what density they give.

struct GeneratorOutput {
  std::vector<std::string> samples;  // files for ReadSamples
  std::optional<TrainedGenerator> model = {};
};

// Whether the generator can be trained on these images and can sample `runs` parts of them. Throws
// ConfigError with the cure, before anything costs time.
void CheckGenerator(const GeneratorOptions& options, const SampleSet& real_train,
                    std::int64_t runs);

// The files of a generator of kind samples; else trains on the images of real_train but for the
// last held_out (stage "train_KIND", whose checkpoint is KIND.npz) and samples (stage
// "sample_KIND", whose checkpoints are blocks of images). Throws Interrupted, and as TrainPixelCnn
// and TrainSngan.
GeneratorOutput MakeSamples(const GeneratorOptions& options, const SampleSet& real_train,
                            std::uint64_t seed, const ExperimentRun& run);

// log p(x) in nats of the first `count` images of a set, or of all if it has fewer, under a
// generator of kind pixel_cnn: stage "gof_log_density". The images have the size of the training
// images.
std::vector<double> BaseLogDensity(const GeneratorOptions& options, const TrainedGenerator& model,
                                   const SampleSet& set, std::int64_t count,
                                   const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_IMAGE_GENERATORS_H_
