#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_SET_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_SET_H_

#include <memory>
#include <string>
#include <vector>

#include "core/images/image_batch.h"
#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/presentation/experiment.h"
#include "models/image/feature_extractor.h"

namespace lfiw::experiments {

// Samples of one kind, real or generated.
struct SampleSet {
  std::vector<std::string> paths = {};
  ImageBatch images = {};         // count 0 where only features were given
  ImageFeatures features = {};    // [n, d] and [n, classes]
  std::string hash = {};          // of everything that was read
  bool cifar10_training = false;  // some of the images are CIFAR-10's training images

  std::int64_t size() const { return features.features.rows(); }
};

// The features that a network gives to the images of a set.
struct FeaturesStage {
  static constexpr StageInfo kInfo{.name = "gof_features", .layer = Layer::kModels};
  struct Key {
    std::string extractor;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("extractor", extractor, "kind of network, in words");
    }
  };
  struct Inputs {
    const SampleSet& set;  // with images
    const FeatureExtractor& extractor;
    std::string extractor_hash;  // of its file
    std::string title;           // of the progress bar
    std::vector<std::string> Hashes() const { return {set.hash, extractor_hash}; }
  };
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static ImageFeatures Read(const Artifact& artifact);
};

// Reads files of images, or .npz files with an array `features` and perhaps `logits`, which are
// taken as they are. Throws DataError when the files do not fit together, besides what reading one
// throws.
SampleSet ReadSamples(const std::vector<std::string>& paths);

// Real and generated samples with their features.
struct SamplePair {
  SampleSet real, generated;
  std::string extractor;           // in words
  std::string features_hash = {};  // of the network; empty for features as given
  std::vector<std::string> notes;  // what a reader must know about the features
};

// Reads both sets and extracts what features are missing, one cached stage a set; `features` names
// the network and may be empty when none are missing. Throws ConfigError when it is needed and not
// given, DataError when the sets' features differ in width or a set has fewer than 20 samples.
SamplePair ReadPair(const std::vector<std::string>& real, const std::vector<std::string>& generated,
                    const std::string& features, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_SAMPLE_SET_H_
