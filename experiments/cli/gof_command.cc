#include "experiments/cli/gof_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/config/config.h"
#include "core/run/run_directory.h"
#include "core/run/stage_cache.h"
#include "experiments/cli/commands.h"
#include "experiments/image_gof/gof.h"
#include "experiments/presentation/experiment.h"
#include "experiments/presentation/toolchain.h"

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

int Gof(const GofCommand& command, Verbosity verbosity) {
  const auto config = LoadConfig<GofConfig>("", command.overrides, [&](const GofConfig& /*read*/) {
    GofConfig defaults;
    defaults.name = NameFor(command);
    defaults.real = command.real;
    defaults.generated = command.generated;
    defaults.features = command.features;
    return defaults;
  });
  if (command.dry_run) {
    fmt::print("{}", DescribeConfig(config));
    return 0;
  }
  WarnIfSlow();
  RunDirectory directory(command.out.empty()
                             ? DefaultRunDirectory("outputs", config.name, CanonicalText(config))
                             : command.out);
  directory.Write("config.yaml", DumpConfig(config));
  StageCache cache(command.cache, CurrentToolchain());
  return RunGof(config, {cache, directory, verbosity, CommandText(command)});
}

}  // namespace lfiw::experiments
