#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_STAGES_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_STAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/omniglot/augmented_training.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/omniglot/generated_drawings.h"
#include "experiments/omniglot/ratio_weights.h"

namespace lfiw::experiments {

// The stages of one run: the weights of generated drawings, and the classifiers of characters.

// Drawings with the hashes of their parts.
struct HashedDrawings {
  const SplitDrawings& drawings;
  std::string train, validation, test;

  static HashedDrawings Of(const SplitDrawings& drawings);
};

// Cross-fitted log-weights as a stage leaves them.
struct RatioArtifact {
  RatioFit fit;
  std::string hash;
};

// Log-weights of training and generated drawings.
struct RatioStage {
  static constexpr StageInfo kInfo{.name = "omniglot_ratios", .layer = Layer::kExperiments};
  struct Key {
    DrawingRatioOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "classifiers and folds");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  struct Inputs {
    const HashedDrawings& real;
    const GeneratedDrawings& generated;
    std::string title;  // of the progress bar
    std::vector<std::string> Hashes() const { return {real.train, generated.hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static RatioArtifact Read(const Artifact& artifact);
};

// A classifier of characters: one run of one column of the table.
struct ColumnStage {
  static constexpr StageInfo kInfo{.name = "omniglot_classifier", .layer = Layer::kExperiments};
  struct Key {
    ColumnOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("options", options, "training data, network and training");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  // Generated drawings and weights are there where the column uses them, else null.
  struct Inputs {
    const HashedDrawings& real;
    const GeneratedDrawings* generated;
    const RatioArtifact* ratios;
    Progress* progress = nullptr;  // of all columns together; may be null
    std::vector<std::string> Hashes() const;
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static AugmentedFit Read(const Artifact& artifact);
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_STAGES_H_
