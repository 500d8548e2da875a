#ifndef LFIW_MODELS_DYNAMICS_FIT_H_
#define LFIW_MODELS_DYNAMICS_FIT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/run/progress.h"
#include "models/dynamics.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"

namespace lfiw::models {

// What members predict, and whether outcomes are drawn with noise.
enum class DynamicsChoice {
  // Points fitted by squared error, with noise of one covariance for all states where held-out
  // residuals have it: MeasureNoise. Residuals alone do not tell noise from an error that all
  // members
  // make; an evaluation takes less of it where rollouts of the logged policy say so.
  kAuto,
  kGaussian,       // means and variances of every state and action, fitted by likelihood
  kDeterministic,  // points without noise
};
constexpr auto EnumNames(DynamicsChoice /*kind*/) {
  return std::to_array<std::string_view>({"auto", "gaussian", "deterministic"});
}

struct DynamicsOptions : EnsembleFitOptions {
  // The paper says "ensemble"; 5 members as in PETS.
  DynamicsOptions() { members = 5; }

  DynamicsChoice kind = DynamicsChoice::kGaussian;
  bool bootstrap = true;  // each member resamples its episodes (PETS)

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitMembers(v);
    v.Field(
        "kind", kind,
        "gaussian (diagonal), deterministic, or auto: deterministic with as much of the noise of "
        "held-out residuals as the returns of the logged policy bear out");
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

// What the residuals of deterministic members say about noise, of each learned outcome in scaled
// units. Where an outcome is certain, residuals are errors of the members, which differ from member
// to member; where it is not, all members miss it alike.
struct NoiseEvidence {
  std::int64_t rows = 0;             // held out from all members
  std::vector<double> squared;       // mean squared residual of a member
  std::vector<double> shared;        // mean product of the residuals of two members
  std::vector<std::uint8_t> counts;  // 1 where residuals are noise
  // [outcome_dim, outcome_dim]; `factor` times standard normal draws has the covariance of shared
  // residuals where they count. Empty where none do.
  MatrixF factor;
};

// The share of a member's squared residuals that all members share from which on they count as
// noise. Of noise nearly all is shared; of the errors of five members on HalfCheetah, which has
// none, 66 to 97 % of each outcome is, so that a share alone never proves noise: see NoiseStage in
// experiments.
inline constexpr double kNoiseShare = 0.8;

// Measures noise from the residuals [rows, outcome_dim] of each of several members, in scaled
// units, on rows that none of them has seen. One member shares its residuals with itself: then all
// of them count as noise.
NoiseEvidence MeasureNoise(const std::vector<MatrixF>& residuals);

struct DynamicsSummary {
  std::vector<MemberSummary> members;
  std::vector<std::int64_t> constant_state_dims;  // of s: no inputs
  std::vector<std::int64_t> constant_action_dims;
  std::vector<std::int64_t> constant_outcome_dims;  // of s': follow their constant change
  std::vector<std::int64_t> constant_aux_dims;
  std::optional<NoiseEvidence> noise;  // of DynamicsChoice::kAuto
};

struct DynamicsFit {
  DynamicsEnsemble ensemble;
  DynamicsSummary summary;
};

// One member of an ensemble, fitted alone.
struct DynamicsMember {
  VectorF parameters;  // of its network
  MemberSummary summary;
};

// Fits number `member` of the ensemble that FitDynamics fits with the same arguments, of which
// `skipped` are the episodes that this member leaves out. The number of members plays no part.
// Errors as in FitDynamics.
DynamicsMember FitDynamicsMember(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                 const DynamicsOptions& options, std::uint64_t seed,
                                 std::int64_t member, const FitRun& run = {},
                                 std::span<const std::int64_t> skipped = {});

// Returns what FitDynamics returns from members 0, 1, ... that were fitted alone.
DynamicsFit AssembleDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                             const DynamicsOptions& options, std::uint64_t seed,
                             std::vector<DynamicsMember> members,
                             const std::vector<std::vector<std::int64_t>>& skipped = {});

// Fits every member as one parallel task on the listed episodes of the log. Scales are those of all
// listed episodes; all members hold out the same validation episodes and train on the rest.
// `skipped`, if not empty, lists for each member episodes to leave out (cross-fitting by episode).
// Checkpoints are "member_<k>.npz".
// Throws DataError when a member is left with fewer than two episodes, else as Fit.
DynamicsFit FitDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                        const DynamicsOptions& options, std::uint64_t seed, const FitRun& run = {},
                        const std::vector<std::vector<std::int64_t>>& skipped = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_DYNAMICS_FIT_H_
