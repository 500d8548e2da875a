#ifndef LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_

#include "core/layers.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// What `lfiw list` can list.
enum class Listing { kEnvironments, kEstimators, kSystems, kPresets };

// Lists things, a line for each: its name, and behind it what it is. The outcome's object holds
// `entries`, each with `name` and `summary`.
Outcome List(Listing listing);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_
