#ifndef LFIW_MODELS_TIMED_FUNCTION_H_
#define LFIW_MODELS_TIMED_FUNCTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/matrix.h"
#include "models/mlp.h"
#include "models/scaler.h"

namespace lfiw::models {

// A scalar function of a state and of its step in the episode, f(s, t) for t = 0 .. T - 1: the
// value of a policy over the steps that are left, or the log-ratio of two distributions of states.
// The mean over an ensemble of networks on the scaled state and 2 t / T - 1, mapped at every step
// by an affine function of its own, because values grow with the steps that are left. Thread safe;
// runs on the calling thread.
class TimedFunction {
 public:
  // centers, widths [T]: f(s, t) = centers[t] + widths[t] * mean of the networks, each of which
  // maps scaler.active_dim() + 1 values to one.
  TimedFunction(Scaler scaler, std::vector<double> centers, std::vector<double> widths,
                std::vector<Mlp> networks);

  std::int64_t obs_dim() const { return scaler_.dim(); }
  std::int64_t steps() const { return std::ssize(centers_); }  // T
  std::int64_t input_dim() const { return InputDim(scaler_); }

  // states [n, obs_dim], steps [n] in 0 .. T - 1, values [n] (written).
  void Predict(ConstMatrixRef states, std::span<const std::int64_t> steps,
               std::span<double> values) const;

  // One .npz file. Load throws DataError for a file that is no such function.
  void Save(const std::string& path) const;
  static TimedFunction Load(const std::string& path);

  // What the networks read: inputs [n, InputDim(scaler)] (written).
  static std::int64_t InputDim(const Scaler& scaler) { return scaler.active_dim() + 1; }
  static void Inputs(const Scaler& scaler, std::int64_t horizon, ConstMatrixRef states,
                     std::span<const std::int64_t> steps, MatrixRef inputs);

 private:
  Scaler scaler_;
  std::vector<double> centers_, widths_;
  std::vector<Mlp> networks_;
};

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TIMED_FUNCTION_H_
