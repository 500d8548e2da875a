#ifndef LFIW_OPE_FITS_FQE_H_
#define LFIW_OPE_FITS_FQE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "envs/env.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "models/scaler.h"
#include "models/timed_function.h"
#include "ope/estimator.h"
#include "policies/policy.h"

namespace lfiw::ope {

// Fitted Q evaluation (Le, Voloshin and Yue 2019): Q of the evaluation policy by repeated
// regression of r + g E_{a' ~ pi} Q(s', a') on logged (s, a), with neural networks. Over a finite
// horizon Q depends on the step, which is an input, and the last step has no successor.

struct FqeOptions {
  std::int64_t members = 3;
  MlpOptions network{.hidden_layers = 2, .width = 256, .activation = Activation::kSilu};
  // Gradient steps in all; targets are renewed every `target_every` of them. Information moves back
  // by one step of the episode per renewal, so a horizon of T wants at least T renewals.
  FitOptions fit{.steps = 20'000, .batch = 256, .validate_every = 500, .adam = {}};
  std::int64_t target_every = 100;
  // Actions of the policy that stand for its expectation: per row and gradient step, and in V.
  std::int64_t target_draws = 4;
  std::int64_t value_draws = 20;
  double validation_share = 0.1;
  std::int64_t validation_rows = 2000;
  ScalerOptions scaler;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("members", members, "networks of the ensemble", AtLeast(1));
    v.Field("network", network, "network of each member");
    v.Field("fit", fit, "training of each member");
    v.Field("target_every", target_every, "gradient steps between renewals of the targets",
            AtLeast(1));
    v.Field("target_draws", target_draws, "actions drawn for each target", AtLeast(1));
    v.Field("value_draws", value_draws, "actions drawn for each value of a state", AtLeast(1));
    v.Field("validation_share", validation_share, "share of the episodes held out for validation",
            Between(0.0, 0.9));
    v.Field("validation_rows", validation_rows, "most transitions used per validation", AtLeast(1));
    v.Field("scaler", scaler, "what counts as a constant dimension");
  }
};

struct FqeFit {
  TimedFunction q;                  // of rows (s, a) and the step; one step for an infinite horizon
  std::vector<FitSummary> members;  // the loss is the squared error against the moving targets
  // Root mean square of Q(s, a) - (r + g E Q(s', a')) of the whole ensemble on held-out episodes,
  // as a share of the standard deviation of logged returns to go.
  double residual = 0.0;
};

// Fits to the first T steps of all episodes of the log. Episodes that a time limit cut are
// continued by Q, those that terminated are not. Every member is one parallel task; "fqe_<k>.npz"
// are its checkpoints. `spec` gives the action bounds. Throws DataError for a log with fewer than
// two episodes, ConfigError for an infinite horizon without discount below 1, else as Fit.
FqeFit FitFqe(const EpisodeBatch& log, const Policy& policy, const EnvSpec& spec,
              const Estimand& estimand, const FqeOptions& options, std::uint64_t seed,
              const FitRun& run = {});

// Q and V on the listed episodes, padded to `columns` steps (T, or for an infinite horizon the
// longest episode). V is the mean of Q over actions drawn from the policy.
ValueArrays FqeValues(const FqeFit& fit, const EpisodeBatch& log,
                      std::span<const std::int64_t> episodes, const Policy& policy,
                      const EnvSpec& spec, const Estimand& estimand, std::int64_t columns,
                      const FqeOptions& options, std::uint64_t seed);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_FITS_FQE_H_
