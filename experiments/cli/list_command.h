#ifndef LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_

#include <string>

#include "core/layers.h"

namespace lfiw::experiments {

// What `lfiw list` can list.
enum class Listing { kEnvironments, kEstimators, kSystems, kPresets };

// Returns the text of a listing: one line for each thing, its name first, its summary behind it.
std::string ListingText(Listing listing);

// Prints it; returns the exit status.
int List(Listing listing);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_LIST_COMMAND_H_
