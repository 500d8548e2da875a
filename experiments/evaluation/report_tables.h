#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_TABLES_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_TABLES_H_

#include "core/layers.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {

// The parts of the report that state the estimates; `report` is report.json (see report.h).

// The first screen: the verdict with its reasons, and the headline estimate against the truth and
// the behavior policy's value, in words and as large numbers.
HtmlFragment SummarySection(const JsonObject& report);

// All evaluated policies, best first; nothing when there is one.
HtmlFragment RankingSection(const JsonObject& report);

// Every estimator with its interval and diagnostics, and the paper's layout of the weighted ones.
HtmlFragment EstimatesSection(const JsonObject& report);

// How the log corrects the model in the doubly robust estimate; nothing without one.
HtmlFragment CorrectionSection(const JsonObject& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_TABLES_H_
