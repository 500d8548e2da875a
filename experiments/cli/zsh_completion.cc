#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "experiments/cli/completions.h"

namespace lfiw::experiments {
namespace {

// A text inside single quotes, with a backslash before each of `special`.
std::string ZshEscaped(std::string_view text, std::string_view special) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '\\' || special.find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// ":message:action" of `_arguments` for what may stand in the place of a value.
std::string ZshValue(const OptionValue& value) {
  const std::string message = ZshEscaped(value.name, ":");
  const bool has_words = !value.words.empty();
  switch (value.path) {
    case PathKind::kFile:
      return has_words ? fmt::format(":{}:{{compadd -- {}; _files}}", message,
                                     fmt::join(value.words, " "))
                       : fmt::format(":{}:_files", message);
    case PathKind::kFolder:
      return fmt::format(":{}:_files -/", message);
    case PathKind::kNone:
      break;
  }
  if (has_words) return fmt::format(":{}:({})", message, fmt::join(value.words, " "));
  return fmt::format(":{}: ", message);
}

// The lines of `_arguments` for one option or argument.
std::string ZshOption(const VerbOption& option) {
  if (option.is_argument) {
    return fmt::format(" \\\n    '{}{}'", option.is_repeated ? "*" : "", ZshValue(option.value));
  }
  const bool ends = option.names.back() == "--help" || option.names.back() == "--version";
  std::string lines;
  for (const std::string& name : option.names) {
    const std::string first = option.is_repeated ? "*"
                              : ends             ? "(- *)"
                                     : fmt::format("({})", fmt::join(option.names, " "));
    lines +=
        fmt::format(" \\\n    '{}{}[{}]{}'", first, name, ZshEscaped(option.description, "[]:"),
                    option.value.name.empty() ? "" : ZshValue(option.value));
  }
  return lines;
}

// The functions of a verb and of those inside it.
std::string ZshFunctions(const std::string& function, const Verb& verb) {
  std::string script;
  for (const Verb& inside : verb.verbs) {
    script += ZshFunctions(function + "_" + inside.name, inside);
  }
  script += fmt::format("{}() {{\n", function);
  std::string arguments;
  for (const VerbOption& option : verb.options) arguments += ZshOption(option);
  if (verb.verbs.empty()) return script + fmt::format("  _arguments{}\n}}\n\n", arguments);
  script += "  local context state state_descr line\n  typeset -A opt_args\n";
  script +=
      fmt::format("  _arguments -C{} \\\n    '1:verb:->verb' '*::argument:->rest'\n", arguments);
  script += "  case $state in\n    verb)\n      local -a verbs=(\n";
  for (const Verb& inside : verb.verbs) {
    script += fmt::format("        '{}:{}'\n", inside.name, ZshEscaped(inside.description, ""));
  }
  script += "      )\n      _describe verb verbs\n      ;;\n    rest)\n      case $words[1] in\n";
  for (const Verb& inside : verb.verbs) {
    script += fmt::format("        {0}) {1}_{0} ;;\n", inside.name, function);
  }
  return script + "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string ZshCompletion(const Verb& program) {
  const std::string function = "_" + program.name;
  return fmt::format(
      "#compdef {0}\n# Completes the command line of {0} in zsh.\n\n{1}"
      "# as a file of fpath this is called, and sourced it is registered\n"
      "if [[ $funcstack[1] == {2} ]]; then {2} \"$@\"; else compdef {2} {0}; fi\n",
      program.name, ZshFunctions(function, program), function);
}

}  // namespace lfiw::experiments
