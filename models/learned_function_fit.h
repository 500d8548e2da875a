#ifndef LFIW_MODELS_LEARNED_FUNCTION_FIT_H_
#define LFIW_MODELS_LEARNED_FUNCTION_FIT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/learned_function.h"

namespace lfiw::models {

struct LearnedFunctionOptions : EnsembleFitOptions {
  LearnedFunctionOptions() {
    members = 3;
    network = {.hidden_layers = 2, .width = 200, .activation = Activation::kSilu};
    // a rate that falls to 0 may be large at first
    fit = {.steps = 5000,
           .batch = 256,
           .validate_every = 500,
           .cooldown = 0.75,
           .adam = {.learning_rate = 4e-3}};
  }

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitMembers(v);
    VisitMemberNetworks(v);
    VisitValidation(v, "most transitions used per validation");
    VisitScaler(v);
  }
};

// The errors are those of the whole ensemble on all steps of the held-out episodes. No member
// trained on these; each chose its best validation on a sample of them.
struct LearnedFunctionSummary {
  std::vector<FitSummary> members;  // none for a constant reward
  std::int64_t train_episodes = 0;  // distinct, before resampling
  std::int64_t held_out_episodes = 0;
  std::int64_t held_out_steps = 0;

  // of a reward, in its unit
  double rmse = 0.0;
  double mean_error = 0.0;   // predicted - logged
  std::optional<double> r2;  // share of the variance explained; none where rewards do not vary

  // of a termination
  double log_loss = 0.0;          // nats per step
  std::optional<double> auc;      // none unless some held-out steps end an episode and some do not
  std::int64_t positives = 0;     // held-out steps that end an episode
  std::int64_t missed = 0;        // of these, steps with probability below 1/2
  std::int64_t false_alarms = 0;  // other held-out steps with probability 1/2 or more
  std::int64_t train_positives = 0;  // training steps that end an episode
};

struct LearnedFunctionFit {
  LearnedFunction function;
  LearnedFunctionSummary summary;
};

// Fits an ensemble to the rewards of the listed episodes of the log (squared error), every member
// as one parallel task. One set of episodes is held out for all; members differ by their initial
// weights and by a bootstrap of the other episodes. Scales are those of the training episodes. A
// reward that is constant there is learned as that constant, without networks. Checkpoints are
// "reward_<k>.npz". `skipped`, if not empty, lists for each member episodes to leave out of its
// training (cross-fitting by episode); those that are held out choose its best step all the same.
// Throws DataError for fewer than two distinct episodes with steps, else as Fit.
LearnedFunctionFit FitReward(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                             const LearnedFunctionOptions& options, std::uint64_t seed,
                             const FitRun& run = {},
                             const std::vector<std::vector<std::int64_t>>& skipped = {});

// The same for the end of an episode (logistic loss): label 1 at the last step of an episode that
// the environment ended, 0 elsewhere, also where a time limit cut. Episodes that end and others are
// held out and resampled apart, so that both remain on either side where there are two of each. As
// ends are rare, half of each batch are ends, weighted by their share of the steps; probabilities
// are those of the log. Checkpoints are "termination_<k>.npz".
// Throws DataError when no listed episode terminates (callers then need no termination) or when
// there are not two that do or two that do not, ConfigError for a batch below 2, else as Fit. A
// member that `skipped` would leave without ends, or without other episodes, skips nothing.
LearnedFunctionFit FitTermination(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                  const LearnedFunctionOptions& options, std::uint64_t seed,
                                  const FitRun& run = {},
                                  const std::vector<std::vector<std::int64_t>>& skipped = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_LEARNED_FUNCTION_FIT_H_
