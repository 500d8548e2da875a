#ifndef LFIW_EXPERIMENTS_MBOPE_SCREEN_H_
#define LFIW_EXPERIMENTS_MBOPE_SCREEN_H_

#include <string>

#include "experiments/mbope_report.h"

namespace lfiw {

// What a run prints at its end: of one policy the answer, its back-test, the verdict with reasons
// and the table; of several a ranked table with each one's verdict.
std::string ScreenText(const ReportInputs& in);

}  // namespace lfiw

#endif  // LFIW_EXPERIMENTS_MBOPE_SCREEN_H_
