#include "ope/estimators/doubly_robust_lfiw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/statistics.h"
#include "ope/judgement/psis.h"
#include "ope/judgement/selection.h"
#include "ope/rollouts/log_weights.h"

namespace lfiw::ope {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();

// Log-weights w and u of all episodes at one step. An episode that has terminated keeps a weight,
// for its share in the normalizer, unless `share` says how many of the policy's episodes still run:
// then the weights are those of running episodes alone. One that a time limit cut has none.
struct StepWeights {
  std::vector<double> transition, state;
  double share = 1.0;
};

// Where the episodes are at one step.
struct Running {
  std::vector<std::size_t> going, ended;
};

class WeightSource {
 public:
  WeightSource(const EstimatorInputs& in, const DoublyRobustLfiwOptions& options)
      : in_(in), options_(options), cumulated_(static_cast<std::size_t>(in.episodes()), 0.0) {
    if (options.weights != WeightKind::kFitted) return;
    const auto signed_weights = in.weights.find(options.fitted_weights);
    fitted_are_logs_ = signed_weights == in.weights.end();
    fitted_ =
        fitted_are_logs_ ? &in.log_ratios.at(options.fitted_weights) : &signed_weights->second;
  }

  Running At(std::int64_t t) const {
    Running running;
    for (std::size_t i = 0; i < cumulated_.size(); ++i) {
      if (t < in_.lengths[i]) {
        running.going.push_back(i);
      } else if (in_.terminated[i] != 0) {
        running.ended.push_back(i);
      }
    }
    return running;
  }

  // Steps must be asked for in order.
  StepWeights Weights(std::int64_t t, const Running& running) {
    switch (options_.weights) {
      case WeightKind::kMarginal:
        return Marginal(t, running);
      case WeightKind::kCumulative:
        return Cumulated(t, running);
      case WeightKind::kFitted:
        break;
    }
    return Fitted(t, running);
  }

 private:
  StepWeights Marginal(std::int64_t t, const Running& running) const {
    StepWeights weights = None();
    for (const std::size_t i : running.going) {
      weights.state[i] = Powered(options_.state_ratio, options_.state_power, i, t);
      weights.transition[i] = weights.state[i] + Powered("action", options_.action_power, i, t);
    }
    weights.share = RunningShare(t, running);
    return weights;
  }

  StepWeights Cumulated(std::int64_t t, const Running& running) {
    StepWeights weights = None();
    for (const std::size_t i : running.going) {
      weights.state[i] = cumulated_[i];
      cumulated_[i] += Powered("action", options_.action_power, i, t);
      weights.transition[i] = cumulated_[i];
    }
    for (const std::size_t i : running.ended) {
      weights.state[i] = weights.transition[i] = cumulated_[i];
    }
    return weights;
  }

  // Both residuals are means over logged states and actions, so one ratio weighs them.
  StepWeights Fitted(std::int64_t t, const Running& running) const {
    StepWeights weights = None();
    for (const std::size_t i : running.going) weights.state[i] = FittedLogWeight(i, t);
    for (const std::size_t i : running.ended) {
      weights.state[i] = FittedLogWeight(i, in_.lengths[i] - 1);
    }
    weights.transition = weights.state;
    return weights;
  }

  // No density ratio is negative, whatever was fitted.
  double FittedLogWeight(std::size_t i, std::int64_t t) const {
    if (options_.action_power == 0.0) return 0.0;
    const double fitted = (*fitted_)(static_cast<std::int64_t>(i), t);
    return options_.action_power * (fitted_are_logs_ ? fitted : std::log(std::max(fitted, 0.0)));
  }

  StepWeights None() const {
    const std::vector<double> none(cumulated_.size(), kLogZero);
    return {none, none, 1.0};
  }

  // power * log-ratio, where a power of 0 makes a weight of zero count too.
  double Powered(const std::string& name, double power, std::size_t i, std::int64_t t) const {
    return power == 0.0 ? 0.0 : power * in_.log_ratios.at(name)(static_cast<std::int64_t>(i), t);
  }

