#ifndef LFIW_EXPERIMENTS_PRESENTATION_FIT_HISTORY_H_
#define LFIW_EXPERIMENTS_PRESENTATION_FIT_HISTORY_H_

#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "models/fit.h"

namespace lfiw::experiments {

// Stores the learning curve of a fit as the arrays PREFIXstep, PREFIXtrain and PREFIXvalidation.
void PutHistory(const FitHistory& history, const std::string& prefix, NpzFile& file);

// Reads what PutHistory stored. Throws DataError if it is not there.
FitHistory GetHistory(const NpzFile& file, const std::string& prefix);

// Writes a learning curve as lines of metrics.jsonl.
std::string MetricLines(const FitHistory& history, const std::string& series);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_FIT_HISTORY_H_
