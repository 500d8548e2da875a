#ifndef LFIW_EXPERIMENTS_CLI_VERB_TREE_H_
#define LFIW_EXPERIMENTS_CLI_VERB_TREE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// The command line as the manual page and the completions of shells need it. All of it is read
// from what `--help` prints too, so that none of them can be out of date.

enum class PathKind { kNone, kFile, kFolder };

// What may stand behind an option or in the place of an argument.
struct OptionValue {
  std::string name = {};                // as `--help` calls it: "FILE"; empty for a flag
  std::string limits = {};              // "nonnegative"; empty where there are none
  std::vector<std::string> words = {};  // those that are known
  PathKind path = PathKind::kNone;
};

struct VerbOption {
  std::vector<std::string> names = {};  // "-m", "--multirun"; of an argument its name alone
  std::string description = {};
  OptionValue value = {};
  bool is_argument = false;
  bool is_required = false;
  bool is_repeated = false;
};

struct Verb {
  std::string name = {};
  std::string description = {};
  std::string examples = {};             // the text below the options of `--help`
  std::vector<VerbOption> options = {};  // in the order of `--help`
  std::vector<Verb> verbs = {};          // those inside it
};

// Reads a verb, or the whole program, without what is hidden. An option's type name says what its
// value is: FILE and DIR are paths, lower-case words stand for themselves, ENVIRONMENT is one of
// `environments`, and "|" stands between several of them.
Verb ReadVerb(const CLI::App& app, const std::vector<std::string>& environments);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_VERB_TREE_H_
