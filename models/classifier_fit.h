#ifndef LFIW_MODELS_CLASSIFIER_FIT_H_
#define LFIW_MODELS_CLASSIFIER_FIT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "models/classifier.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/transition_model.h"

namespace lfiw::models {

struct ClassifierOptions : NetworkFitOptions {
  // The paper's steps and batch (real and generated together); a fifth of the distinct episodes is
  // held out. Rounded products leave what a classifier learns as it is; what a model of the
  // dynamics learns they make easier to tell from data.
  ClassifierOptions() {
    network.precision = Precision::kAuto;
    fit = {.steps = 10'000, .batch = 250, .validate_every = 500, .adam = {}};
    validation_share = 0.2;
  }

  // Generated triples per real one, in training and validation: the class ratio gamma. 1 is the
  // paper's 125 + 125.
  std::int64_t generated_per_real = 1;
  bool input_delta = false;  // s' - s in place of s': the raw triple hides small changes
  double input_noise = 0.0;  // deviation of noise added to scaled inputs of both classes

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitNetwork(v, "network of each classifier",
                 "training of each classifier; batch counts real and generated triples");
    v.Field("generated_per_real", generated_per_real, "generated triples per real one", AtLeast(1));
    v.Field("input_delta", input_delta, "classify (s, a, s' - s) instead of (s, a, s')");
    v.Field("input_noise", input_noise,
            "standard deviation of training noise on scaled inputs of both classes", AtLeast(0.0));
    VisitValidation(v, "most real transitions used per validation");
    VisitScaler(v);
  }
};

struct ClassifierSummary {
  FitSummary fit;
  std::int64_t train_steps = 0;  // real transitions, repeated ones counted repeatedly
  std::int64_t validation_steps = 0;
  std::vector<std::int64_t> dropped_state_dims;    // of s
  std::vector<std::int64_t> dropped_outcome_dims;  // of s'
  std::vector<std::int64_t> dropped_aux_dims;
};

struct ClassifierFit {
  RatioClassifier classifier;
  ClassifierSummary summary;
};

// Fits one classifier on the listed episodes of the log (repeats allowed, as in a bootstrap)
// against the model: every real triple of a batch meets generated ones that share its (s, a), drawn
// afresh as in a rollout (a random member per row, among model.MembersFor(episode)). Validation
// episodes are held out and their generated partners drawn once. `index` numbers the classifier.
// Runs as one task; its checkpoint is "classifier_<index>.npz".
// Throws DataError for fewer than two distinct episodes or dimensions that differ from the model's,
// else as Fit.
ClassifierFit FitClassifier(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                            const TransitionModel& model, const ClassifierOptions& options,
                            std::uint64_t seed, std::int64_t index, const FitRun& run = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_CLASSIFIER_FIT_H_
