#ifndef LFIW_EXPERIMENTS_PRESENTATION_STAGE_COSTS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_STAGE_COSTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/stage_cache.h"

namespace lfiw::experiments {

// What the process as a whole has used.
struct ProcessCost {
  double cpu_seconds = 0.0;
  std::int64_t peak_memory_bytes = 0;
};

// The stages of a run as a table, those of one name together and the costliest first: how often
// each was asked for and kept from an earlier run, its CPU seconds, wall seconds and the peak
// memory of the process at its end; then what the rest of the program used, and the whole.
std::string StageCostTable(const std::vector<StageRecord>& records, const ProcessCost& process);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_STAGE_COSTS_H_
