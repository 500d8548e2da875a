#include "ope/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/nearest_name.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using Matrix = Array<double, 2>;

void RequireShape(const Matrix& array, std::int64_t n, std::int64_t columns,
                  const std::string& name) {
  if (array.shape()[0] == n && array.shape()[1] == columns) return;
  Throw<DataError>("estimator inputs: {} is [{}, {}], expected [{}, {}]", name, array.shape()[0],
                   array.shape()[1], n, columns);
}

enum class Allowed { kFinite, kFiniteOrMinusInfinity };

void RequireNumbers(const Matrix& array, Allowed allowed, const std::string& name) {
  // a single wrong number is rare: all at once, then rows, then numbers
  if (AllWithin(array.flat(), std::numeric_limits<double>::max())) return;
  for (std::int64_t i = 0; i < array.shape()[0]; ++i) {
    const auto row = array.Row(i);
    if (AllWithin(row, std::numeric_limits<double>::max())) continue;
    for (std::size_t t = 0; t < row.size(); ++t) {
      const bool zero_weight = allowed == Allowed::kFiniteOrMinusInfinity &&
                               row[t] == -std::numeric_limits<double>::infinity();
      if (std::isfinite(row[t]) || zero_weight) continue;
      Throw<DataError>("estimator inputs: {}: episode {}, step {} is {}, expected a finite number",
                       name, i, t, row[t]);
    }
  }
}

void CheckValues(const ValueArrays& values, const EstimatorInputs& in, const std::string& name) {
  RequireShape(values.q, in.episodes(), in.steps(), name + " q");
  RequireShape(values.v, in.episodes(), in.steps() + 1, name + " v");
  RequireNumbers(values.q, Allowed::kFinite, name + " q");
  RequireNumbers(values.v, Allowed::kFinite, name + " v");
  if (values.v_fit.empty()) return;
  RequireShape(values.v_fit, in.episodes(), in.steps() + 1, name + " v_fit");
  RequireNumbers(values.v_fit, Allowed::kFinite, name + " v_fit");
}

void CheckLog(const EstimatorInputs& in, const Estimand& estimand) {
  if (in.episodes() == 0 || in.steps() == 0) {
    Throw<DataError>("estimator inputs: {} episodes of {} steps, expected at least one of each",
                     in.episodes(), in.steps());
  }
  if (estimand.horizon && in.steps() > *estimand.horizon) {
    Throw<DataError>(
        "estimator inputs: episodes of up to {} steps, expected at most the horizon {}", in.steps(),
        *estimand.horizon);
  }
  if (std::ssize(in.lengths) != in.episodes() || std::ssize(in.terminated) != in.episodes()) {
    Throw<DataError>("estimator inputs: {} lengths and {} ends for {} episodes", in.lengths.size(),
                     in.terminated.size(), in.episodes());
  }
  for (std::size_t i = 0; i < in.lengths.size(); ++i) {
    if (in.lengths[i] < 1 || in.lengths[i] > in.steps()) {
      Throw<DataError>("estimator inputs: episode {} has {} steps, expected 1 .. {}", i,
                       in.lengths[i], in.steps());
    }
  }
  RequireNumbers(in.rewards, Allowed::kFinite, "rewards");
}

void CheckRollouts(const EstimatorInputs& in, const Estimand& estimand) {
  const auto [repetitions, episodes, steps] = in.model_rewards.shape();
  if (estimand.horizon && steps != *estimand.horizon) {
    Throw<DataError>("estimator inputs: rollouts of {} steps, expected the horizon {}", steps,
                     *estimand.horizon);
  }
  for (std::int64_t r = 0; r < repetitions; ++r) {
    for (std::int64_t i = 0; i < episodes; ++i) {
      const auto row = in.model_rewards.Row(r, i);
      for (std::size_t t = 0; t < row.size(); ++t) {
        if (std::isfinite(row[t])) continue;
        Throw<DataError>(
            "estimator inputs: rollout rewards: repetition {}, episode {}, step {} is {}, expected "
            "a finite number",
            r, i, t, row[t]);
      }
    }
  }
}

// Why `name` cannot be had; empty if it is there, and then checked.
std::string Missing(const std::string& name, const EstimatorInputs& in, const Estimand& estimand) {
  bool found = false;
  if (name == "rollouts" && !in.model_rewards.empty()) {
    CheckRollouts(in, estimand);
    found = true;
  }
  if (name == "family" && !in.model_family.empty()) {
    for (const double value : in.model_family.flat()) {
      if (std::isfinite(value)) continue;
      Throw<DataError>(
          "estimator inputs: a value in the family of models is {}, expected a finite "
          "number",
          value);
    }
    found = true;
  }
  if (name == "classifiers") {
    if (!in.model_log_weights.empty()) return "";
    const auto why = in.missing.find(name);
    return why == in.missing.end() ? "no classifier was fitted" : why->second;
  }
  if (const auto values = in.values.find(name); values != in.values.end()) {
    CheckValues(values->second, in, name);
    found = true;
  }
  if (const auto ratios = in.log_ratios.find(name); ratios != in.log_ratios.end()) {
    RequireShape(ratios->second, in.episodes(), in.steps(), name + " log-ratios");
    RequireNumbers(ratios->second, Allowed::kFiniteOrMinusInfinity, name + " log-ratios");
    found = true;
  }
  if (const auto weights = in.weights.find(name); weights != in.weights.end()) {
    RequireShape(weights->second, in.episodes(), in.steps(), name + " weights");
    RequireNumbers(weights->second, Allowed::kFinite, name + " weights");
    found = true;
  }
  if (found) return "";
  const auto why = in.missing.find(name);
  return why == in.missing.end() ? name + " was not fitted" : why->second;
}

