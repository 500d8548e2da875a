#ifndef LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_CONFIG_H_
#define LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_CONFIG_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/image_gof/image_preset.h"
#include "experiments/omniglot/drawing_split.h"
#include "experiments/presentation/experiment.h"
#include "models/image/conv_classifier.h"
#include "models/image/dagan.h"

namespace lfiw::experiments {

// What the classifier of real against generated drawings sees: the drawing, or beside it another of
// its class, for a generated one the drawing that it was made from.
enum class RatioInput { kDrawing, kPair };
constexpr auto EnumNames(RatioInput /*kind*/) {
  return std::to_array<std::string_view>({"drawing", "pair"});
}

// Whether the weights of each class are divided by their mean.
enum class WeightBalance { kNone, kClasses };
constexpr auto EnumNames(WeightBalance /*kind*/) {
  return std::to_array<std::string_view>({"none", "classes"});
}

// The classifier of real against generated drawings, whose odds are the weights.
struct DrawingRatioOptions {
  RatioInput sees = RatioInput::kPair;
  // Every image is weighted by a classifier that did not see it.
  std::int64_t folds = 5;
  std::int64_t epochs = 10;       // those of ermongroup/f-dre
  double validation_share = 0.1;  // the parameters of the least loss on it are kept
  // half of a minibatch of 32 is real, so that odds need no correction for unequal numbers
  ConvClassifierOptions fit = {.kept = KeptClassifier::kLowestLoss,
                               .training = {.batch = 16, .chunks = 1, .adam = {}}};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field(
        "sees", sees,
        "the drawing alone, as published, or a pair: beside it another of its class, which tells "
        "drawings of a wrong character too");
    v.Field("folds", folds, "parts of the images, each weighted by a classifier of the others",
            Between(2, 100));
    v.Field("epochs", epochs,
            "passes over the larger set; sets fit.training.steps and report_every", AtLeast(1));
    v.Field("validation_share", validation_share,
            "share of the other parts held out to choose the parameters", Between(0.01, 0.9));
    v.Field("fit", fit, "network and training; fit.training.batch is taken of each set");
  }
};

// The classifier of characters, the paper's by default.
struct AugmentedOptions {
  std::int64_t epochs = 100;
  double mixture_weight = 0.5;
  std::vector<double> tempered = {1.0, 0.5, 0.2};
  double alpha = 1.0;
  WeightBalance balance = WeightBalance::kClasses;
  ConvClassifierOptions fit = {.kept = KeptClassifier::kHighestAccuracy,
                               .training = {.batch = 32, .chunks = 1, .adam = {}}};

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("epochs", epochs,
            "passes over the larger set; sets fit.training.steps and report_every", AtLeast(1));
    v.Field("mixture_weight", mixture_weight,
            "m: share of real drawings in the loss of mixtures; generated ones have 1 - m",
            Between(0.0, 1.0));
    v.Field(
        "tempered", tempered,
        "shares of the generated drawings that their weights shall be worth: the exponent is the "
        "largest of at most 1 that leaves as many, and 1 weighs all alike. Of several shares, that "
        "of the best mean validation accuracy over a generator's runs is taken, the first one of "
        "equals. Without any the exponent is alpha, as in the paper",
        Between(0.001, 1.0));
    v.Field("alpha", alpha,
            "exponent that flattens the weights where tempered is empty; 0 weighs all alike",
            AtLeast(0.0));
    v.Field(
        "balance", balance,
        "classes: the weights of each class have the mean 1, as all classes are equally frequent "
        "among real and generated drawings; none: as published");
    v.Field("fit", fit, "network and training; fit.training.batch is taken of each set");
  }
};

// The paper's table 2: does weighting generated training images help a classifier?
struct OmniglotConfig {
  std::string name = "omniglot";
  ExperimentKind experiment = ExperimentKind::kOmniglot;
  ImagePreset preset = ImagePreset::kRobust;
  std::uint64_t seed = 0;
  std::vector<std::string> data;
  SplitOptions split;
  DaganOptions dagan;
  std::int64_t generators = 1;
  std::int64_t generated_per_class = 50;  // those that ermongroup/f-dre trains on
  DrawingRatioOptions ratio;
  AugmentedOptions classifier;
  std::int64_t runs = 5;

  // The paper's weights are the odds of drawings alone.
  static OmniglotConfig DefaultsOf(ImagePreset preset) {
    OmniglotConfig config;
    config.preset = preset;
    if (preset == ImagePreset::kPaper) {
      config.ratio.sees = RatioInput::kDrawing;
      config.ratio.fit.input_noise = 0.0;
      config.classifier.tempered = {};
      config.classifier.balance = WeightBalance::kNone;
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
    v.Field("data", data,
            "Omniglot: .npz files, or its folders images_background and images_evaluation");
    v.Field("split", split, "classes, and the parts of their drawings");
    v.Field("dagan", dagan, "the generator");
    v.Field("generators", generators,
            "generators trained, each with a seed of its own; run r uses generator r mod this",
            AtLeast(1));
    v.Field("generated_per_class", generated_per_class,
            "generated drawings of each class, made from its training drawings in turn",
            AtLeast(1));
    v.Field("ratio", ratio, "classifier of real against generated drawings");
    v.Field("classifier", classifier, "classifier of characters");
    v.Field("runs", runs, "repetitions with other seeds of both classifiers", Between(2, 1000));
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_OMNIGLOT_OMNIGLOT_CONFIG_H_
