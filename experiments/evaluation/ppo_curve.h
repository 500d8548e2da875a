#ifndef LFIW_EXPERIMENTS_EVALUATION_PPO_CURVE_H_
#define LFIW_EXPERIMENTS_EVALUATION_PPO_CURVE_H_

#include "core/layers.h"
#include "core/run/csv_columns.h"
#include "policies/ppo/ppo.h"

namespace lfiw::experiments {

// Returns the columns of curve.csv, the learning curve of PPO, which has a line for each update.
const CsvColumns<PpoPoint>& PpoCurveColumns();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_PPO_CURVE_H_
