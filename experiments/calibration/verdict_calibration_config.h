#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_CONFIG_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_CONFIG_H_

#include <cstdint>
#include <string>

#include "core/config/visitor.h"
#include "core/layers.h"
#include "experiments/evaluation/evaluation_config.h"
#include "experiments/presentation/experiment.h"

namespace lfiw::experiments {

// What the outcome of a case depends on beside the case; the limits of the verdict are not part of
// it.
struct CaseOptions {
  std::int64_t episodes = 300;
  DynamicsOptions dynamics;
  ClassifierSetOptions classifiers;
  RolloutOptions rollout;
  std::int64_t cross_fit = 0;
  DoublyRobustRowOptions doubly_robust;
  SupportOptions support;
  double level = 0.95;

  // The robust preset, but for networks as small as these systems are.
  CaseOptions();

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("episodes", episodes, "logged episodes of a case", AtLeast(10));
    v.Field("dynamics", dynamics, "ensemble of dynamics models");
    v.Field("classifiers", classifiers, "classifiers of real against generated transitions");
    v.Field("rollout", rollout, "rollouts of the evaluation policy in the model");
    v.Field("cross_fit", cross_fit, "log.cross_fit of the evaluations", AtLeast(0));
    v.Field("doubly_robust", doubly_robust,
            "judge the doubly robust LFIW estimate beside the one from rollouts; wants cross_fit");
    v.Field("support", support, "distance of the policy's actions from the log");
    v.Field("level", level, "coverage that intervals aim at", Between(0.5, 0.999));
  }
};

// Measures how often the verdict is right, on systems whose values are known.
struct VerdictCalibrationConfig : CaseOptions {
  std::string name = "verdict_calibration";
  ExperimentKind experiment = ExperimentKind::kVerdictCalibration;
  std::uint64_t seed = 0;
  std::int64_t good = 200;
  std::int64_t failures = 200;
  std::int64_t doubtful = 60;
  double wrong_share = 0.1;
  VerdictOptions verdict;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("name", name, "names the run directory");
    v.Field("experiment", experiment, "which experiment this file is for");
    v.Field("seed", seed,
            "root seed; another one draws other systems, planted failures, logs and fits");
    v.Field("good", good, "cases without a planted failure", AtLeast(0));
    v.Field("failures", failures, "cases with a planted failure, of all kinds in turn", AtLeast(0));
    v.Field("doubtful", doubtful, "cases with a flaw that may do harm or not", AtLeast(0));
    v.Field("wrong_share", wrong_share,
            "an estimate is called wrong when it is off by more than two standard errors and by "
            "more than this share of a return (of |truth| or of a return's deviation)",
            AtLeast(0.0));
    CaseOptions::Visit(v);
    v.Field("verdict", verdict, "thresholds of the verdict; changing them alone computes nothing");
  }
};

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_CONFIG_H_
