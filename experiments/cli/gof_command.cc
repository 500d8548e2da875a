#include "experiments/cli/gof_command.h"

#include <filesystem>

#include "core/config/config.h"
#include "experiments/cli/commands.h"
#include "experiments/cli/experiment_kinds.h"
#include "experiments/image_gof/gof.h"

namespace lfiw::experiments {
namespace {

// "gof_SAMPLES" after the first generated file or folder.
std::string NameFor(const GofCommand& command) {
  const std::filesystem::path first = command.generated.front();
  const std::string stem =
      first.stem().empty() ? first.parent_path().stem().string() : first.stem().string();
  return "gof_" + stem;
}

// The command line that repeats this.
std::string CommandText(const GofCommand& command) {
  std::string text = "lfiw gof";
  for (const std::string& path : command.real) text += " --real " + path;
  for (const std::string& path : command.generated) text += " --generated " + path;
  if (!command.features.empty()) text += " --features " + command.features;
  for (const std::string& override : command.overrides) text += " " + override;
  return text;
}

}  // namespace

Outcome Gof(const GofCommand& command, Verbosity verbosity) {
  const auto config = LoadConfig<GofConfig>("", command.overrides, [&](const GofConfig& read) {
    GofConfig defaults = GofConfig::DefaultsOf(read.preset);
    defaults.name = NameFor(command);
    defaults.real = command.real;
    defaults.generated = command.generated;
    defaults.features = command.features;
    return defaults;
  });
  if (!command.dry_run) WarnIfSlow();
  return RunIn({.config = "",
                .overrides = command.overrides,
                .out = command.out,
                .cache = command.cache,
                .dry_run = command.dry_run,
                .verbosity = verbosity,
                .command = CommandText(command)},
               config, RunGof);
}

}  // namespace lfiw::experiments
