#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_FIGURES_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_FIGURES_H_

#include <cstdint>
#include <string>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/plot.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// What a generator looks like: its samples and how it learned.

// A grid of 64 samples drawn at random (all, if there are fewer), written as plots/NAME.png and
// returned as an <svg> element; empty without images.
std::string DrawSamples(const ExperimentRun& run, const std::string& name, const ImageBatch& images,
                        std::uint64_t seed);

// Every figure of a training against its steps.
Plot LearningPlot(const std::string& model, const TrainingHistory& history);

// The last value of every figure: "8,000 steps; at the end bits per dimension 4.1, ...".
std::string TrainingLine(const TrainingHistory& history);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_FIGURES_H_
