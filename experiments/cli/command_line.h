#ifndef LFIW_EXPERIMENTS_CLI_COMMAND_LINE_H_
#define LFIW_EXPERIMENTS_CLI_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <functional>

#include "core/layers.h"
#include "experiments/cli/commands.h"

namespace lfiw::experiments {

// What the command line said: options of every verb, and what the chosen verb does, which returns
// what the program prints and its exit status.
struct ChosenVerb {
  CommonOptions common;
  std::function<Outcome()> action;
};

// Adds the options that all verbs have.
inline void AddCommon(CLI::App& verb, CommonOptions& common) {
  verb.add_option("--threads", common.threads, "threads to use (0: one per core)")
      ->check(CLI::NonNegativeNumber);
  verb.add_flag_callback(
      "--quiet", [&common] { common.verbosity = Verbosity::kQuiet; },
      "no progress; the result is printed");
  verb.add_flag_callback(
      "--json", [&common] { common.form = OutputForm::kJson; },
      "print the result as one JSON object, and nothing else on standard output");
}

// Adds the verbs of the experiments on images; none where the program was built without them.
void AddImageVerbs(CLI::App& app, ChosenVerb& chosen);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_COMMAND_LINE_H_
