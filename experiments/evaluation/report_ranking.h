#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_RANKING_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_RANKING_H_

#include "core/layers.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {

// All evaluated policies, best first, each with a link to its page; nothing when there is one.
// `report` is report.json.
HtmlFragment RankingSection(const JsonObject& report);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_RANKING_H_
