#ifndef LFIW_POLICIES_FILES_ACTION_HEAD_H_
#define LFIW_POLICIES_FILES_ACTION_HEAD_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "core/matrix.h"

namespace lfiw::policies {

// What the outputs of a policy's network are.
enum class OutputKind {
  kAction,      // [action_dim]: the action itself, without noise
  kMean,        // [action_dim]: the mean of a Gaussian of fixed deviation
  kMeanLogStd,  // [2 action_dim]: its mean, then its log standard deviation
  kLogits,      // [action_dim]: log-probabilities of discrete actions, up to a constant
};

constexpr auto EnumNames(OutputKind /*kind*/) {
  return std::to_array<std::string_view>({"action", "mean", "mean_log_std", "logits"});
}

// What is done to an action after the noise.
enum class Squash {
  kNone,  // nothing; the environment clips
  kTanh,  // low + (high - low) (tanh(a) + 1) / 2
  kClip,  // clipped to [low, high]
};

constexpr auto EnumNames(Squash /*kind*/) {
  return std::to_array<std::string_view>({"none", "tanh", "clip"});
}

// How a predicted log deviation is kept within its range.
enum class LogStdBound {
  kClamp,  // clamped to it
  kTanh,   // low + (high - low) (tanh(x) + 1) / 2
};

constexpr auto EnumNames(LogStdBound /*kind*/) {
  return std::to_array<std::string_view>({"clamp", "tanh"});
}

// From the network's outputs of one observation to an action and its density.
struct ActionHead {
  OutputKind kind = OutputKind::kAction;
  std::int64_t action_dim = 0;
  Squash squash = Squash::kNone;
  VectorF low, high;  // [action_dim], unless squash is none
  VectorF log_std;    // [action_dim], of kMean
  LogStdBound log_std_bound = LogStdBound::kClamp;
  float log_std_low = -20.0f;  // range of predicted log deviations, of kMeanLogStd
  float log_std_high = 2.0f;

  std::int64_t outputs() const;
  // One draw per dimension; one in all for discrete actions; none without noise.
  std::int64_t noise_dim() const;
  bool has_density() const { return kind != OutputKind::kAction; }

  // Says in a few words why outputs [outputs()] define no action: a NaN, no action with a
  // probability above 0, or a mean that is not finite. Empty where they define one; a logit of
  // -infinity forbids its action.
  std::string FaultOf(const float* outputs) const;

  // outputs [outputs()], noise [noise_dim()], action [action_dim] (written). A discrete action is
  // drawn by inversion: the smallest k whose cumulated probability exceeds Phi(noise).
  void Draw(const float* outputs, const float* noise, float* action) const;
  void Mean(const float* outputs, float* action) const;
  // log-density of an executed action, censored at the bounds `env_low` and `env_high`
  // [action_dim] and at the head's own; log-probability of a discrete action, PolicyError unless
  // it is one-hot.
  double LogDensity(const float* outputs, const float* action, const double* env_low,
                    const double* env_high) const;

 private:
  float LogStd(const float* outputs, std::int64_t dim) const;
  float Finish(double action, std::int64_t dim) const;
  double DimensionLogDensity(const float* outputs, std::int64_t dim, float action, double env_low,
                             double env_high) const;
};

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_ACTION_HEAD_H_
