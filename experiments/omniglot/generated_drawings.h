#ifndef LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/omniglot/omniglot_config.h"
#include "experiments/presentation/experiment.h"
#include "models/image/training.h"

namespace lfiw::experiments {

// What one generator made: equally many drawings of each class, class after class, labeled with
// the class of the drawing that each was made from.
struct GeneratedDrawings {
  ImageBatch images;
  std::string hash;         // of the artifact
  std::string samples;      // a PNG file: rows of a training drawing and others made from it
  TrainingHistory history;  // of the generator, as of DaganFit
  // How much its noise moves a drawing: the mean difference of two drawings made from one, divided
  // by that of two real drawings of a class. None where each drawing was used once.
  std::optional<double> diversity = {};
};

// The training drawing, as a row of drawings.images, that each generated one is made from: those of
// its class in turn. [classes * per_class]
std::vector<std::int64_t> ConditionsOf(const SplitDrawings& drawings, std::int64_t per_class);

// GeneratedDrawings::diversity of drawings made as ConditionsOf says.
std::optional<double> DiversityOf(const ImageBatch& generated, const SplitDrawings& drawings);

// A generator, trained on the training drawings.
struct DaganStage {
  static constexpr StageInfo kInfo{.name = "omniglot_dagan", .layer = Layer::kExperiments};
  struct Key {
    DaganOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "network and training");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const SplitDrawings& drawings;
    std::string train_hash;  // of the training drawings
    std::string name;        // for messages
    // Shows a PNG file of what the generator draws by now.
    std::function<void(const std::string& png)> show;
    std::vector<std::string> Hashes() const { return {train_hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static TrainingHistory History(const Artifact& artifact);
  // A PNG file of what it draws at the end.
  static std::string Samples(const Artifact& artifact);
};

// Drawings of a generator.
struct GeneratedStage {
  static constexpr StageInfo kInfo{.name = "omniglot_generated", .layer = Layer::kExperiments};
  struct Key {
    std::int64_t per_class = 0;
    DaganOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("per_class", per_class, "drawings of each class");
      v.Field("options", options, "network, as it was trained");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const Artifact& generator;  // of DaganStage
    const SplitDrawings& drawings;
    std::string train_hash;  // of the training drawings
    std::vector<std::string> Hashes() const { return {generator.content_hash, train_hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static ImageBatch Read(const Artifact& artifact);
};

// Trains generator number `generator` on the training drawings (stage "omniglot_dagan") and lets it
// draw (stage "omniglot_generated"). While it learns, plots/dagan_NUMBER.png in the run directory
// shows what it draws by now: in each row a training drawing and others made from it. Throws as
// TrainDagan.
GeneratedDrawings DrawWithGenerator(const OmniglotConfig& config, const SplitDrawings& drawings,
                                    std::int64_t generator, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_