std::string WrongHorizon(HorizonSupport supported, const Estimand& estimand) {
  if (supported == HorizonSupport::kFinite && !estimand.horizon) {
    return "answers for a finite horizon only; set value.horizon";
  }
  if (supported == HorizonSupport::kInfinite && estimand.horizon) {
    return "answers for an infinite horizon only";
  }
  return "";
}

bool HasSupport(const EpisodeTerms& terms) {
  for (std::int64_t k = 0; k < terms.denominators.shape()[1]; ++k) {
    double sum = 0.0;
    for (std::int64_t i = 0; i < terms.episodes(); ++i) sum += terms.denominators(i, k);
    if (!(sum > 0.0)) return false;
  }
  return true;
}

// Value and standard error of what is a sum of ratios.
void Complete(Estimate& estimate) {
  if (estimate.terms.empty() || !estimate.reason.empty()) return;
  if (!estimate.value) estimate.value = ValueOf(estimate.terms);
  if (!estimate.value) {
    estimate.reason = HasSupport(estimate.terms) ? "not finite in double" : "no support";
    return;
  }
  if (!estimate.standard_error) estimate.standard_error = StandardErrorOf(estimate.terms);
}

void AddFitNotes(const Estimator& estimator, const EstimatorInputs& in, Estimate& estimate) {
  for (const std::string& need : estimator.needs) {
    const auto notes = in.notes.find(need);
    if (notes == in.notes.end()) continue;
    estimate.notes.insert(estimate.notes.end(), notes->second.begin(), notes->second.end());
  }
}

}  // namespace

std::vector<double> StepFactors(const Estimand& estimand, std::int64_t steps) {
  const ValueOptions& value = estimand;
  std::vector<double> factors =
      StepFactors(value, std::max(steps, estimand.horizon.value_or(steps)));
  factors.resize(static_cast<std::size_t>(steps));
  if (estimand.horizon || estimand.scale == ValueScale::kSum) return factors;
  if (estimand.discount >= 1.0) {
    Throw<ConfigError>("value.discount: 1 has no normalized value over an infinite horizon");
  }
  double factor = 1.0 - estimand.discount;
  for (double& f : factors) {
    f = factor;
    factor *= estimand.discount;
  }
  return factors;
}

void FittedArrays::Merge(FittedArrays other) {
  const auto take = [](auto& to, auto& from) {
    for (auto& [name, item] : from) to[name] = std::move(item);
  };
  take(values, other.values);
  take(log_ratios, other.log_ratios);
  take(weights, other.weights);
  take(notes, other.notes);
  take(missing, other.missing);
  if (!other.model_rewards.empty()) model_rewards = std::move(other.model_rewards);
  if (!other.model_log_weights.empty()) model_log_weights = std::move(other.model_log_weights);
  if (!other.model_alive.empty()) model_alive = std::move(other.model_alive);
  if (!other.model_family.empty()) {
    model_family = std::move(other.model_family);
    model_family_errors = std::move(other.model_family_errors);
  }
}

Estimate Refuse(std::string reason) {
  Estimate estimate;
  estimate.reason = std::move(reason);
  return estimate;
}

void EstimatorRegistry::Add(Estimator estimator) {
  for (const Estimator& known : estimators_) {
    if (known.name == estimator.name) {
      Throw<ConfigError>("estimator {}: there is one of this name already", estimator.name);
    }
  }
  estimators_.push_back(std::move(estimator));
}

const Estimator& EstimatorRegistry::Find(const std::string& name) const {
  std::vector<std::string_view> names;
  for (const Estimator& estimator : estimators_) {
    if (estimator.name == name) return estimator;
    names.push_back(estimator.name);
  }
  const std::optional<std::size_t> nearest = NearestName(name, names);
  Throw<ConfigError>("unknown estimator \"{}\"; did you mean {}? Known: {}", name,
                     nearest ? names[*nearest] : "none", fmt::join(names, ", "));
}

Estimator EstimatorRegistry::Make(const std::string& name, const ConfigNode& node,
                                  const std::string& path) const {
  const Estimator& registered = Find(name);
  AnyOptions options = registered.options;
  ReadOptions(node, path, options);
  std::string params = DescribeDifferences(registered.options, options);
  if (params.empty()) return registered;
  Estimator made;
  try {
    made = registered.remake(options);
  } catch (const ConfigError& error) {
    const std::string at = node.place.empty() ? path : node.place + ": " + path;
    Throw<ConfigError>("{}: {}", at, error.what());
  }
  made.name = registered.name;
  made.params = std::move(params);
  made.options = std::move(options);
  made.remake = registered.remake;
  return made;
}

Estimate RunEstimator(const Estimator& estimator, const EstimatorInputs& inputs,
                      const Estimand& estimand) {
  CheckLog(inputs, estimand);
  if (std::string why = WrongHorizon(estimator.horizons, estimand); !why.empty()) {
    return Refuse(std::move(why));
  }
  for (const std::string& need : estimator.needs) {
    if (std::string why = Missing(need, inputs, estimand); !why.empty())
      return Refuse(std::move(why));
  }
  Estimate estimate = estimator.estimate(inputs, estimand);
  Complete(estimate);
  AddFitNotes(estimator, inputs, estimate);
  return estimate;
}

}  // namespace lfiw::ope
