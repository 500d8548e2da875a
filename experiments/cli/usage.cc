#include "experiments/cli/usage.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/nearest_name.h"
#include "core/quoted.h"

namespace lfiw::experiments {
namespace {

// Names further away than this mean something else.
constexpr std::size_t kMostTypos = 3;

std::string DidYouMean(const std::string& name, const std::vector<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto nearest = NearestName(name, known, kMostTypos);
  return nearest ? fmt::format("; did you mean {}?", names[*nearest]) : "";
}

// The verb that was given, with the one inside it: "cache prune".
struct GivenVerb {
  const CLI::App* app;
  std::string name = "";
};

GivenVerb VerbOf(const CLI::App& app) {
  GivenVerb verb{&app};
  for (auto inside = app.get_subcommands(); !inside.empty(); inside = verb.app->get_subcommands()) {
    verb.app = inside.front();
    verb.name += (verb.name.empty() ? "" : " ") + verb.app->get_name();
  }
  return verb;
}

std::vector<std::string> VerbsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

std::vector<std::string> OptionsOf(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

std::string FirstStepsText() {
  return "lfiw tells from logged data of one policy how well another one would do.\n\n"
         "  lfiw inspect log.npz                               what is in a log, and its faults\n"
         "  lfiw evaluate --data log.npz --policy new.npz      what the new policy is worth\n"
         "  lfiw run experiments/configs/quickstart.yaml       an example with a known answer\n\n"
         "`lfiw --help` lists all verbs, `lfiw VERB --help` what each of them takes.\n";
}

std::string UsageErrorText(const CLI::App& app, const std::string& first,
                           const CLI::ParseError& error) {
  const GivenVerb verb = VerbOf(app);
  if (verb.app == &app && !first.empty() && !first.starts_with('-')) {
    return fmt::format("there is no verb '{}'{} (`lfiw --help` lists them)", Quoted(first),
                       DidYouMean(first, VerbsOf(app)));
  }
  const std::string help =
      fmt::format("`lfiw {}{}--help` lists what {} takes", verb.name, verb.name.empty() ? "" : " ",
                  verb.name.empty() ? "it" : "this verb");
  const std::string where = verb.name.empty() ? "" : verb.name + ": ";
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const std::vector<std::string> extras = app.remaining(true);
    const std::string extra = extras.empty() ? first : extras.front();
    return fmt::format("{}'{}' is not expected{} ({})", where, Quoted(extra),
                       DidYouMean(extra, OptionsOf(*verb.app)), help);
  }
  return fmt::format("{}{} ({})", where, error.what(), help);
}

CLI::Validator AtLeastOne() {
  const auto check = [](const std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = failure == std::errc() && end == text.data() + text.size();
    if (whole && number >= 1) return "";
    return fmt::format("'{}' is no whole number of 1 or more", Quoted(text));
  };
  return {check, "WHOLE NUMBER >= 1"};
}

}  // namespace lfiw::experiments
