#include "experiments/calibration/verdict_calibration_config.h"

namespace lfiw::experiments {

CaseOptions::CaseOptions() {
  const EvaluationConfig robust = DefaultsOf(Preset::kRobust);
  dynamics = robust.dynamics;
  dynamics.network = {.hidden_layers = 2, .width = 48};
  dynamics.fit.steps = 2'000;
  dynamics.fit.batch = 128;
  dynamics.fit.validate_every = 250;
  dynamics.validation_rows = 1'000;
  classifiers = robust.classifiers;
  classifiers.fit.network = {.hidden_layers = 2, .width = 48};
  classifiers.fit.fit.steps = 600;
  classifiers.fit.fit.validate_every = 100;
  classifiers.fit.validation_rows = 1'000;
  rollout = robust.rollout;
  doubly_robust = robust.doubly_robust;
  doubly_robust.model.value.network.width = 48;
  doubly_robust.model.value.fit.steps = 1'000;
  doubly_robust.model.ratio.network.width = 48;
  doubly_robust.model.ratio.fit.steps = 1'000;
  support = robust.support;
  support.reference_rows = 2'000;
  support.query_rows = 1'000;
}

}  // namespace lfiw::experiments
