#ifndef LFIW_TESTS_EXPERIMENTS_CLI_SMALL_PROGRAM_H_
#define LFIW_TESTS_EXPERIMENTS_CLI_SMALL_PROGRAM_H_

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "experiments/cli/verb_tree.h"

namespace lfiw::experiments {

// A program with every kind of verb, option and argument that the manual must know.
class SmallProgram {
 public:
  SmallProgram() : app_("tells what\na policy is worth", "small") {
    CLI::App* run = app_.add_subcommand("run", "Run a file: it's [quick]");
    run->footer("Example:\n  small run 'a-b.yaml' \\\n  .x");
    run->add_option("config", text_, "experiment file")->required()->type_name("FILE");
    run->add_option("overrides", texts_, "fields")->type_name("KEY=VALUE");
    run->add_option("--env", text_, "environment")->type_name("ENVIRONMENT");
    run->add_option("--reward", text_, "of steps")->type_name("learned|FILE");
    run->add_option("--format", text_, "of the log")->required()->type_name("npz|csv");
    run->add_option("--out", text_, "folder")->type_name("DIR");
    run->add_option("--policy", texts_, "policies")->allow_extra_args(false)->type_name("FILE");
    run->add_option("--threads", number_, "threads")->check(CLI::NonNegativeNumber);
    run->add_flag("-m,--many", flag_, "one after the other");
    CLI::App* cache = app_.add_subcommand("cache", "look into the cache");
    CLI::App* prune = cache->add_subcommand("prune", "delete what is old");
    prune->add_option("--cache", text_, "cache")->type_name("DIR");
    cache->add_subcommand("size", "measure");
    app_.add_subcommand("secret", "not for people")->group("");
  }

  Verb Read() const { return ReadVerb(app_, {"Ant", "Hopper-v5"}); }

 private:
  CLI::App app_;
  std::string text_;
  std::vector<std::string> texts_;
  std::int64_t number_ = 0;
  bool flag_ = false;
};

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_CLI_SMALL_PROGRAM_H_
