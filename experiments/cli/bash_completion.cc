#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "experiments/cli/completions.h"

namespace lfiw::experiments {
namespace {

// What `compgen` calls the paths.
std::string BashPaths(PathKind path) {
  switch (path) {
    case PathKind::kFile:
      return "f";
    case PathKind::kFolder:
      return "d";
    case PathKind::kNone:
      break;
  }
  return "";
}

// The case of what may follow one option of a verb ("cache prune").
std::string BashOptionCase(const std::string& path, const VerbOption& option) {
  if (option.is_argument || option.value.name.empty()) return "";
  std::vector<std::string> patterns;
  for (const std::string& name : option.names)
    patterns.push_back(fmt::format("\"{} {}\"", path, name));
  return fmt::format("    {}) words=\"{}\" paths={} ;;\n", fmt::join(patterns, "|"),
                     fmt::join(option.value.words, " "), BashPaths(option.value.path));
}

std::string BashOptionCases(const std::string& path, const Verb& verb) {
  std::string cases;
  for (const VerbOption& option : verb.options) cases += BashOptionCase(path, option);
  for (const Verb& inside : verb.verbs) {
    cases += BashOptionCases(path.empty() ? inside.name : path + " " + inside.name, inside);
  }
  return cases;
}

// The case of all else that may stand on the command line of a verb.
std::string BashVerbCases(const std::string& path, const Verb& verb) {
  std::vector<std::string> options, words;
  std::string paths;
  for (const VerbOption& option : verb.options) {
    if (option.is_argument) {
      words.insert(words.end(), option.value.words.begin(), option.value.words.end());
      if (paths != "f") paths += BashPaths(option.value.path);
    } else {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
  }
  for (const Verb& inside : verb.verbs) words.push_back(inside.name);
  std::string cases = fmt::format("      \"{}\") options=\"{}\" words=\"{}\" paths={} ;;\n", path,
                                  fmt::join(options, " "), fmt::join(words, " "), paths);
  for (const Verb& inside : verb.verbs) {
    cases += BashVerbCases(path.empty() ? inside.name : path + " " + inside.name, inside);
  }
  return cases;
}

// Verbs that hold verbs, as a pattern.
std::string OuterVerbs(const Verb& program) {
  std::vector<std::string> names;
  for (const Verb& verb : program.verbs) {
    if (!verb.verbs.empty()) names.push_back(verb.name);
  }
  return fmt::format("{}", fmt::join(names, "|"));
}

}  // namespace

std::string BashCompletion(const Verb& program) {
  std::string script = fmt::format("# Completes the command line of {} in bash.\n", program.name);
  script += fmt::format("_{}() {{\n", program.name);
  script +=
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local verb= options= words= paths=\n"
      "  COMPREPLY=()\n"
      "  # --option=value is three words\n"
      "  if [[ $cur == = ]]; then\n"
      "    cur=\n"
      "  elif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then\n"
      "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  if [[ $COMP_CWORD -gt 1 ]]; then verb=${COMP_WORDS[1]}; fi\n";
  if (const std::string outer = OuterVerbs(program); !outer.empty()) {
    script += fmt::format(
        "  case $verb in\n"
        "    {}) if [[ $COMP_CWORD -gt 2 ]]; then verb+=\" ${{COMP_WORDS[2]}}\"; fi ;;\n"
        "  esac\n",
        outer);
  }
  script += "  case \"$verb $prev\" in\n" + BashOptionCases("", program);
  script += "    *)\n      case $verb in\n" + BashVerbCases("", program) + "      esac\n";
  script +=
      "      if [[ $cur == -* || -z $words$paths ]]; then words=$options paths=; fi\n"
      "      ;;\n"
      "  esac\n"
      "  if [[ -n $paths ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    mapfile -t COMPREPLY < <(compgen -\"$paths\" -- \"$cur\")\n"
      "  fi\n"
      "  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
      "}\n";
  script += fmt::format("complete -F _{0} {0}\n", program.name);
  return script;
}

}  // namespace lfiw::experiments
