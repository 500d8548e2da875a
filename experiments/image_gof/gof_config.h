#ifndef LFIW_EXPERIMENTS_IMAGE_GOF_GOF_CONFIG_H_
#define LFIW_EXPERIMENTS_IMAGE_GOF_GOF_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/image_gof/image_preset.h"
#include "experiments/presentation/experiment.h"
#include "models/image/feature_classifier.h"

namespace lfiw::experiments {

// The classifier whose odds are the weights.
struct GofClassifierOptions {
  // Every sample is weighted by a classifier that did not see it.
  std::int64_t folds = 5;
  // The paper's; the parameters of the least validation loss are kept, since accuracy, which the
  // paper selects by, says little about odds.
  std::int64_t epochs = 20;
  double validation_share = 0.1;
  FeatureClassifierOptions fit;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("folds", folds, "parts of the samples, each weighted by a classifier of the others",
            Between(2, 100));
    v.Field("epochs", epochs, "passes over the training rows; sets fit.steps and validate_every",
            AtLeast(1));
    v.Field("validation_share", validation_share,
            "share of the rows of the other parts held out to choose the parameters",
            Between(0.01, 0.9));
    v.Field("fit", fit, "network and training");
  }
};

// Weights of smoothed densities, for sets whose supports hardly overlap: noise on the features of
// both hides traces that every sample has, and leaves what some have and others have not.
struct SmoothingOptions {
  // One standard deviation hides what is small beside the spread of the data. From 0.5 to 1.4 the
  // scores of docs/results/images.md change little.
  double noise = 1.0;
  // At 0.1 a mean's standard error is 3.2 times that of all samples.
  double share = 0.1;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("noise", noise,
            "standard deviation of noise on scaled features of both sets, under which other "
            "classifiers are trained where the plain weights are not worth `share` of the samples; "
            "0: no smoothed weights",
            AtLeast(0.0));
    v.Field("share", share,
            "share of the samples that smoothed weights shall be worth; they are flattened where "
            "they are worth less",
            Between(0.001, 1.0));
  }
};

struct GofMetricOptions {
  std::vector<double> alphas = {0.0, 0.25, 0.5, 0.75};  // the paper's table; 1 is the default row
  std::vector<double> betas = {0.001, 0.01, 0.1, 1.0};  // the paper's table
  // Shares of the samples that tempered weights are worth. The first one is the row that is named
  // first.
  std::vector<double> tempered = {0.2, 0.05, 0.5};
  std::int64_t kid_block = 1000;  // as in most tools
  std::int64_t ess_draws = 5;     // each costs as much as a FID

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("alphas", alphas, "exponents of the flattened weights", AtLeast(0.0));
    v.Field("betas", betas, "lower bounds of the clipped weights", AtLeast(0.0));
    v.Field(
        "tempered", tempered,
        "shares of the samples that self-normalized weights to the power alpha are worth; alpha "
        "is the largest of at most 1 that leaves as many",
        Between(0.001, 1.0));
    v.Field("kid_block", kid_block, "most samples in a block of the KID", AtLeast(2));
    v.Field("ess_draws", ess_draws,
            "random subsets of as many samples as the weights are worth, for an unweighted FID",
            AtLeast(0));
  }
};

// Limits of the verdict.
struct GofVerdictOptions {
  // One comparison of equal sets in a thousand is called different, for each of the two tests.
  double significance = 0.001;
  // A classifier this good is right about samples little more often than a coin.
  double close_auc = 0.6;
  double lowest_ess_fraction = 0.1;
  double highest_ece = 0.05;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("significance", significance, "chance of calling equal sets different, per test",
            Between(1e-9, 0.5));
    v.Field("close_auc", close_auc, "sets that are told apart worse than this are called close",
            Between(0.5, 1.0));
    v.Field("lowest_ess_fraction", lowest_ess_fraction, "ESS / n below it: weights not to be used",
            Between(0.0, 1.0));
    v.Field("highest_ece", highest_ece, "calibration error above it: weights not to be used",
            Between(0.0, 1.0));
  }
};

// Goodness of fit of one set of generated images.
struct GofConfig {
  std::string name = "gof";
  ExperimentKind experiment = ExperimentKind::kGof;
  ImagePreset preset = ImagePreset::kRobust;
  std::uint64_t seed = 0;
  std::vector<std::string> real;
  std::vector<std::string> generated;
  std::string features;
  GofClassifierOptions classifier;
  SmoothingOptions smoothing;
  GofMetricOptions metrics;
  GofVerdictOptions verdict;

  // The paper has neither smoothed nor tempered weights.
  static GofConfig DefaultsOf(ImagePreset preset) {
    GofConfig config;
    config.preset = preset;
    if (preset == ImagePreset::kPaper) {
      config.smoothing.noise = 0.0;
      config.metrics.tempered = {};
    }
    return config;
  }

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("preset", preset,
            "which defaults the other fields have; paper: the weights as published");
    v.Field("seed", seed, "root seed");
    v.Field("real", real,
            "real images: CIFAR-10's .bin files, folders of .png, .npz of uint8 images or of "
            "features and logits; several are put together");
    v.Field("generated", generated, "generated images, likewise");
    v.Field("features", features,
            "network that features come from: .npz of a ResNet-20 or a TorchScript module; none "
            "for features");
    v.Field("classifier", classifier, "classifier of real against generated features");
    v.Field("smoothing", smoothing, "weights of smoothed densities");
    v.Field("metrics", metrics, "what is measured");
    v.Field("verdict", verdict, "limits of the verdict; changing them alone computes nothing");
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_IMAGE_GOF_GOF_CONFIG_H_
