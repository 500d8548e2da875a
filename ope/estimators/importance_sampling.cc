#include "ope/estimators/importance_sampling.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/index_list.h"

namespace lfiw::ope {
namespace {

using Matrix = Array<double, 2>;

// More of the episodes than these, cut where none goes on, are too many to be left out.
constexpr double kLargestLostShare = 0.05;

std::size_t LastStep(const EstimatorInputs& in, std::size_t episode) {
  return static_cast<std::size_t>(std::max<std::int64_t>(in.lengths[episode] - 1, 0));
}

bool SelfNormalized(const ImportanceSamplingOptions& options) {
  return options.normalization == WeightNormalization::kSelf;
}

// g^t r of the listed episodes, [n, K].
Matrix DiscountedRewards(const EstimatorInputs& in, std::span<const std::int64_t> rows,
                         std::span<const double> factors, std::int64_t columns) {
  Matrix outcomes({std::ssize(rows), columns});
  for (std::int64_t i = 0; i < outcomes.shape()[0]; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    const auto length = static_cast<std::size_t>(in.lengths[static_cast<std::size_t>(row)]);
    const std::span<const double> rewards = in.rewards.Row(row);
    const std::span<double> out = outcomes.Row(i);
    for (std::size_t t = 0; t < length; ++t) out[t] = factors[t] * rewards[t];
  }
  return outcomes;
}

// Whole returns, [n, 1].
Matrix ReturnsOf(const EstimatorInputs& in, std::span<const std::int64_t> rows,
                 std::span<const double> factors) {
  Matrix returns({std::ssize(rows), 1});
  for (std::int64_t i = 0; i < returns.shape()[0]; ++i) {
    const std::int64_t row = rows[static_cast<std::size_t>(i)];
    const Eigen::Index length = in.lengths[static_cast<std::size_t>(row)];
    returns(i, 0) = Eigen::Map<const Eigen::ArrayXd>(in.rewards.Row(row).data(), length)
                        .matrix()
                        .dot(Eigen::Map<const Eigen::VectorXd>(factors.data(), length));
  }
  return returns;
}

// Which episodes a time limit cut, and how much the others stand for.
struct Cuts {
  std::vector<std::uint8_t> is_cut;  // [n]
  std::int64_t count = 0;
  std::vector<double> log_uncut;  // [T]: log S_c(t)
  // The share of all episodes that goes on where none is seen any more.
  double lost = 0.0;
};

Cuts FindCuts(const EstimatorInputs& in, const Estimand& estimand) {
  const auto steps = static_cast<std::size_t>(in.steps());
  // how many end after t steps by themselves, are cut then, and take more than t
  std::vector<double> ended(steps + 1, 0.0), cut(steps + 1, 0.0), running(steps + 1, 0.0);
  Cuts cuts{.is_cut = std::vector<std::uint8_t>(in.lengths.size(), 0),
            .log_uncut = std::vector<double>(steps, 0.0)};
  for (std::size_t i = 0; i < in.lengths.size(); ++i) {
    const std::int64_t length = in.lengths[i];
    const bool reached = estimand.horizon && length >= *estimand.horizon;
    cuts.is_cut[i] = in.terminated[i] == 0 && !reached ? 1 : 0;
    cuts.count += cuts.is_cut[i];
    (cuts.is_cut[i] != 0 ? cut : ended)[static_cast<std::size_t>(length)] += 1.0;
    for (std::size_t t = 0; std::cmp_less(t, length); ++t) running[t] += 1.0;
  }
  double log_uncut = 0.0, surviving = 1.0;
  for (std::size_t t = 0; t < steps; ++t) {
    // of those that are about to take step t
    if (cut[t] > 0.0) log_uncut += std::log(running[t] / (running[t] + cut[t]));
    cuts.log_uncut[t] = log_uncut;
    if (running[t] == 0.0) {
      cuts.lost = cut[t] > 0.0 ? surviving : 0.0;
      return cuts;
    }
    surviving *= 1.0 - ended[t + 1] / running[t];
  }
  cuts.lost = cut[steps] > 0.0 ? surviving : 0.0;
  return cuts;
}

// How many episodes take each step, [K], those that were cut before among them.
std::vector<double> RunningShares(const EstimatorInputs& in, const Cuts& cuts,
                                  std::int64_t columns) {
  std::vector<double> counts(static_cast<std::size_t>(columns));
  for (const std::int64_t length : in.lengths) {
    for (std::size_t t = 0; std::cmp_less(t, length); ++t) counts[t] += 1.0;
  }
  for (std::size_t t = 0; t < counts.size(); ++t) counts[t] *= std::exp(-cuts.log_uncut[t]);
  return counts;
}

// The log-weight of what a whole episode gets.
void WeighForCuts(const EstimatorInputs& in, const Cuts& cuts, std::span<double> last) {
  for (std::size_t i = 0; i < last.size(); ++i) {
    last[i] = cuts.is_cut[i] != 0 ? -HUGE_VAL : last[i] - cuts.log_uncut[LastStep(in, i)];
  }
}

// The same at every step; an episode that ended keeps what it stood for.
void WeighForCuts(const EstimatorInputs& in, const Cuts& cuts, Matrix& log_weights) {
  for (std::int64_t i = 0; i < log_weights.shape()[0]; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::span<double> weights = log_weights.Row(i);
    for (std::size_t t = 0; t < weights.size(); ++t) {
      const bool running = std::cmp_less(t, in.lengths[row]);
      if (!running && cuts.is_cut[row] != 0) {
        weights[t] = -HUGE_VAL;
      } else {
        weights[t] -= cuts.log_uncut[running ? t : LastStep(in, row)];
      }
    }
  }
}

// One step of the weights at a time: the mean ESS and the worst of the rest.
void AddStepDiagnostics(const Matrix& log_weights, Estimate& estimate) {
  const std::int64_t n = log_weights.shape()[0], columns = log_weights.shape()[1];
  double ess = 0.0;
  std::vector<double> column(static_cast<std::size_t>(n));
  for (std::int64_t t = 0; t < columns; ++t) {
    for (std::int64_t i = 0; i < n; ++i) column[static_cast<std::size_t>(i)] = log_weights(i, t);
    Estimate step;
    AddDiagnostics(column, step);
    ess += *step.ess / static_cast<double>(columns);
    estimate.max_weight = std::max(estimate.max_weight, step.max_weight);
    estimate.khat = std::max(estimate.khat, step.khat);
  }
  estimate.ess = ess;
}

Estimate WeighTrajectories(const EstimatorInputs& in, std::span<const std::int64_t> rows,
                           const Cuts& cuts, const Estimand& estimand,
                           const ImportanceSamplingOptions& options) {
  ImportanceWeights weights = MakeEpisodeWeights(in, rows, options.ratios);
  if (cuts.count > 0) WeighForCuts(in, cuts, weights.last);
  WeightedColumns columns{Matrix({std::ssize(rows), 1}),
                          ReturnsOf(in, rows, StepFactors(estimand, in.steps())), 0};
  std::ranges::copy(weights.last, columns.log_weights.flat().begin());
  Estimate estimate = SelfNormalized(options) ? SelfNormalizedSum(std::move(columns))
                                              : PlainSum(std::move(columns));
  AddDiagnostics(weights.last, estimate);
  estimate.notes = std::move(weights.notes);
  return estimate;
}

Estimate WeighSteps(const EstimatorInputs& in, std::span<const std::int64_t> rows, const Cuts& cuts,
                    const Estimand& estimand, const ImportanceSamplingOptions& options) {
  ImportanceWeights weights = MakeImportanceWeights(in, rows, options.ratios);
  if (cuts.count > 0) {
    WeighForCuts(in, cuts, weights.last);
    WeighForCuts(in, cuts, weights.log_weights);
  }
  const std::int64_t steps = weights.log_weights.shape()[1];
  Estimate diagnostics;
  if (options.ratios.product == RatioProduct::kStep) {
    AddStepDiagnostics(weights.log_weights, diagnostics);
  } else {
    AddDiagnostics(weights.last, diagnostics);
  }
  const bool drop = options.ratios.finished == FinishedEpisodes::kDrop;
  const std::vector<double> counts = drop ? RunningShares(in, cuts, steps) : std::vector<double>();
  WeightedColumns columns{std::move(weights.log_weights),
                          DiscountedRewards(in, rows, StepFactors(estimand, in.steps()), steps), 0};
  Estimate estimate = SelfNormalized(options) ? SelfNormalizedSum(std::move(columns))
                                              : PlainSum(std::move(columns), counts);
  if (estimate.ess != 0.0) estimate.ess = diagnostics.ess;
  estimate.khat = diagnostics.khat;
  estimate.max_weight = diagnostics.max_weight;
  estimate.notes = std::move(weights.notes);
  return estimate;
}

// Why these options have no estimate; empty if they have.
std::string Impossible(const ImportanceSamplingOptions& options, const Cuts& cuts,
                       std::int64_t episodes) {
  if (options.cut == CutEpisodes::kRefuse && cuts.count > 0) {
    return fmt::format("a time limit cut {} of {} episodes before the horizon", cuts.count,
                       episodes);
  }
  if (cuts.count == episodes) {
    return "a time limit cut every episode before the horizon; use fqe or a model";
  }
  if (cuts.lost > kLargestLostShare) {
    return fmt::format(
        "a time limit cut all episodes that still ran, {:.0f} % of all, before the horizon; use "
        "fqe "
        "or a model",
        100.0 * cuts.lost);
  }
  if (options.weighted_by == WeightedBy::kTrajectory &&
      options.ratios.product == RatioProduct::kStep) {
    return "weights of single steps do not weigh whole trajectories";
  }
  return "";
}

std::string CutsNote(const Cuts& cuts, std::int64_t episodes) {
  std::string note = fmt::format(
      "a time limit cut {} of {} episodes before the horizon; the others stand for them, which is "
      "right where being cut does not depend on what happens in an episode",
      cuts.count, episodes);
  if (cuts.lost > 0.0) {
    note += fmt::format("; what {:.2g} % of the episodes get after the last cut is left out",
                        100.0 * cuts.lost);
  }
  return note;
}

}  // namespace

std::string ImportanceSamplingName(const ImportanceSamplingOptions& options) {
  std::string name = SelfNormalized(options) ? "w" : "";
  name += options.weighted_by == WeightedBy::kTrajectory ? "is" : "pdis";
  if (options.cut != CutEpisodes::kWeigh) name += " cut=refuse";
  const std::string ratios = Describe(options.ratios);
  return ratios.empty() ? name : name + " " + ratios;
}

Estimate EstimateImportanceSampling(const EstimatorInputs& inputs, const Estimand& estimand,
                                    const ImportanceSamplingOptions& options) {
  const Cuts cuts = FindCuts(inputs, estimand);
  if (std::string why = Impossible(options, cuts, inputs.episodes()); !why.empty()) {
    return Refuse(std::move(why));
  }
  const std::vector<std::int64_t> rows = IndexList(inputs.episodes());
  Estimate estimate = options.weighted_by == WeightedBy::kTrajectory
                          ? WeighTrajectories(inputs, rows, cuts, estimand, options)
                          : WeighSteps(inputs, rows, cuts, estimand, options);
  if (cuts.count > 0) estimate.notes.push_back(CutsNote(cuts, inputs.episodes()));
  return estimate;
}

Estimator ImportanceSampling(const ImportanceSamplingOptions& options) {
  const bool self = SelfNormalized(options);
  const std::string source = "importance sampling (Precup, Sutton and Singh 2000)";
  return {.name = ImportanceSamplingName(options),
          .summary =
              fmt::format("{}{}{}", self ? "weighted " : "",
                          options.weighted_by == WeightedBy::kStep ? "per-decision " : "", source),
          .horizons = HorizonSupport::kBoth,
          .needs = {options.ratios.ratio},
          .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateImportanceSampling(inputs, estimand, options);
          }};
}

}  // namespace lfiw::ope
