#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_STAGES_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/image_gof/sample_set.h"
#include "models/image/pixel_cnn.h"
#include "models/image/sngan.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// The stages that train a generator of images, sample it and measure its density.

// The model of a generator that was trained here.
struct TrainedGenerator {
  TrainingHistory history;
  std::string file;  // the model's arrays, prefix "model"
  std::string hash;  // of the stage's artifact
};

// What stages of one kind of model have in common; Options are those of the model.

// The training of a model on the images of a set but for the last `held_out`.
template <class Options>
struct TrainingStage {
  struct Key {
    std::int64_t held_out = 0;
    Options model;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("held_out", held_out, "last images, which training does not see");
      v.Field("model", model, "network and training");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const SampleSet& real_train;
    std::string title;  // of the progress bar
    std::vector<std::string> Hashes() const { return {real_train.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static TrainedGenerator Read(const Artifact& artifact);
};

struct TrainPixelCnnStage : TrainingStage<PixelCnnOptions> {
  static constexpr StageInfo kInfo{.name = "train_pixel_cnn", .layer = Layer::kModels};
};
struct TrainSnganStage : TrainingStage<SnganOptions> {
  static constexpr StageInfo kInfo{.name = "train_sngan", .layer = Layer::kModels};
};

// Images of a trained model; those that an interrupted try has sampled are not sampled again.
template <class Options>
struct SamplingStage {
  struct Key {
    std::int64_t count = 0;
    Options model;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("count", count, "number of images");
      v.Field("model", model, "network, as it was trained");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const TrainedGenerator& model;
    const ImageBatch& like;  // images of the size that the model was trained on
    std::string title;       // of the progress bar
    std::vector<std::string> Hashes() const { return {model.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  // The file of the images.
  static std::string SamplesFile(const Artifact& artifact);
};

struct SamplePixelCnnStage : SamplingStage<PixelCnnOptions> {
  static constexpr StageInfo kInfo{.name = "sample_pixel_cnn", .layer = Layer::kModels};
};
struct SampleSnganStage : SamplingStage<SnganOptions> {
  static constexpr StageInfo kInfo{.name = "sample_sngan", .layer = Layer::kModels};
};

// The log-density of the first images of a set under a PixelCNN++.
struct LogDensityStage {
  static constexpr StageInfo kInfo{.name = "gof_log_density", .layer = Layer::kModels};
  struct Key {
    std::int64_t count = 0;
    PixelCnnOptions model;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("count", count, "number of images");
      v.Field("model", model, "network, as it was trained");
    }
  };
  struct Inputs {
    const TrainedGenerator& model;
    const SampleSet& set;
    std::string title;  // of the progress bar
    std::vector<std::string> Hashes() const { return {model.hash, set.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  // In nats, one for each image.
  static std::vector<double> Read(const Artifact& artifact);
};

// Makes an untrained model for images of the size of `like`. Throws ConfigError for a size that
// does not fit.
PixelCnn MakeModel(const PixelCnnOptions& options, const ImageBatch& like, std::uint64_t seed);
Sngan MakeModel(const SnganOptions& options, const ImageBatch& like, std::uint64_t seed);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GENERATOR_STAGES_H_
