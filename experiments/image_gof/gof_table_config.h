#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/image_gof/gof_config.h"
#include "experiments/presentation/experiment.h"
#include "models/image/pixel_cnn.h"
#include "models/image/sngan.h"

namespace lfiw::experiments {

// Where the samples of a generator come from: files, or a model that the run trains.
enum class GeneratorKind { kSamples, kPixelCnn, kSngan };
constexpr auto EnumNames(GeneratorKind /*kind*/) {
  return std::to_array<std::string_view>({"samples", "pixel_cnn", "sngan"});
}

// One generator. Trained ones see the images of `real_train` but for the last `held_out`, of
// whatever kind they are, so that all see the same.
struct GeneratorOptions {
  std::string name;
  GeneratorKind kind = GeneratorKind::kSamples;
  std::vector<std::string> samples;
  std::int64_t count = 10'000;  // one run of the paper's; small models have it for all runs
  std::int64_t held_out = 500;  // bits per dimension to a few hundredths
  PixelCnnOptions pixel_cnn;
  SnganOptions sngan;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the generator in tables");
    v.Field("kind", kind, "files of samples, or the model that is trained on real_train");
    v.Field("samples", samples, "kind samples: its images or their features, files as for gof");
    v.Field("count", count, "trained kinds: images to sample, for all runs together", AtLeast(4));
    v.Field("held_out", held_out,
            "trained kinds: the last images of real_train, which training does not see",
            AtLeast(0));
    v.Field("pixel_cnn", pixel_cnn, "PixelCNN++ and its training");
    v.Field("sngan", sngan, "SNGAN and its training");
  }
};

// The paper's tables: goodness of fit over several runs, and bias and variance of mean features.
struct GofTableConfig {
  std::string name = "gof_table";
  ExperimentKind experiment = ExperimentKind::kGofTable;
  ImagePreset preset = ImagePreset::kRobust;
  std::uint64_t seed = 0;
  std::vector<std::string> real_train;
  std::vector<std::string> real_test;
  std::vector<std::string> real_check;
  std::string features;
  std::vector<GeneratorOptions> generators;
  std::int64_t runs = 10;
  std::vector<std::int64_t> sizes = {};
  GofClassifierOptions classifier;
  SmoothingOptions smoothing;
  std::vector<double> alphas = {0.0, 0.25, 0.5, 0.75, 1.0};
  std::vector<double> betas = {0.001, 0.01, 0.1, 1.0};
  double tempered = 0.2;
  std::int64_t kid_block = 1000;
  std::int64_t density_images = 1000;  // bits per dimension to a few hundredths

  // The paper has neither smoothed nor tempered weights.
  static GofTableConfig DefaultsOf(ImagePreset preset) {
    GofTableConfig config;
    config.preset = preset;
    if (preset == ImagePreset::kPaper) config.smoothing.noise = config.tempered = 0.0;
    return config;
  }

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("preset", preset,
            "which defaults the other fields have; paper: the weights as published");
    v.Field("seed", seed, "root seed");
    v.Field("real_train", real_train,
            "real images for the classifiers, and against the others for the reference");
    v.Field("real_test", real_test, "real images that metrics are measured against");
    v.Field("real_check", real_check,
            "real images that neither a classifier nor, if possible, the network saw: the "
            "classifiers and the network are checked on them; none: not checked");
    v.Field("features", features, "network that features come from, as for gof");
    v.Field("generators", generators, "list of {name, kind, samples or model}");
    v.Field("runs", runs, "parts of each generator's samples, one run each", Between(2, 1000));
    v.Field("sizes", sizes, "samples T of a draw for bias and variance; none: not measured",
            AtLeast(2));
    v.Field("classifier", classifier, "classifier of real against generated features");
    v.Field("smoothing", smoothing, "weights of smoothed densities: the row \"LFIW, smoothed\"");
    v.Field("alphas", alphas, "exponents of the flattened weights (bias and variance)",
            AtLeast(0.0));
    v.Field("betas", betas, "lower bounds of the clipped weights (bias and variance)",
            AtLeast(0.0));
    v.Field("tempered", tempered,
            "share of the samples that tempered weights are worth: the row \"LFIW, tempered\"; 0: "
            "none",
            Between(0.0, 1.0));
    v.Field("kid_block", kid_block, "most samples in a block of the KID", AtLeast(2));
    v.Field("density_images", density_images,
            "first images of real_test whose density under a pixel_cnn, plain and resampled, is "
            "measured; 0: none",
            AtLeast(0));
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_TABLE_CONFIG_H_
