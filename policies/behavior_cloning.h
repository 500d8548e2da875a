#ifndef LFIW_POLICIES_BEHAVIOR_CLONING_H_
#define LFIW_POLICIES_BEHAVIOR_CLONING_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "models/scaler.h"
#include "policies/files/network_policy.h"
#include "policies/policy_check.h"

namespace lfiw::policies {

enum class CloneKind {
  kGaussian,      // executed actions are Gaussian draws clipped to the bounds
  kTanhGaussian,  // Gaussian draws squashed to the bounds, which must be finite
  kCategorical,   // discrete actions as one-hot rows
};

constexpr auto EnumNames(CloneKind /*kind*/) {
  return std::to_array<std::string_view>({"gaussian", "tanh_gaussian", "categorical"});
}

struct CloningOptions : NetworkFitOptions {
  CloningOptions() {
    network = {.hidden_layers = 2, .width = 256, .activation = Activation::kRelu};
    fit = {.steps = 20'000, .batch = 256, .validate_every = 500, .adam = {}};
  }

  CloneKind kind = CloneKind::kGaussian;
  std::vector<double> log_std_range = {-5.0, 2.0};  // keeps a deterministic log's density finite

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("kind", kind, "distribution of the actions");
    VisitNetwork(v, "network of mean and deviation, or of the logits", "training");
    VisitValidation(v, "most steps used per validation");
    v.Field("log_std_range", log_std_range, "clamp of the log standard deviations",
            Between(-40.0, 40.0));
    VisitScaler(v, "what counts as a constant observation");
  }
};

struct CloningSummary {
  FitSummary fit;
  std::int64_t train_episodes = 0;
  std::int64_t validation_episodes = 0;
  // mean over all steps of the held-out episodes of the policy's log-density (nats)
  double held_out_log_likelihood = 0.0;
  std::vector<std::int64_t> constant_obs_dims;  // no inputs
};

struct BehaviorClone {
  std::unique_ptr<NetworkPolicy> policy;
  CloningSummary summary;
};

// Fits a policy with state-dependent mean and deviation to the (s, a) of a log by maximum
// likelihood, censored at `bounds` [action_dim], and keeps the parameters of the best held-out
// likelihood. Its checkpoint is "behavior_clone.npz". The same bytes for any number of threads.
// Throws DataError for a log of fewer than two episodes or of actions that are not of the kind,
// ConfigError for options that cannot be, and else as Fit. SaveNetworkPolicy writes the result.
BehaviorClone CloneBehavior(const EpisodeBatch& log, const ActionBounds& bounds,
                            const CloningOptions& options, std::uint64_t seed,
                            const FitRun& run = {});

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_BEHAVIOR_CLONING_H_
