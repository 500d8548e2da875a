#ifndef LFIW_EXPERIMENTS_CLI_LOG_COMMANDS_H_
#define LFIW_EXPERIMENTS_CLI_LOG_COMMANDS_H_

#include <cstdint>
#include <string>

#include "core/layers.h"
#include "core/logs/log_reader.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// The verbs that work on logs. Each returns what is to be printed and throws an Error for wrong
// input.

// How a log is to be read.
struct LogArguments {
  std::string path;
  std::string map;  // LogReadOptions::map
  std::string env;  // may be empty
  std::int64_t max_episode_steps = 1000;
};

// With an environment whose reward needs the forward velocity, it is taken from positions.
LogReadOptions ReadOptionsFor(const LogArguments& arguments);

// Steps of a log to hold at a time: fewer where observations are wide.
std::int64_t BatchSteps(const LogInfo& info);

struct InspectCommand {
  LogArguments log;
  std::string out;  // directory for a page with plots; may be empty
};
Outcome Inspect(const InspectCommand& options);

struct ConvertCommand {
  LogArguments log;
  std::string out;
  std::string to;  // a name of LogFormat; empty: by the ending of `out`
};
Outcome Convert(const ConvertCommand& options);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_LOG_COMMANDS_H_
