#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASES_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASES_H_

#include <array>
#include <cstdint>
#include <optional>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "envs/linear_gaussian.h"

namespace lfiw::experiments {

// Random evaluations of linear-Gaussian systems, whose true values are known in closed form: good
// ones, and ones with a failure planted on purpose.

// kDoubtful: with a flaw that may do harm or not, so that neither verdict would be wrong.
enum class CaseKind { kGood, kDoubtful, kSupportGap, kWrongDynamics, kLongHorizon };
constexpr auto EnumNames(CaseKind /*kind*/) {
  return std::to_array<std::string_view>(
      {"good", "doubtful", "support_gap", "wrong_dynamics", "long_horizon"});
}

// How a failure, or a flaw, is planted.
enum class PlantedFailure {
  kNone,
  // doubtful
  kShortFit,    // the dynamics is fitted by a tenth of the gradient steps that it needs
  kMildGap,     // the evaluation policy's actions are at the edge of the logged ones
  kLongMixing,  // a loop that forgets quickly, several times as long as the logged episodes
  // support_gap: they are far from the logged ones
  kConstantGap,  // everywhere by the same vector
  kStateGap,     // by a multiple of the state
  // wrong_dynamics: what the dynamics model is fitted to is not the system
  kOtherSystem,    // its episodes come from another system
  kRescaledState,  // in its episodes one state is recorded in another unit
  kFewSteps,       // the fit ends after a handful of gradient steps
  // long_horizon
  kDegenerateWeights,  // the weighted estimate of the whole horizon, from a somewhat wrong model
  kBeyondLog,          // an all but unstable loop, many times as long as the logged episodes
};
constexpr auto EnumNames(PlantedFailure /*kind*/) {
  return std::to_array<std::string_view>(
      {"none", "short_fit", "mild_gap", "long_mixing", "constant_gap", "state_gap", "other_system",
       "rescaled_state", "few_steps", "degenerate_weights", "beyond_log"});
}

struct VerdictCase {
  CaseKind kind = CaseKind::kGood;
  PlantedFailure plant = PlantedFailure::kNone;
  LinearGaussianSystem system = {};
  // What the dynamics model is really fitted to, where that is another system.
  std::optional<LinearGaussianSystem> believed = {};
  VectorD rescale = {};  // kRescaledState: factors of the states in the dynamics' episodes
  LinearGaussianPolicy behavior = {};
  LinearGaussianPolicy evaluation = {};
  std::int64_t logged_steps = 0;    // of each episode
  std::int64_t horizon = 0;         // of the value
  std::int64_t gradient_steps = 0;  // of the dynamics; 0: as many as in a proper fit

  // Returns the undiscounted value of the evaluation policy.
  double Truth() const;
};

// Return how strong the plant of a case is, in closed form, and how strong it has to be to deserve
// its label:
//   mild_gap, constant_gap, state_gap
//                            share of steps whose action is expected more than three standard
//                            deviations of the behavior policy away from its mean
//   other_system, rescaled_state
//                            |value in the believed system - truth| / |truth|
//   short_fit, few_steps     1 / gradient steps
//   degenerate_weights       expected log-weight of a whole episode in nats (the KL divergence)
//   long_mixing              horizon / logged steps, 0 for a loop with a spectral radius above 0.9
//   beyond_log               horizon / logged steps, 0 for a loop with a spectral radius below 0.99
double PlantStrength(const VerdictCase& c);
double RequiredStrength(PlantedFailure plant);

// Draws the case of a label, anew until its plant is strong enough. It follows from seed and index
// alone. Throws NumericError if 1000 draws are not enough.
VerdictCase DrawCase(CaseKind kind, PlantedFailure plant, std::uint64_t seed, std::uint64_t index);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CASES_H_
