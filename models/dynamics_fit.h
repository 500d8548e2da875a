#ifndef LFIW_MODELS_DYNAMICS_FIT_H_
#define LFIW_MODELS_DYNAMICS_FIT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "models/dynamics.h"
#include "models/fit.h"

namespace lfiw::models {

struct DynamicsOptions {
  std::int64_t members = 5;  // the paper says "ensemble"; 5 as in PETS
  DynamicsKind kind = DynamicsKind::kGaussian;
  MlpOptions network;
  FitOptions fit;
  bool bootstrap = true;                // each member resamples its episodes (PETS)
  double validation_share = 0.1;        // of the episodes, by episode
  std::int64_t validation_rows = 5000;  // more do not change which step is best
  ScalerOptions scaler;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("members", members, "networks of the ensemble", AtLeast(1));
    v.Field("kind", kind, "gaussian (diagonal) or deterministic");
    v.Field("network", network, "network of each member");
    v.Field("fit", fit, "training of each member");
    v.Field("bootstrap", bootstrap, "train each member on episodes drawn with replacement");
    v.Field("validation_share", validation_share, "share of the episodes held out for validation",
            Between(0.0, 0.9));
    v.Field("validation_rows", validation_rows, "most transitions used per validation", AtLeast(1));
    v.Field("scaler", scaler, "what counts as a constant dimension");
  }
};

struct MemberSummary {
  FitSummary fit;
  std::int64_t train_episodes = 0;  // distinct, before resampling
  std::int64_t validation_episodes = 0;
  // [outcome_dim]: share of the variance of each learned outcome explained on validation data.
  std::vector<double> r2;
};

struct DynamicsSummary {
  std::vector<MemberSummary> members;
  std::vector<std::int64_t> constant_state_dims;  // of s: no inputs
  std::vector<std::int64_t> constant_action_dims;
  std::vector<std::int64_t> constant_outcome_dims;  // of s': follow their constant change
  std::vector<std::int64_t> constant_aux_dims;
};

struct DynamicsFit {
  DynamicsEnsemble ensemble;
  DynamicsSummary summary;
};

// Fits every member as one parallel task on the listed episodes of the log. Scales are those of all
// listed episodes; each member holds out its own validation episodes and trains on the rest.
// `skipped`, if not empty, lists for each member episodes to leave out (cross-fitting by episode).
// Checkpoints are "member_<k>.npz".
// Throws DataError when a member is left with fewer than two episodes, else as Fit.
DynamicsFit FitDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                        const DynamicsOptions& options, std::uint64_t seed, const FitRun& run = {},
                        const std::vector<std::vector<std::int64_t>>& skipped = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_DYNAMICS_FIT_H_
