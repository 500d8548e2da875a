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
#include "models/ensemble_fit.h"
#include "models/fit.h"

namespace lfiw::models {

struct DynamicsOptions : EnsembleFitOptions {
  // The paper says "ensemble"; 5 members as in PETS.
  DynamicsOptions() { members = 5; }

  DynamicsKind kind = DynamicsKind::kGaussian;
  bool bootstrap = true;  // each member resamples its episodes (PETS)

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitMembers(v);
    v.Field("kind", kind, "gaussian (diagonal) or deterministic");
    VisitMemberNetworks(v);
    v.Field("bootstrap", bootstrap, "train each member on episodes drawn with replacement");
    VisitValidation(v, "most transitions used per validation");
    VisitScaler(v);
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