  // The share of the policy's episodes that still run at t, which is known and no weight to be
  // estimated: the model's to the degree of the state power, otherwise the log's. It counts where
  // no logged episode has ended too, and is 0 where the model's episodes have all ended.
  double RunningShare(std::int64_t t, const Running& running) const {
    const auto going = static_cast<double>(running.going.size());
    const double logged = going / (going + static_cast<double>(running.ended.size()));
    if (in_.model_alive.empty()) return logged;
    const double model = std::clamp(in_.model_alive[static_cast<std::size_t>(t)], 0.0, 1.0);
    return options_.state_power * model + (1.0 - options_.state_power) * logged;
  }

  const EstimatorInputs& in_;
  const DoublyRobustLfiwOptions& options_;
  std::vector<double> cumulated_;
  const Array<double, 2>* fitted_ = nullptr;  // of kFitted
  bool fitted_are_logs_ = false;
};

// Writes weights, scaled so that the largest is 1, and their products with `values` times `factor`
// into one column. False without support.
bool WriteColumn(const std::vector<double>& log_weights, const std::vector<double>& values,
                 double factor, std::int64_t column, EpisodeTerms& terms) {
  const double largest = *std::max_element(log_weights.begin(), log_weights.end());
  if (largest == kLogZero) return false;
  for (std::size_t i = 0; i < log_weights.size(); ++i) {
    const double weight = std::exp(log_weights[i] - largest);
    const auto row = static_cast<std::int64_t>(i);
    terms.denominators(row, column) = weight;
    terms.numerators(row, column) = weight == 0.0 ? 0.0 : factor * weight * values[i];
  }
  return true;
}

// Diagnostics of the weights of running episodes, gathered over steps.
struct WeightDiagnostics {
  double smallest_share = 1.0;  // of the running episodes that the weights of a step are worth
  double max_weight = 0.0;
  std::optional<double> khat;

  void Add(const std::vector<double>& log_weights, const std::vector<std::size_t>& going) {
    std::vector<double> own;
    for (const std::size_t i : going) own.push_back(log_weights[i]);
    const WeightSummary summary = Summarize(own);
    smallest_share = std::min(smallest_share, summary.ess / static_cast<double>(own.size()));
    max_weight = std::max(max_weight, summary.max_weight);
    const TailFit tail = FitTail(own);
    if (tail.khat) khat = std::max(khat.value_or(*tail.khat), *tail.khat);
  }
};

// What the transition at t adds beyond the lookahead, and what the lookahead adds to the fit.
struct Residuals {
  std::vector<double> transition, fit;
};

Residuals ResidualsAt(const EstimatorInputs& in, const ValueArrays& values, double discount,
                      std::int64_t t) {
  const auto n = static_cast<std::size_t>(in.episodes());
  Residuals out{std::vector<double>(n), std::vector<double>(n)};
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const Array<double, 2>& after = values.v_fit.empty() ? values.v : values.v_fit;
    out.transition[row] = in.rewards(i, t) + discount * after(i, t + 1) - values.q(i, t);
    out.fit[row] = values.v(i, t) - after(i, t);
  }
  return out;
}

}  // namespace

