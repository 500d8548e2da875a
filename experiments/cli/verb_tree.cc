#include "experiments/cli/verb_tree.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace lfiw::experiments {
namespace {

std::string InLowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

// Reads "environment|learned|FILE:LIMITS"; CLI11 puts the limits behind the name of the type.
OptionValue ReadValue(const std::string& type, const std::vector<std::string>& environments) {
  OptionValue value;
  const std::size_t colon = type.find(':');
  value.name = type.substr(0, colon);
  if (colon != std::string::npos) value.limits = InLowerCase(type.substr(colon + 1));
  std::istringstream parts(value.name);
  for (std::string part; std::getline(parts, part, '|');) {
    if (part == "FILE") {
      value.path = PathKind::kFile;
    } else if (part == "DIR") {
      value.path = PathKind::kFolder;
    } else if (part == "ENVIRONMENT") {
      value.words.insert(value.words.end(), environments.begin(), environments.end());
    } else if (part == InLowerCase(part)) {
      value.words.push_back(part);
    }
  }
  return value;
}

VerbOption ReadOption(const CLI::Option& option, const std::vector<std::string>& environments) {
  VerbOption read;
  read.description = option.get_description();
  read.is_argument = !option.nonpositional();
  read.is_required = option.get_required();
  read.is_repeated = option.get_items_expected_max() > 1;
  if (read.is_argument) read.names.push_back(option.get_name(true));
  for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    read.value = ReadValue(option.get_type_name(), environments);
  }
  return read;
}

}  // namespace

Verb ReadVerb(const CLI::App& app, const std::vector<std::string>& environments) {
  Verb verb{.name = app.get_name(),
            .description = app.get_description(),
            .examples = app.get_footer(),
            .options = {},
            .verbs = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) verb.options.push_back(ReadOption(*option, environments));
  }
  for (const CLI::App* inside : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!inside->get_group().empty()) verb.verbs.push_back(ReadVerb(*inside, environments));
  }
  return verb;
}

}  // namespace lfiw::experiments
