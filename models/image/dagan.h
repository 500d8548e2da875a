#ifndef LFIW_MODELS_IMAGE_DAGAN_H_
#define LFIW_MODELS_IMAGE_DAGAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/config/visitor.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/rng.h"
#include "models/fit.h"
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
    v.Field("rotate", rotate, "turn half of the pairs by a random quarter");
    v.Field("training", training, "steps, batch and optimizer");
  }
};

// Small enough for two cores; see the figures in its definition.
DaganOptions SmallDaganOptions();

// Data augmentation GAN (Antoniou et al. 2017): a U-shaped generator turns an image and noise into
// another image of the same class; its critic, with the Wasserstein loss and gradient penalty of
// Gulrajani et al. 2017, sees pairs of images. The published generator's batch renormalization is
// plain batch normalization here.
class Dagan {
 public:
  // An untrained one. Throws ConfigError for less than two widths or images that are halved away.
  Dagan(const DaganOptions& options, std::int64_t channels, std::int64_t side,
        const Stream& stream);
  ~Dagan();
  Dagan(Dagan&&) noexcept;
  Dagan& operator=(Dagan&&) noexcept;

  // One image for each condition, an index into `images`; image i has the noise first + i of the
  // stream's sequence without end. `progress` advances by images and may be null. Throws
  // DataError for images of another size, Interrupted when the user interrupts.
  ImageBatch Generate(const ImageBatch& images, std::span<const std::int64_t> conditions,
                      const Stream& stream, std::int64_t first, Progress* progress = nullptr) const;

  // Arrays "<prefix>.generator...", ".critic...". Load throws DataError unless the file is of a
  // model with the same options and sizes.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);

 private:
  friend class DaganTraining;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct DaganFit {
  Dagan model;
  TrainingHistory history;  // wasserstein, gradient_norm_error, generator_loss
};

// Sees the model after `steps` steps of its training.
using DaganWatch = std::function<void(std::int64_t steps, const Dagan& model)>;

// Trains on pairs of different images of a class. `classes` lists, for each class, indices into
// `images`; a class is drawn uniformly, then a pair. `watch` is called at every entry of the
// history and may be null. Throws ConfigError for options that do not fit, DataError for images
// that are not square or a class of less than two, and as Train.
DaganFit TrainDagan(const ImageBatch& images, const std::vector<std::vector<std::int64_t>>& classes,
                    const DaganOptions& options, std::uint64_t seed, const FitJob& job,
                    const DaganWatch& watch = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_DAGAN_H_
