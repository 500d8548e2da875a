#ifndef LFIW_EXPERIMENTS_CLI_MANUAL_PAGE_H_
#define LFIW_EXPERIMENTS_CLI_MANUAL_PAGE_H_

#include <string>
#include <string_view>

#include "core/layers.h"
#include "experiments/cli/verb_tree.h"

namespace lfiw::experiments {

// Makes the manual page of the program, section 1, in the man macros of roff: every verb with its
// options and examples, exit status, files and environment.
std::string ManualPage(const Verb& program, std::string_view version);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_MANUAL_PAGE_H_
