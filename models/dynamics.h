#ifndef LFIW_MODELS_DYNAMICS_H_
#define LFIW_MODELS_DYNAMICS_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/mlp.h"
#include "models/scaler.h"
#include "models/transition_model.h"

namespace lfiw::models {

enum class DynamicsKind { kGaussian, kDeterministic };

constexpr auto EnumNames(DynamicsKind /*kind*/) {
  return std::to_array<std::string_view>({"gaussian", "deterministic"});
}

// The scales a dynamics model works in. Outcomes are the change of the state, s' - s, and aux.
struct DynamicsScalers {
  Scaler states;
  Scaler actions;
  Scaler changes;  // active: the dimensions of s' that are learned
  Scaler aux;

  std::int64_t input_dim() const { return states.active_dim() + actions.active_dim(); }
  std::int64_t outcome_dim() const { return changes.active_dim() + aux.active_dim(); }

  // The listed rows of (s, a); inputs [rows.size(), input_dim].
  void ScaleInputs(ConstMatrixRef all_states, ConstMatrixRef all_actions,
                   std::span<const std::int64_t> rows, MatrixRef inputs) const;
  // The listed rows of (s' - s, aux); targets [rows.size(), outcome_dim].
  void ScaleOutcomes(ConstMatrixRef all_states, ConstMatrixRef all_next_states,
                     ConstMatrixRef all_aux, std::span<const std::int64_t> rows,
                     MatrixRef targets) const;
};

// An ensemble of networks from scaled (s, a) to scaled outcomes (s' - s, aux), each either a
// diagonal Gaussian or a point, to which noise that is the same everywhere may be added. Outcome
// dimensions that are constant in the training data keep
// their constant change (s) or value (aux) and are no input, target or part of a density.
class DynamicsEnsemble : public TransitionModel {
 public:
  // `networks` map input_dim to outcome_dim values (deterministic) or to means and raw
  // log-variances (gaussian). `skipped`, if not empty, holds for each member the episodes of the
  // log that its training left out on purpose (cross-fitting). `noise`, if not empty, is a matrix
  // [outcome_dim, outcome_dim] that makes standard normal draws the noise of deterministic
  // networks, in scaled units.
  DynamicsEnsemble(DynamicsKind kind, DynamicsScalers scalers, std::vector<Mlp> networks,
                   std::vector<std::vector<std::int64_t>> skipped = {}, MatrixF noise = {});

  std::int64_t obs_dim() const override { return scalers_.states.dim(); }
  std::int64_t action_dim() const override { return scalers_.actions.dim(); }
  std::int64_t aux_dim() const override { return scalers_.aux.dim(); }
  std::int64_t members() const override { return std::ssize(networks_); }
  std::int64_t noise_dim() const override;
  std::int64_t outcome_dim() const { return scalers_.outcome_dim(); }
  DynamicsKind kind() const { return kind_; }
  bool has_noise() const { return noise_dim() > 0; }
  // Multiplies the deviation of the noise by `factor` >= 0; densities stay as they are.
  void ScaleNoise(float factor);
  const DynamicsScalers& scalers() const { return scalers_; }

  void Sample(ConstMatrixRef states, ConstMatrixRef actions, std::span<const std::int64_t> member,
              ConstMatrixRef noise, MatrixRef next_states, MatrixRef aux) const override;
  std::vector<std::int64_t> FixedStateDims() const override { return scalers_.changes.Constant(); }
  std::vector<std::int64_t> FixedAuxDims() const override { return scalers_.aux.Constant(); }
  std::vector<std::int64_t> MembersFor(std::int64_t episode) const override;

  // As Sample, without noise: the mean of each row's member.
  void Mean(ConstMatrixRef states, ConstMatrixRef actions, std::span<const std::int64_t> member,
            MatrixRef next_states, MatrixRef aux) const;

  // Log-density (nats, in the units of the data) of the learned outcome dimensions under each row's
  // member; log_density [n]. Gaussian ensembles only: throws ConfigError for deterministic ones.
  void LogDensity(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                  ConstMatrixRef aux, std::span<const std::int64_t> member,
                  std::span<double> log_density) const;
  // The same under the even mixture of all members.
  void MixtureLogDensity(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                         ConstMatrixRef aux, std::span<double> log_density) const;

  // One .npz file. Load throws DataError for a file that is no such ensemble.
  void Save(const std::string& path) const;
  static DynamicsEnsemble Load(const std::string& path);

 private:
  // What one member says of the listed rows, in scaled units: means [rows, outcome_dim] and, of a
  // Gaussian, log-variances [rows, outcome_dim].
  struct Prediction {
    MatrixF means;
    MatrixF log_variances;
  };
  Prediction Predict(std::int64_t member, ConstMatrixRef states, ConstMatrixRef actions,
                     std::span<const std::int64_t> rows) const;
  // Adds the noise that the listed rows of standard normal draws make to the means.
  void AddNoise(ConstMatrixRef noise, std::span<const std::int64_t> rows, Prediction& p) const;
  // Sample, or Mean where `noise` has no columns.
  void Draw(ConstMatrixRef states, ConstMatrixRef actions, std::span<const std::int64_t> member,
            ConstMatrixRef noise, MatrixRef next_states, MatrixRef aux) const;
  void WriteOutcomes(const MatrixF& outcomes, ConstMatrixRef states,
                     std::span<const std::int64_t> rows, MatrixRef next_states,
                     MatrixRef aux) const;

  DynamicsKind kind_;
  DynamicsScalers scalers_;
  std::vector<Mlp> networks_;
  std::vector<std::vector<std::int64_t>> skipped_;
  MatrixF noise_;
  float noise_scale_ = 1.0f;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_DYNAMICS_H_
