#include "experiments/bench/estimator_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"

namespace lfiw::experiments {
namespace {

// Marks texts as such, as nodes that are written from a struct have them: what is no number, true
// or the like.
void QuoteTexts(ConfigNode& node) {
  if (node.kind == ConfigNode::Kind::kScalar && !internal::ParseDouble(node) &&
      !internal::ParseBool(node)) {
    node.quoted = true;
  }
  for (ConfigNode& item : node.items) QuoteTexts(item);
}

std::string At(const EstimatorChoice& choice, std::size_t index) {
  const std::string path = fmt::format("estimators.{}", index);
  return choice.place.empty() ? path : choice.place + ": " + path;
}

void RequireFits(const Estimator& estimator, const std::string& at,
                 const std::set<std::string>& provided) {
  for (const std::string& need : estimator.needs) {
    if (provided.contains(need)) continue;
    Throw<ConfigError>("{}: {} needs {}, which no fit provides; they provide {}", at,
                       estimator.label(), need, fmt::join(provided, ", "));
  }
}

Estimator MakeOne(const EstimatorChoice& choice, std::size_t index,
                  const EstimatorRegistry& registry) {
  try {
    registry.Find(choice.name);
  } catch (const ConfigError& error) {
    Throw<ConfigError>("{}: {}", At(choice, index), error.what());
  }
  return registry.Make(choice.name, choice.options, fmt::format("estimators.{}", index));
}

}  // namespace

EstimatorChoice::EstimatorChoice(std::string estimator, const std::string& yaml)
    : name(std::move(estimator)), options(ParseYaml(yaml, "options of " + name)) {
  QuoteTexts(options);
}

void EstimatorChoice::ReadNode(const ConfigNode& node, const std::string& path,
                               internal::ConfigProblems& problems) {
  place = node.place;
  options = ConfigNode::Map();
  options.place = node.place;
  if (node.kind == ConfigNode::Kind::kScalar) {
    name = node.text;
    return;
  }
  const ConfigNode* named = node.kind == ConfigNode::Kind::kMap ? node.Find("name") : nullptr;
  if (named == nullptr || named->kind != ConfigNode::Kind::kScalar) {
    problems.WrongValue(node, path,
                        "the name of an estimator, or {name: ..., ...} with options of it");
    return;
  }
  name = named->text;
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (node.keys[i] != "name") options.Add(node.keys[i], node.items[i]);
  }
  QuoteTexts(options);
}

ConfigNode EstimatorChoice::WriteNode() const {
  if (options.items.empty()) return ConfigNode::Text(name);
  ConfigNode map = ConfigNode::Map();
  map.Add("name", ConfigNode::Text(name));
  for (std::size_t i = 0; i < options.keys.size(); ++i) {
    map.Add(options.keys[i], options.items[i]);
  }
  return map;
}

std::vector<Estimator> MakeEstimators(std::span<const EstimatorChoice> choices,
                                      const EstimatorRegistry& registry, const FitRegistry& fits) {
  const std::set<std::string> provided = fits.Provided();
  std::vector<Estimator> made;
  std::vector<std::string> problems;
  const auto add = [&](const auto& make, const std::string& at) {
    try {
      Estimator estimator = make();
      RequireFits(estimator, at, provided);
      const bool twice = std::ranges::any_of(
          made, [&](const Estimator& other) { return other.label() == estimator.label(); });
      if (twice) Throw<ConfigError>("{}: {} is listed twice", at, estimator.label());
      made.push_back(std::move(estimator));
    } catch (const ConfigError& error) {
      problems.emplace_back(error.what());
    }
  };
  for (std::size_t i = 0; i < choices.size(); ++i) {
    add([&] { return MakeOne(choices[i], i, registry); }, At(choices[i], i));
  }
  if (choices.empty()) {
    for (const Estimator& estimator : registry.all()) add([&] { return estimator; }, "estimators");
  }
  if (!problems.empty()) throw ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
  return made;
}

}  // namespace lfiw::experiments
