#ifndef LFIW_EXPERIMENTS_CLI_MANUAL_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_MANUAL_COMMAND_H_

#include <CLI/CLI.hpp>

#include "core/layers.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// What `lfiw manual` can print: the page for man, or a script that completes command lines.
enum class ManualKind { kPage, kBash, kZsh };

// Makes the page or the script from the command line of the whole program, its environments
// included. The outcome's object holds the same as `text`.
Outcome Manual(const CLI::App& program, ManualKind kind);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_MANUAL_COMMAND_H_
