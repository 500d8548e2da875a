#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_ESTIMATES_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_ESTIMATES_H_

#include "core/layers.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {

// The tables of the report that hold every estimate; `report` is report.json.

// Every estimator with its interval and diagnostics, the stated one first, and the paper's layout
// of the weighted ones.
HtmlFragment EstimatesSection(const JsonObject& report);

// How the log corrects the model in the doubly robust estimate; nothing without one.
HtmlFragment CorrectionSection(const JsonObject& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_ESTIMATES_H_
