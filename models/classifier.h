#ifndef LFIW_MODELS_CLASSIFIER_H_
#define LFIW_MODELS_CLASSIFIER_H_

#include <cstdint>
#include <span>
#include <string>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/mlp.h"
#include "models/scaler.h"
#include "models/transition_ratio.h"

namespace lfiw::models {

// The inputs of a classifier: scaled (s, a, s' or s' - s, aux), constant dimensions left out.
struct TripleScaler {
  Scaler states;
  Scaler actions;
  Scaler outcomes;  // of s', or of s' - s with input_delta
  Scaler aux;
  bool input_delta = false;

  std::int64_t input_dim() const {
    return states.active_dim() + actions.active_dim() + outcomes.active_dim() + aux.active_dim();
  }
  // All with n rows; inputs [n, input_dim].
  void Scale(ConstMatrixRef states_in, ConstMatrixRef actions_in, ConstMatrixRef next_states_in,
             ConstMatrixRef aux_in, MatrixRef inputs) const;
};

// Tells real from generated transitions; its logit is a log density ratio of the next state given
// (s, a), up to the class ratio it was trained with.
class RatioClassifier : public TransitionRatio {
 public:
  // `network` maps scaler.input_dim() values to one logit; `generated_per_real` is the class ratio
  // that its training saw.
  RatioClassifier(TripleScaler scaler, Mlp network, double generated_per_real);

  std::int64_t obs_dim() const { return scaler_.states.dim(); }
  std::int64_t action_dim() const { return scaler_.actions.dim(); }
  std::int64_t aux_dim() const { return scaler_.aux.dim(); }
  const TripleScaler& scaler() const { return scaler_; }
  double generated_per_real() const { return generated_per_real_; }

  // log w = logit + log(generated / real) for each row: the paper's gamma c / (1 - c) without
  // leaving log space. states, next_states [n, obs_dim], actions [n, action_dim], aux [n, aux_dim];
  // log_ratios [n]. Thread safe; runs on the calling thread.
  void LogRatios(ConstMatrixRef states, ConstMatrixRef actions, ConstMatrixRef next_states,
                 ConstMatrixRef aux, std::span<double> log_ratios) const override;

  // One .npz file. Load throws DataError for a file that is no such classifier.
  void Save(const std::string& path) const;
  static RatioClassifier Load(const std::string& path);

 private:
  TripleScaler scaler_;
  Mlp network_;
  double generated_per_real_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_CLASSIFIER_H_
