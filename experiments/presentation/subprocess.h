#ifndef LFIW_EXPERIMENTS_PRESENTATION_SUBPROCESS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_SUBPROCESS_H_

#include <string>
#include <vector>

#include "core/error.h"
#include "core/layers.h"

namespace lfiw::experiments {

// An outside program is not installed, failed, or did not end in time.
class ProgramError : public Error {
 public:
  using Error::Error;
};

// What a program sees of the environment.
enum class ProgramEnvironment {
  kPathAlone,  // PATH and LC_ALL=C, so its output depends on the input alone
  kWhole,      // all that this program sees
};

// Runs command[0], looked up in PATH, without a shell, with `input` on its standard input, and
// returns what it wrote to standard output. Throws ProgramError when the program is not found,
// exits with another status than 0 (the message holds the last line of its standard error), or
// still runs after `time_limit_s` seconds (it is killed).
std::string RunProgram(const std::vector<std::string>& command, const std::string& input,
                       double time_limit_s,
                       ProgramEnvironment environment = ProgramEnvironment::kPathAlone);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_SUBPROCESS_H_
