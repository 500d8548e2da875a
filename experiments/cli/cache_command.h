#ifndef LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_

#include <chrono>
#include <string>

#include "core/layers.h"
#include "core/run/cache_inventory.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// `lfiw cache`: what the stage cache holds, and how to make it smaller. Each verb returns what is
// to be printed.

// Lists the entries, one line each: stage, size, last use, and whether this program would still use
// it.
Outcome ListCacheEntries(const std::string& cache);

// Tells number and size of the entries by stage.
Outcome MeasureCache(const std::string& cache);

// Deletes what no run has asked for in the given time ("30d", "12h", "0d" for all), or only says
// what it would delete. Throws ConfigError for a time that cannot be read.
Outcome PruneCacheEntries(const std::string& cache, const std::string& older_than, Pruning pruning);

// Checks every byte of every artifact against its seal. The status is 2 when one is damaged,
// else 0.
Outcome VerifyCacheEntries(const std::string& cache);

// Reads "90m", "12h", "30d" or "2w". Throws ConfigError that shows such an example for anything
// else.
std::chrono::seconds ParseAge(const std::string& text);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_
