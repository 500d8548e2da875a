#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_SUMMARY_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_SUMMARY_H_

#include "core/layers.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {

// The first screen of the report: the verdict with its reasons, and the stated estimate against the
// truth and the behavior policy's value, in words and as large numbers. `report` is report.json.
HtmlFragment SummarySection(const JsonObject& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_SUMMARY_H_
