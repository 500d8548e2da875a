#ifndef LFIW_MODELS_LEARNED_FUNCTION_H_
#define LFIW_MODELS_LEARNED_FUNCTION_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"
#include "models/mlp.h"
#include "models/scalar_of_transition.h"
#include "models/scaler.h"
#include "models/transition_view.h"

namespace lfiw::models {

// What a function of a transition stands for.
enum class FunctionKind {
  kReward,       // its reward
  kTermination,  // the probability that it ends the episode
};
constexpr auto EnumNames(FunctionKind /*kind*/) {
  return std::to_array<std::string_view>({"reward", "termination"});
}

// The inputs of a learned function: scaled (s, a, s' - s, s'), dimensions that are constant in the
// data left out. Of s, s' - s and s' any two give the third, but each is here at unit scale, so
// that a cost of s, a displacement (a small difference of large numbers in s and s') and a
// threshold on s' (of which few steps show the far side) all read their input directly. Where the
// log lacks the observation after some ends (EpisodeBatch::end_unrecorded), s' and s' - s are left
// out: the function is then the mean over s' given (s, a).
struct TransitionScaler {
  Scaler states;
  Scaler actions;
  Scaler changes;
  Scaler next_states;

  // Measures the moments of n >= 1 transitions, as Scaler::Fit.
  static TransitionScaler Fit(const TransitionView& data, const ScalerOptions& options);

  std::int64_t input_dim() const {
    return states.active_dim() + actions.active_dim() + changes.active_dim() +
           next_states.active_dim();
  }
  // All with n rows; inputs [n, input_dim].
  void Scale(ConstMatrixRef states_in, ConstMatrixRef actions_in, ConstMatrixRef next_states_in,
             MatrixRef inputs) const;
};

// Affine map from what networks learn to the data's unit.
struct OutputScale {
  double mean = 0.0;
  double deviation = 1.0;
};

// A scalar function of a transition (s, a, s') learned from a log: the mean over an ensemble of
// networks, or a constant. Thread safe; runs on the calling thread.
class LearnedFunction final : public ScalarOfTransition {
 public:
  // `networks` map scaler.input_dim() values to one: to the reward in units of `output` (kReward),
  // or to the logit of the end of the episode (kTermination, where `output` has no part). Without
  // networks the function is output.mean everywhere (kReward only). `skipped`, if not empty, holds
  // for each network the episodes of the log that its training left out.
  LearnedFunction(FunctionKind kind, TransitionScaler scaler, OutputScale output,
                  std::vector<Mlp> networks, std::vector<std::vector<std::int64_t>> skipped = {});

  FunctionKind kind() const { return kind_; }
  std::int64_t obs_dim() const { return scaler_.states.dim(); }
  std::int64_t action_dim() const { return scaler_.actions.dim(); }
  std::int64_t members() const { return std::ssize(networks_); }
  const TransitionScaler& scaler() const { return scaler_; }

  // kReward: the predicted reward in the data's unit. kTermination: the probability in [0, 1] that
  // the step ends the episode.
  void Predict(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
               std::span<double> values) const override;

  // The mean over the networks whose training skipped the episode; null where none or all did.
  std::shared_ptr<const LearnedFunction> WithoutSeen(std::int64_t episode) const;
  std::shared_ptr<const ScalarOfTransition> Unseen(std::int64_t episode) const override {
    return WithoutSeen(episode);
  }

  // One .npz file. Load throws DataError for a file that is no such function.
  void Save(const std::string& path) const;
  static LearnedFunction Load(const std::string& path);

 private:
  FunctionKind kind_;
  TransitionScaler scaler_;
  OutputScale output_;
  std::vector<std::shared_ptr<const Mlp>> networks_;
  std::vector<std::vector<std::int64_t>> skipped_;  // [members], or empty
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_LEARNED_FUNCTION_H_
