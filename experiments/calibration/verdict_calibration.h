#ifndef LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_
#define LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_

#include <cstdint>

#include "core/layers.h"
#include "core/run/stage.h"
#include "core/run/stage_cache.h"
#include "experiments/calibration/verdict_calibration_config.h"
#include "experiments/calibration/verdict_case_run.h"
#include "experiments/calibration/verdict_cases.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// The outcomes of one case, which is drawn anew from its label, seed and index.
struct VerdictCaseStage {
  static constexpr StageInfo kInfo{.name = "verdict_case", .layer = Layer::kExperiments};
  struct Key {
    CaseKind kind = CaseKind::kGood;
    PlantedFailure plant = PlantedFailure::kNone;
    std::int64_t index = 0;
    CaseOptions options;
    std::uint64_t seed = 0;

    template <class Visitor>
    void Visit(Visitor& v) {
      v.Field("kind", kind, "what kind of case it is");
      v.Field("plant", plant, "the failure or flaw that is planted");
      v.Field("index", index, "number of the case");
      v.Field("options", options, "log, models and estimates");
      v.Field("seed", seed, "root of the random streams");
    }
  };
  using Inputs = NoInputs;
  static void Make(const Key& key, const Inputs& inputs, const StageWork& work);

  static CaseOutcomes Read(const Artifact& artifact);
};

// Evaluates random linear-Gaussian systems by the pipeline of `lfiw evaluate`, half of them with a
// planted failure, and counts what the verdict says of them. Each case is one parallel task and one
// stage. Writes results.csv (a row per case and estimate), summary.csv (counts and shares), plots
// and report.html into the run directory. The outcome's object holds `results`, the counts.
Outcome RunVerdictCalibration(const VerdictCalibrationConfig& config, const ExperimentRun& run);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CALIBRATION_VERDICT_CALIBRATION_H_
