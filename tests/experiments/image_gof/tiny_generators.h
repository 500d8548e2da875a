#ifndef LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_TINY_GENERATORS_H_
#define LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_TINY_GENERATORS_H_

#include "core/layers.h"
#include "experiments/image_gof/gof_table_config.h"
#include "tests/models/image/small_generators.h"

namespace lfiw::experiments {

// Generators of images of 8 x 8 pixels that are trained in a moment, for 4 steps.

inline GeneratorOptions TinyPixelCnn() {
  GeneratorOptions options;
  options.name = "PixelCNN++";
  options.kind = GeneratorKind::kPixelCnn;
  options.count = 60;
  options.held_out = 10;
  options.pixel_cnn = SmallPixelCnnOptions();
  options.pixel_cnn.filters = 4;
  options.pixel_cnn.components = 2;
  options.pixel_cnn.initial_batch = 8;
  options.pixel_cnn.training.batch = 4;
  options.pixel_cnn.training.steps = 4;
  options.pixel_cnn.training.report_every = 2;
  options.pixel_cnn.training.device = Device::kCpu;
  return options;
}

inline GeneratorOptions TinySngan() {
  GeneratorOptions options;
  options.name = "SNGAN";
  options.kind = GeneratorKind::kSngan;
  options.count = 60;
  options.held_out = 10;
  options.sngan = SmallSnganOptions();
  options.sngan.noise_dim = 8;
  options.sngan.generator_width = 4;
  options.sngan.discriminator_width = 4;
  options.sngan.generator_batch = 4;
  options.sngan.training.batch = 4;
  options.sngan.training.steps = 4;
  options.sngan.training.report_every = 2;
  options.sngan.training.device = Device::kCpu;
  return options;
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_IMAGE_GOF_TINY_GENERATORS_H_
