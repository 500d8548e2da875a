#ifndef LFIW_MODELS_TIMED_FUNCTION_FIT_H_
#define LFIW_MODELS_TIMED_FUNCTION_FIT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "models/ensemble_fit.h"
#include "models/fit.h"
#include "models/timed_function.h"

namespace lfiw::models {

// The validation share is one of the groups of samples.
struct TimedFunctionOptions : EnsembleFitOptions {
  TimedFunctionOptions() {
    members = 2;
    network = {.hidden_layers = 2, .width = 256, .activation = Activation::kSilu};
    fit = {.steps = 4000, .batch = 256, .validate_every = 250, .adam = {}};
  }

  template <class Visitor>
  void Visit(Visitor& v) {
    VisitMembers(v);
    VisitMemberNetworks(v);
    VisitValidation(v, "most samples used per validation");
    VisitScaler(v);
  }
};

// Samples of a function of state and step.
struct StepSamples {
  MatrixF states;                    // [m, obs_dim]
  std::vector<std::int64_t> steps;   // [m], 0 .. T - 1
  std::vector<double> targets;       // [m]
  std::vector<std::int64_t> groups;  // [m]: samples of one group (episode) stay on one side of the
                                     // split into training and validation
  std::int64_t size() const { return std::ssize(steps); }
  void Append(const StepSamples& other);
};

struct TimedFunctionSummary {
  std::vector<FitSummary> members;
  std::int64_t samples = 0;
  // Of the whole ensemble on the held-out groups.
  std::optional<double> r2;   // of a value: share of the variance within steps that is explained
  std::optional<double> auc;  // of a log-ratio
};

struct TimedFunctionFit {
  TimedFunction function;
  TimedFunctionSummary summary;
};

// Least squares: f(s, t) = E[target | s, t]. Targets are scaled by their moments at each step; a
// step without samples gets 0. `name` names random streams, messages and checkpoints
// ("<name>_<k>.npz"). Every member is one parallel task. Throws DataError for fewer than two groups
// or a step outside 0 .. horizon - 1; else as Fit.
TimedFunctionFit FitStepValue(const StepSamples& samples, std::int64_t horizon,
                              const TimedFunctionOptions& options, const std::string& name,
                              std::uint64_t seed, const FitRun& run = {});

// Logistic regression: f(s, t) = log of the ratio of the densities, at step t, of the states with
// target 1 to those with target 0, by the odds of a classifier times the ratio of their numbers at
// t; where these are few, those of neighboring steps count too. Errors as above, and DataError
// when all samples are of one kind.
TimedFunctionFit FitStepLogRatio(const StepSamples& samples, std::int64_t horizon,
                                 const TimedFunctionOptions& options, const std::string& name,
                                 std::uint64_t seed, const FitRun& run = {});

}  // namespace lfiw::models

#endif  // LFIW_MODELS_TIMED_FUNCTION_FIT_H_
