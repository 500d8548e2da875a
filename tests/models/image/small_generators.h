#ifndef LFIW_TESTS_MODELS_IMAGE_SMALL_GENERATORS_H_
#define LFIW_TESTS_MODELS_IMAGE_SMALL_GENERATORS_H_

#include "core/layers.h"
#include "models/image/dagan_options.h"
#include "models/image/pixel_cnn.h"
#include "models/image/sngan_options.h"

namespace lfiw::models {

// Settings of the generators that are small enough for two cores.

inline DaganOptions SmallDaganOptions() {
  DaganOptions options;
  options.widths = {16, 16, 32, 32};
  options.generator_inner = 1;
  options.critic_inner = 1;
  options.critic_steps = 3;
  options.average_decay = 0.999;
  // 0.45 s of one core per step: 15 minutes on two idle cores
  options.training.steps = 4000;
  options.training.chunks = 2;
  options.training.adam.learning_rate = 2e-4;
  return options;
}

inline PixelCnnOptions SmallPixelCnnOptions() {
  PixelCnnOptions options;
  options.filters = 24;
  options.blocks = 1;
  options.components = 5;
  options.dropout = 0.0;
  options.rate_decay = 0.9999;
  options.average_decay = 0.999;
  // 0.55 s of one core per step and 20 ms per sampled image: 23 minutes on two idle cores
  options.training.steps = 5000;
  options.training.batch = 16;
  options.training.chunks = 2;
  options.training.adam = {.learning_rate = 2e-3, .beta1 = 0.95, .beta2 = 0.9995};
  return options;
}

inline SnganOptions SmallSnganOptions() {
  SnganOptions options;
  options.architecture = SnganArchitecture::kStandard;
  options.generator_width = 32;
  options.discriminator_width = 32;
  options.critic_steps = 1;
  options.generator_batch = 32;
  options.average_decay = 0.999;
  // 0.4 s of one core per step: 33 minutes on two idle cores
  options.training.steps = 10'000;
  options.training.batch = 32;
  options.training.chunks = 2;
  // beta1 = 0.5 and one discriminator step: setting C of the paper's comparison
  options.training.adam.beta1 = 0.5;
  options.training.adam.beta2 = 0.999;
  return options;
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_IMAGE_SMALL_GENERATORS_H_
