#ifndef LFIW_EXPERIMENTS_CLI_USAGE_H_
#define LFIW_EXPERIMENTS_CLI_USAGE_H_

#include <CLI/CLI.hpp>
#include <string>

#include "core/layers.h"

namespace lfiw::experiments {

// What `lfiw` prints without a verb: the three commands that a newcomer needs.
std::string FirstStepsText();

// Says in one line what is wrong with a command line and what would be right: the verb or option
// that a misspelled one most likely means, and where all of them are listed. `first` is the first
// argument; empty where there is none.
std::string UsageErrorText(const CLI::App& app, const std::string& first,
                           const CLI::ParseError& error);

// Takes whole numbers of 1 and more.
CLI::Validator AtLeastOne();

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_USAGE_H_
