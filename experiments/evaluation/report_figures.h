#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_FIGURES_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_FIGURES_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/presentation/json_object.h"
#include "experiments/presentation/plot.h"

namespace lfiw::experiments {

// A figure of the report: `name` is its file's and its place's, the caption says how to read it.
struct ReportFigure {
  std::string name;
  std::string caption;
  Plot plot;
};

// Every figure that the parts present in report.json allow (see report.h), in the page's order:
// value_by_horizon, ess_by_horizon, khat_by_horizon, max_weight_by_horizon,
// mean_weight, reliability, calibration_counts, open_loop, dynamics_training, classifier_training,
// policy_training. Throws DataError for a member of the wrong type or length.
std::vector<ReportFigure> ReportFigures(const JsonObject& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_FIGURES_H_
