#ifndef LFIW_TESTS_EXPERIMENTS_CALIBRATION_TINY_VERDICT_CALIBRATION_H_
#define LFIW_TESTS_EXPERIMENTS_CALIBRATION_TINY_VERDICT_CALIBRATION_H_

#include "core/layers.h"
#include "experiments/calibration/verdict_calibration_config.h"

namespace lfiw::experiments {

// Cases of a fraction of a second, whose fits are too short to be any good.
inline VerdictCalibrationConfig TinyVerdictCalibration() {
  VerdictCalibrationConfig config;
  config.episodes = 40;
  config.dynamics.members = 2;
  config.dynamics.network.width = 16;
  config.dynamics.fit.steps = 60;
  config.classifiers.instances = 2;
  config.classifiers.fit.network.width = 16;
  config.classifiers.fit.fit.steps = 40;
  config.rollout.repetitions = 3;
  config.rollout.episodes = 20;
  return config;
}

// The same with the doubly robust estimate.
inline VerdictCalibrationConfig TinyDoublyRobustCalibration() {
  VerdictCalibrationConfig config = TinyVerdictCalibration();
  config.cross_fit = 2;
  config.doubly_robust.enabled = true;
  config.doubly_robust.resamples = 40;
  config.doubly_robust.model.starts = 20;
  config.doubly_robust.model.trajectories = 40;
  config.doubly_robust.model.value.fit.steps = 40;
  config.doubly_robust.model.ratio.fit.steps = 40;
  return config;
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_CALIBRATION_TINY_VERDICT_CALIBRATION_H_
