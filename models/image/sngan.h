#ifndef LFIW_MODELS_IMAGE_SNGAN_H_
#define LFIW_MODELS_IMAGE_SNGAN_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/arrays/npz.h"
#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/rng.h"
#include "models/fit.h"
#include "models/image/sngan_options.h"
#include "models/image/training.h"

namespace lfiw::models {

// A generator of square images, with spectral norm and hinge loss in its discriminator.
class Sngan {
 public:
  // An untrained one of `channels` x `side` x `side`. Throws ConfigError unless 8 divides the side.
  Sngan(const SnganOptions& options, std::int64_t channels, std::int64_t side,
        const Stream& stream);
  ~Sngan();
  Sngan(Sngan&&) noexcept;
  Sngan& operator=(Sngan&&) noexcept;

  // Images first .. first + count - 1 of a sequence without end: image i depends on the stream and
  // on i, and normalizes by running moments. `progress` advances by images and may be null. Throws
  // Interrupted when the user interrupts.
  ImageBatch Sample(const Stream& stream, std::int64_t first, std::int64_t count,
                    Progress* progress = nullptr) const;

  // Arrays "<prefix>.generator...", ".discriminator...". Load throws DataError unless the file is
  // of a model with the same options and sizes.
  void Save(const std::string& prefix, NpzFile& file) const;
  void Load(const NpzFile& file, const std::string& prefix);

 private:
  friend class SnganTraining;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SnganFit {
  Sngan model;
  TrainingHistory history;  // discriminator_loss, generator_loss
};

// Trains on square images. Throws ConfigError for options or sizes that do not fit, and as Train.
SnganFit TrainSngan(const ImageBatch& images, const SnganOptions& options, std::uint64_t seed,
                    const FitJob& job);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_IMAGE_SNGAN_H_
