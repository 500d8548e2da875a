#ifndef LFIW_EXPERIMENTS_CLI_COMPLETIONS_H_
#define LFIW_EXPERIMENTS_CLI_COMPLETIONS_H_

#include <string>

#include "core/layers.h"
#include "experiments/cli/verb_tree.h"

namespace lfiw::experiments {

// Scripts that complete the command line of `program`, whose verbs may hold verbs of their own:
// verbs, options, known values, and paths where the command line takes one.
std::string BashCompletion(const Verb& program);
std::string ZshCompletion(const Verb& program);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_COMPLETIONS_H_
