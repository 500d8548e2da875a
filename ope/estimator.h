#ifndef LFIW_OPE_ESTIMATOR_H_
#define LFIW_OPE_ESTIMATOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/array.h"
#include "core/config/any_options.h"
#include "core/layers.h"
#include "ope/episode_terms.h"
#include "ope/value.h"

namespace lfiw::ope {

// One interface for the whole family of off-policy estimators. What needs networks, files or
// threads is fitted beforehand and arrives as arrays over the logged steps; an estimator is a pure
// function of those arrays and of the estimand, and says by name which of them it needs.
//
// n episodes of at most T steps, padded to [n, T]: after the end of an episode rewards, Q and
// log-ratios are 0, so a cumulated weight is carried forward and the episode stays in every mean.

// What is estimated, shared by all rows of one table and by their truth.
struct Estimand : ValueOptions {
  std::optional<std::int64_t> horizon;  // T; none: infinite, discount < 1
};

// Factor of each step's reward in the value, [steps], where logged episodes have at most `steps` of
// the horizon's steps: a normalized value is divided by the sum of the discounts over the whole
// horizon. Throws ConfigError when the discount is outside [0, 1], or 1 and there is no such sum.
std::vector<double> StepFactors(const Estimand& estimand, std::int64_t steps);

// Q_t(s_t, a_t) and V_t(s_t) of the evaluation policy on the logged steps, from t on, undiscounted
// to t. For an infinite horizon they do not depend on t.
struct ValueArrays {
  Array<double, 2> q;  // [n, T]
  Array<double, 2> v;  // [n, T + 1]; 0 from the state on in which an episode terminated or T ended
  // Where Q looks one step ahead, Q_t(s, a) = E[r + g v_fit_{t+1}(s')] under a model, what it looks
  // at; v is then E_pi Q_t(s, .), and differs from v_fit by the error of its fit. Else empty.
  Array<double, 2> v_fit;  // [n, T + 1]
};

// What is fitted to a log, by the names that estimators ask for (ope/fit.h). Several fits fill it
// together.
struct FittedArrays {
  // By the name of what was fitted: "fqe", "mrdr", "model".
  std::map<std::string, ValueArrays> values;
  // Log-ratios of evaluation to logged distribution, [n, T]: "action" is per step
  // log pi_e(a|s) - log pi_b(a|s); others are of state-action or state marginals at t
  // ("model_visitation", "dual_dice", ...).
  std::map<std::string, Array<double, 2>> log_ratios;
  // Marginal weights of the logged steps, [n, T], which may be negative ("mwl").
  std::map<std::string, Array<double, 2>> weights;
  // Rollouts in the model, [R, n', T] and [R, C, n', T], T the horizon; empty without.
  Array<double, 3> model_rewards;
  Array<double, 4> model_log_weights;
  // [T], share of the model's episodes that have not ended before t; empty without a model.
  std::vector<double> model_alive;
  // Values of the logged and of the evaluated policy in every model of a family, [2, models,
  // members] (ope/rollouts/calibrated_model.h), and the largest standard error of each policy's;
  // empty without.
  Array<double, 3> model_family;
  std::vector<double> model_family_errors;  // [2]
  // What the reader of estimates with something of that name should know of its fit.
  std::map<std::string, std::vector<std::string>> notes;
  // Why something that could be asked for by name is missing.
  std::map<std::string, std::string> missing;

  // Takes over what `other` has.
  void Merge(FittedArrays other);
};

// All that an estimator may read.
struct EstimatorInputs : FittedArrays {
  Array<double, 2> rewards;              // [n, T]
  std::vector<std::int64_t> lengths;     // [n], steps before the end, 1 .. T
  std::vector<std::uint8_t> terminated;  // [n], 1: the environment ended it; 0: T or a time limit

  std::int64_t episodes() const { return rewards.shape()[0]; }
  std::int64_t steps() const { return rewards.shape()[1]; }
};

// The estimate of one estimator. Numbers are finite; what does not apply is empty, with a reason.
struct Estimate {
  std::optional<double> value;
  std::string reason;  // why there is no value
  // log10 |value| where the value leaves the range of double.
  std::optional<double> log10_value;
  std::optional<double> standard_error;
  std::optional<double> ess;         // of the weights that decide the estimate, in [1, n]; 0: none
  std::optional<double> khat;        // of the same weights
  std::optional<double> max_weight;  // largest share of one episode
  EpisodeTerms terms;                // empty where the estimate is no such sum
  // Where there are no terms: degrees of freedom of the standard error, and in words what varied.
  std::optional<double> degrees;
  std::string covers;
  std::vector<std::string> notes;  // what the reader of the number should know
};

Estimate Refuse(std::string reason);

enum class HorizonSupport { kFinite, kInfinite, kBoth };

// One member of the family.
struct Estimator {
  std::string name;     // of its rows: "wis"
  std::string summary;  // one line: what it is, source
  HorizonSupport horizons = HorizonSupport::kFinite;
  // Names in EstimatorInputs::values, ::log_ratios and ::weights, "rollouts" for the model's and
  // "classifiers" for their weights.
  std::vector<std::string> needs;
  std::function<Estimate(const EstimatorInputs&, const Estimand&)> estimate;
  // What it was made with, empty where it has no options, and how it is made with others of their
  // type; see Configurable.
  AnyOptions options = {};
  std::function<Estimator(const AnyOptions&)> remake = nullptr;
  std::string params = {};  // where its options are not the registered ones: "ratios.max_weight=20"

  // Returns the name of its rows: name and params.
  std::string label() const { return params.empty() ? name : name + " " + params; }
};

// Makes an estimator whose options can be set by name, in a configuration for one. T is a struct
// with Visit (core/config/visitor.h); make(options) may throw ConfigError.
template <class T>
Estimator Configurable(const T& options, std::function<Estimator(const T&)> make) {
  Estimator estimator = make(options);
  estimator.options = options;
  estimator.remake = [make = std::move(make)](const AnyOptions& others) {
    return make(others.As<T>());
  };
  return estimator;
}

// Estimators by name, in the order added.
class EstimatorRegistry {
 public:
  // Throws ConfigError when the name is taken.
  void Add(Estimator estimator);
  // Throws ConfigError that names the nearest known one.
  const Estimator& Find(const std::string& name) const;
  // The named estimator with other options: `node` is a map of fields of Estimator::options, and
  // stands at `path` of a configuration. Throws ConfigError with one line for every wrong field.
  Estimator Make(const std::string& name, const ConfigNode& node, const std::string& path) const;
  std::span<const Estimator> all() const { return estimators_; }

 private:
  std::vector<Estimator> estimators_;
};

// All estimators of this library.
EstimatorRegistry StandardEstimators();

// Runs an estimator, and adds to its notes those of what it needs; refuses in one sentence where
// the horizon does not suit it or something that it needs is missing. Throws DataError when arrays
// disagree in shape, exceed the horizon (rollouts: differ from it) or hold a number that is not
// finite (log-ratios may be -inf).
Estimate RunEstimator(const Estimator& estimator, const EstimatorInputs& inputs,
                      const Estimand& estimand);

}  // namespace lfiw::ope

#endif  // LFIW_OPE_ESTIMATOR_H_
