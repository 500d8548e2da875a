#ifndef LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_

#include <cstdint>
#include <string>

#include "core/images/image_batch.h"
#include "core/layers.h"
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
};

// Trains generator number `generator` on the training drawings (stage "omniglot_dagan") and lets it
// draw (stage "omniglot_generated"). While it learns, plots/dagan_NUMBER.png in the run directory
// shows what it draws by now: in each row a training drawing and others made from it. Throws as
// TrainDagan.
GeneratedDrawings DrawWithGenerator(const OmniglotConfig& config, const SplitDrawings& drawings,
                                    std::int64_t generator, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_GENERATED_DRAWINGS_H_
