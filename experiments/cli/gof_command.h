#ifndef LFIW_EXPERIMENTS_CLI_GOF_COMMAND_H_
#define LFIW_EXPERIMENTS_CLI_GOF_COMMAND_H_

#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/presentation/outcome.h"
#include "experiments/presentation/terminal_progress.h"

namespace lfiw::experiments {

// What `lfiw gof` is asked.
struct GofCommand {
  std::vector<std::string> real;       // files and folders of images, or of features
  std::vector<std::string> generated;  // likewise
  std::string features;                // network; empty for files of features
  std::vector<std::string> overrides;
  std::string out;
  std::string cache = "outputs/cache";
  bool dry_run = false;
};

// Measures how well generated images fit real ones without a YAML file; the run's config.yaml
// repeats it through `lfiw run`. Throws an Error for wrong input.
Outcome Gof(const GofCommand& command, Verbosity verbosity);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_GOF_COMMAND_H_
