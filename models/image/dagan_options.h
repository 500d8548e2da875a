#ifndef LFIW_MODELS_IMAGE_DAGAN_OPTIONS_H_
#define LFIW_MODELS_IMAGE_DAGAN_OPTIONS_H_

#include <cstdint>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "models/image/training.h"

namespace lfiw::models {

// The defaults are the published ones for Omniglot (AntreasAntoniou/DAGAN); 75,000 steps are 200
// epochs of 1200 classes with 10 drawings each.
struct DaganOptions {
  std::vector<std::int64_t> widths = {64, 64, 128, 128};  // channels of each halving of the side
  std::int64_t generator_inner = 3;  // convolutions before each halving or doubling
  std::int64_t critic_inner = 5;
  std::int64_t noise_dim = 100;
  double dropout = 0.5;           // after each halving and doubling
  std::int64_t critic_steps = 5;  // critic steps before each generator step
  double penalty = 10.0;          // weight of the gradient penalty
  double diversity = 0.0;         // weight of the term that asks noise to matter; 0: none
  double average_decay = 0.0;     // of the running mean of the generator; 0: the last step
  bool rotate = true;             // half of all pairs are turned by a random quarter
  ImageTrainingOptions training = {
      .steps = 75'000,
      .batch = 32,
      .chunks = 1,
      .adam = {.learning_rate = 1e-4, .beta1 = 0.0, .beta2 = 0.9},
  };

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("widths", widths, "channels of each halving of the side, at least 2", AtLeast(1));
    v.Field("generator_inner", generator_inner, "generator's convolutions between halvings",
            AtLeast(0));
    v.Field("critic_inner", critic_inner, "critic's convolutions between halvings", AtLeast(0));
    v.Field("noise_dim", noise_dim, "dimensions of the noise", AtLeast(1));
    v.Field("dropout", dropout, "rate of dropout after halvings", Between(0.0, 0.99));
    v.Field("critic_steps", critic_steps, "critic steps per generator step", AtLeast(1));
    v.Field("penalty", penalty, "weight of the gradient penalty", AtLeast(0.0));
    v.Field(
        "diversity", diversity,
        "weight of max(0, d / d' - 1), the differences between two real drawings of a class and "
        "between two generated from one drawing",
        AtLeast(0.0));
    v.Field("average_decay", average_decay,
            "decay of the mean of the generator's parameters; 0 takes those of the last step",
            Between(0.0, 1.0));
    v.Field("rotate", rotate, "turn half of the pairs by a random quarter");
    v.Field("training", training, "steps, batch and optimizer");
  }
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_DAGAN_OPTIONS_H_
