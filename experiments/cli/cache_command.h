#ifndef LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_

#include <chrono>
#include <string>

#include "core/layers.h"
#include "core/run/cache_inventory.h"

namespace lfiw::experiments {

// `lfiw cache`: what the stage cache holds, and how to make it smaller.

// Prints one line per entry: stage, size, last use, and whether this program would still use it.
int ListCacheEntries(const std::string& cache);

// Prints number and size of the entries by stage.
int PrintCacheSize(const std::string& cache);

// Deletes what no run has asked for in the given time ("30d", "12h", "0d" for all), or only says
// what it would delete. Throws ConfigError for a time that cannot be read.
int PruneCacheEntries(const std::string& cache, const std::string& older_than, Pruning pruning);

// Checks every byte of every artifact against its seal. Returns the exit status: 2 when one is
// damaged, else 0.
int VerifyCacheEntries(const std::string& cache);

// Reads "90m", "12h", "30d" or "2w". Throws ConfigError that shows such an example for anything
// else.
std::chrono::seconds ParseAge(const std::string& text);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_CACHE_COMMAND_H_