Estimate EstimateDoublyRobustLfiw(const EstimatorInputs& inputs, const Estimand& estimand,
                                  const DoublyRobustLfiwOptions& options) {
  const ValueArrays& values = inputs.values.at(options.values);
  const std::int64_t n = inputs.episodes(), steps = inputs.steps();
  const std::vector<double> factors = StepFactors(estimand, steps);
  Estimate out;
  out.terms = {Array<double, 2>({n, 1 + 2 * steps}), Array<double, 2>({n, 1 + 2 * steps}),
               EmptyColumns::kNothing};
  const Array<double, 2>& base = values.v_fit.empty() ? values.v : values.v_fit;
  for (std::int64_t i = 0; i < n; ++i) {
    out.terms.numerators(i, 0) = factors[0] * base(i, 0);
    out.terms.denominators(i, 0) = 1.0;
  }

  WeightSource source(inputs, options);
  WeightDiagnostics diagnostics;
  std::int64_t corrected = 0;
  for (std::int64_t t = 0; t < steps; ++t, ++corrected) {
    const Running running = source.At(t);
    if (running.going.empty()) break;
    const StepWeights weights = source.Weights(t, running);
    const Residuals residuals = ResidualsAt(inputs, values, estimand.discount, t);
    if (weights.share == 0.0) continue;  // nobody is left to be corrected
    const double factor = factors[static_cast<std::size_t>(t)] * weights.share;
    if (!WriteColumn(weights.transition, residuals.transition, factor, 1 + t, out.terms) ||
        !WriteColumn(weights.state, residuals.fit, factor, 1 + steps + t, out.terms)) {
      return Refuse(fmt::format("no support: all weights of step {} are 0", t));
    }
    diagnostics.Add(weights.transition, running.going);
  }
  if (corrected < steps) {
    out.notes.push_back(fmt::format(
        "no logged episode is longer than {} steps: beyond, the value is the model's alone",
        corrected));
  }
  if (corrected > 0) out.ess = static_cast<double>(n) * diagnostics.smallest_share;
  out.khat = diagnostics.khat;
  out.max_weight = diagnostics.max_weight;
  return out;
}

namespace {

// Marginal weights do without action ratios.
std::vector<std::string> Needs(const DoublyRobustLfiwOptions& options) {
  switch (options.weights) {
    case WeightKind::kMarginal:
      return {options.values, options.state_ratio};
    case WeightKind::kCumulative:
      return {options.values, "action"};
    case WeightKind::kFitted:
      break;
  }
  return {options.values, options.fitted_weights};
}

void RequirePowers(const PowerChoiceOptions& choice) {
  if (choice.powers.empty()) Throw<ConfigError>("powers: the list needs at least one entry");
}

// Why a candidate cannot be chosen; empty if it can.
std::string LeftOut(const Estimate& estimate, std::int64_t episodes,
                    const PowerChoiceOptions& choice) {
  if (!estimate.value) return estimate.reason;
  if (!estimate.standard_error) return "no standard error";
  const double least =
      std::max(choice.smallest_ess, choice.smallest_ess_fraction * static_cast<double>(episodes));
  // a log that is smaller than the limit has no better candidate to wait for
  const double needed = std::min(least, static_cast<double>(episodes));
  if (estimate.ess.value_or(0.0) >= needed) return "";
  return fmt::format("{:.1f} effective episodes, fewer than {:.1f}", estimate.ess.value_or(0.0),
                     needed);
}

// The influence functions of the listed estimates, [eligible.size(), n].
Array<double, 2> InfluencesOf(const std::vector<Estimate>& estimates,
                              const std::vector<std::size_t>& eligible) {
  const std::int64_t n = estimates[eligible.front()].terms.episodes();
  Array<double, 2> influences({std::ssize(eligible), n});
  for (std::size_t k = 0; k < eligible.size(); ++k) {
    const std::vector<double> of_one = Influence(estimates[eligible[k]].terms);
    std::ranges::copy(of_one, influences.Row(static_cast<std::int64_t>(k)).begin());
  }
  return influences;
}

// How far full weights would still move the value if it went on along its path of powers: its slope
// to the nearest candidate with a value, the weaker one where there is one, times what the power
// lacks of 1.
std::optional<double> RemainingMove(const std::vector<PowerCandidate>& candidates,
                                    std::size_t chosen) {
  const PowerCandidate& own = candidates[chosen];
  if (own.power == 1.0) return 0.0;
  const PowerCandidate* other = nullptr;
  for (std::size_t k = chosen + 1; k < candidates.size() && other == nullptr; ++k) {
    if (candidates[k].value) other = &candidates[k];
  }
  for (std::size_t k = chosen; k-- > 0 && other == nullptr;) {
    if (candidates[k].value) other = &candidates[k];
  }
  if (other == nullptr) return {};
  return (1.0 - own.power) * std::abs((*own.value - *other->value) / (own.power - other->power));
}

}  // namespace

