#ifndef LFIW_MODELS_IMAGE_SNGAN_OPTIONS_H_
#define LFIW_MODELS_IMAGE_SNGAN_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "models/image/training.h"

namespace lfiw::models {

// The networks for 32 x 32 images of Miyato et al. 2018: residual ones, or the plain ones whose
// cost lies at low resolutions.
enum class SnganArchitecture { kResnet, kStandard };

constexpr auto EnumNames(SnganArchitecture /*kind*/) {
  return std::to_array<std::string_view>({"resnet", "standard"});
}

// The defaults are the published ones for CIFAR-10 (pfnet-research/sngan_projection,
// sn_cifar10_unconditional.yml).
struct SnganOptions {
  SnganArchitecture architecture = SnganArchitecture::kResnet;
  std::int64_t noise_dim = 128;
  std::int64_t generator_width = 256;      // resnet: every layer's channels; standard: the last's
  std::int64_t discriminator_width = 128;  // resnet: every layer's channels; standard: the first's
  std::int64_t critic_steps = 5;           // discriminator steps before each generator step
  std::int64_t generator_batch = 128;      // generated images of a generator step
  double average_decay = 0.0;              // of the running mean of the generator; 0: the last step
  ImageTrainingOptions training = {
      .steps = 50'000,
      .batch = 64,
      .chunks = 1,
      .adam = {.learning_rate = 2e-4, .beta1 = 0.0, .beta2 = 0.9},
  };

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("architecture", architecture, "residual or plain networks");
    v.Field("noise_dim", noise_dim, "dimensions of the noise", AtLeast(1));
    v.Field("generator_width", generator_width, "channels (standard: of the last layer)",
            AtLeast(1));
    v.Field("discriminator_width", discriminator_width, "channels (standard: of the first layer)",
            AtLeast(1));
    v.Field("critic_steps", critic_steps, "discriminator steps per generator step", AtLeast(1));
    v.Field("generator_batch", generator_batch, "images of a generator step", AtLeast(1));
    v.Field("average_decay", average_decay,
            "decay of the mean of the generator's parameters; 0 takes those of the last step",
            Between(0.0, 1.0));
    v.Field("training", training, "steps, batch and optimizer; the rate falls linearly to 0");
  }
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_SNGAN_OPTIONS_H_
