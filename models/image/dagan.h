#ifndef LFIW_MODELS_IMAGE_DAGAN_H_
#define LFIW_MODELS_IMAGE_DAGAN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/rng.h"
#include "models/fit.h"
#include "models/image/dagan_options.h"
#include "models/image/training.h"

namespace lfiw::models {

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
