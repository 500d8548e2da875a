#ifndef LFIW_EXPERIMENTS_REPORT_FIGURES_H_
#define LFIW_EXPERIMENTS_REPORT_FIGURES_H_

#include <string>
#include <vector>

#include "experiments/json_object.h"
#include "experiments/plot.h"

namespace lfiw {

// A figure of the report: `name` is its file's and its place's, the caption says how to read it.
struct ReportFigure {
  std::string name;
  std::string caption;
  Plot plot;
};

// Every figure that the parts present in report.json allow (see report.h), in the page's order:
// error_by_horizon or value_by_horizon, ess_by_horizon, khat_by_horizon, max_weight_by_horizon,
// mean_weight, reliability, calibration_counts, open_loop, dynamics_training, classifier_training,
// policy_training. Throws DataError for a member of the wrong type or length.
std::vector<ReportFigure> ReportFigures(const JsonObject& report);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_REPORT_FIGURES_H_
