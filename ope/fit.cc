#include "ope/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace lfiw::ope {
namespace {

void RequireName(const std::string& name) {
  const bool plain = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
  if (!plain) Throw<ConfigError>("fit \"{}\": a name is made of letters, digits and _", name);
}

// Why an array is missing that another fit needs.
std::string WhyMissing(const EstimatorInputs& in, const std::string& name) {
  const auto why = in.missing.find(name);
  return why == in.missing.end() ? name + " was not fitted" : why->second;
}

bool Has(const EstimatorInputs& in, const std::string& name) {
  return in.values.contains(name) || in.log_ratios.contains(name) || in.weights.contains(name) ||
         (name == "rollouts" && !in.model_rewards.empty()) ||
         (name == "classifiers" && !in.model_log_weights.empty()) ||
         (name == "family" && !in.model_family.empty());
}

FittedArrays FitToArrays(const FitMethod& fit, const EstimatorInputs& in,
                         const Estimand& estimand) {
  for (const std::string& need : fit.needs) {
    if (!Has(in, need)) return NotFitted(fit, WhyMissing(in, need));
  }
  return fit.on_arrays(in, estimand, fit.options);
}

void Take(const FitMethod& fit, FitOutcome outcome, FittedInputs& out) {
  out.arrays.Merge(std::move(outcome.arrays));
  out.times.push_back({{fit.provides.begin(), fit.provides.end()}, outcome.seconds});
}

}  // namespace

bool FitMethod::Serves(const std::set<std::string>& needed) const {
  return std::ranges::any_of(provides,
                             [&](const std::string& array) { return needed.contains(array); });
}

FittedArrays NotFitted(const FitMethod& fit, const std::string& reason) {
  FittedArrays none;
  for (const std::string& name : fit.provides) none.missing[name] = reason;
  return none;
}

void FitRegistry::Add(FitMethod fit) {
  RequireName(fit.name);
  for (const std::string& name : fit.provides) RequireName(name);
  const std::set<std::string> taken = Provided();
  for (const FitMethod& known : fits_) {
    if (known.name == fit.name) {
      Throw<ConfigError>("fit {}: there is one of this name already", fit.name);
    }
  }
  for (const std::string& name : fit.provides) {
    if (taken.contains(name)) {
      Throw<ConfigError>("fit {}: another fit provides {} already", fit.name, name);
    }
  }
  fits_.push_back(std::move(fit));
}

const FitMethod& FitRegistry::Find(const std::string& name) const {
  std::vector<std::string> names;
  for (const FitMethod& fit : fits_) {
    if (fit.name == name) return fit;
    names.push_back(fit.name);
  }
  Throw<ConfigError>("unknown fit \"{}\"; known: {}", name, fmt::join(names, ", "));
}

std::set<std::string> FitRegistry::Provided() const {
  std::set<std::string> names;
  for (const FitMethod& fit : fits_) names.insert(fit.provides.begin(), fit.provides.end());
  return names;
}

std::set<std::string> FitRegistry::WithNeedsOfFits(std::set<std::string> needs) const {
  for (std::size_t before = 0; before != needs.size();) {
    before = needs.size();
    for (const FitMethod& fit : fits_) {
      if (fit.Serves(needs)) needs.insert(fit.needs.begin(), fit.needs.end());
    }
  }
  return needs;
}

void FitRegistry::ReadNode(const ConfigNode& node, const std::string& path,
                           internal::ConfigProblems& problems) {
  if (node.kind == ConfigNode::Kind::kNull) return;
  if (node.kind != ConfigNode::Kind::kMap) {
    problems.WrongValue(node, path, "a map of fits");
    return;
  }
  std::vector<std::string_view> names;
  for (const FitMethod& fit : fits_) {
    if (!fit.options.empty()) names.emplace_back(fit.name);
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (std::ranges::find(names, node.keys[i]) == names.end()) {
      problems.UnknownKey(node.items[i], path, node.keys[i], names);
      continue;
    }
    const auto fit = std::ranges::find(fits_, node.keys[i], &FitMethod::name);
    fit->options.ReadNode(node.items[i], internal::JoinPath(path, node.keys[i]), problems);
  }
}

ConfigNode FitRegistry::WriteNode() const {
  ConfigNode map = ConfigNode::Map();
  for (const FitMethod& fit : fits_) {
    if (fit.options.empty()) continue;
    ConfigNode section = fit.options.WriteNode();
    section.comment = fit.summary;
    map.Add(fit.name, std::move(section));
  }
  return map;
}

FitOutcome Timed(const std::function<FittedArrays()>& make) {
  const auto start = std::chrono::steady_clock::now();
  FittedArrays arrays = make();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {std::move(arrays), took.count()};
}

void AddFits(const FitRegistry& fits, const std::set<std::string>& needs, const Estimand& estimand,
             const std::function<std::optional<FitOutcome>(const FitMethod&)>& make,
             FittedInputs& out) {
  const std::set<std::string> needed = fits.WithNeedsOfFits(needs);
  for (const FitMethod& fit : fits.all()) {
    if (fit.on_arrays || !fit.Serves(needed)) continue;
    if (std::optional<FitOutcome> outcome = make(fit)) Take(fit, std::move(*outcome), out);
  }
  for (const FitMethod& fit : fits.all()) {
    if (!fit.on_arrays || !fit.Serves(needed)) continue;
    Take(fit, Timed([&] { return FitToArrays(fit, out.arrays, estimand); }), out);
  }
}

}  // namespace lfiw::ope
