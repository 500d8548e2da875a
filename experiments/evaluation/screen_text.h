#ifndef LFIW_EXPERIMENTS_EVALUATION_SCREEN_TEXT_H_
#define LFIW_EXPERIMENTS_EVALUATION_SCREEN_TEXT_H_

#include <string>

#include "core/layers.h"
#include "experiments/evaluation/report_json.h"

namespace lfiw::experiments {

// What a run prints at its end: of one policy the answer, its back-test, the verdict with reasons
// and the table; of several a ranked table with each one's verdict.
std::string ScreenText(const ReportInputs& in);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_SCREEN_TEXT_H_