ChosenDoublyRobust ChooseDoublyRobustLfiw(const EstimatorInputs& inputs, const Estimand& estimand,
                                          const DoublyRobustLfiwOptions& options,
                                          const PowerChoiceOptions& choice) {
  RequirePowers(choice);
  const bool ratios =
      options.weights == WeightKind::kFitted || inputs.log_ratios.contains("action");
  ChosenDoublyRobust out;
  std::vector<Estimate> estimates;
  std::vector<double> values;
  std::vector<std::size_t> eligible;
  for (const double power : choice.powers) {
    DoublyRobustLfiwOptions candidate = options;
    candidate.state_power = power;
    candidate.action_power = ratios ? power : 0.0;
    const Estimator estimator{
        .name = kDoublyRobustLfiw,
        .summary = {},
        .needs = Needs(options),
        .estimate = [&candidate](const EstimatorInputs& in, const Estimand& of) {
          return EstimateDoublyRobustLfiw(in, of, candidate);
        }};
    estimates.push_back(RunEstimator(estimator, inputs, estimand));
    const Estimate& estimate = estimates.back();
    out.candidates.push_back({power, estimate.value, estimate.standard_error, estimate.ess,
                              LeftOut(estimate, inputs.episodes(), choice)});
    if (!out.candidates.back().left_out.empty()) continue;
    eligible.push_back(estimates.size() - 1);
    values.push_back(*estimate.value);
  }
  if (eligible.empty()) {
    out.estimate = Refuse("no power of the weights is usable: " + out.candidates.back().left_out);
    return out;
  }
  const std::size_t chosen = eligible[static_cast<std::size_t>(
      DifferenceChoice(values, InfluencesOf(estimates, eligible), choice.width))];
  out.power = choice.powers[chosen];
  out.remaining = RemainingMove(out.candidates, chosen);
  out.estimate = std::move(estimates[chosen]);
  if (!ratios) {
    const auto why = inputs.missing.find("action");
    out.estimate.notes.push_back(
        "no action ratios (" +
        (why == inputs.missing.end() ? std::string("not given") : why->second) +
        "): only the states are weighed");
  }
  return out;
}

namespace {

Estimator ChoosingEstimator(const std::string& name, const std::string& summary,
                            const DoublyRobustLfiwOptions& estimate) {
  return Configurable<ChosenDoublyRobustOptions>(
      {.estimate = estimate, .choice = {}},
      [name, summary](const ChosenDoublyRobustOptions& options) -> Estimator {
        RequirePowers(options.choice);
        return {
            .name = name,
            .summary = summary,
            .horizons = HorizonSupport::kFinite,
            .needs = Needs(options.estimate),
            .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
              ChosenDoublyRobust chosen =
                  ChooseDoublyRobustLfiw(inputs, estimand, options.estimate, options.choice);
              chosen.estimate.notes.push_back(fmt::format("weights to the power {}", chosen.power));
              return std::move(chosen.estimate);
            }};
      });
}

}  // namespace

std::vector<Estimator> DoublyRobustLfiwEstimators() {
  const std::string summary = "the model's value corrected on logged transitions by ";
  DoublyRobustLfiwOptions marginal, cumulative, dual_dice;
  cumulative.weights = WeightKind::kCumulative;
  dual_dice.weights = WeightKind::kFitted;
  const std::string name = kDoublyRobustLfiw;
  return {ChoosingEstimator(name, summary + "marginal weights", marginal),
          ChoosingEstimator(name + "_cumulative", summary + "cumulated action ratios", cumulative),
          ChoosingEstimator(name + "_dual_dice", summary + "the weights of DualDICE", dual_dice)};
}

}  // namespace lfiw::ope
