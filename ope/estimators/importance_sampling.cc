#include "ope/estimators/importance_sampling.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <optional>
#include <utility>

namespace lfiw::ope {
namespace {

using Matrix = Array<double, 2>;

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

// How many of the listed episodes take each step, [K].
std::vector<double> RunningShares(const EstimatorInputs& in, std::span<const std::int64_t> rows,
                                  std::int64_t columns) {
  std::vector<double> counts(static_cast<std::size_t>(columns));
  for (const std::int64_t row : rows) {
    for (std::int64_t t = 0; t < in.lengths[static_cast<std::size_t>(row)]; ++t) {
      counts[static_cast<std::size_t>(t)] += 1.0;
    }
  }
  return counts;
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
                           const Estimand& estimand, const ImportanceSamplingOptions& options) {
  ImportanceWeights weights = MakeEpisodeWeights(in, rows, options.ratios);
  WeightedColumns columns{Matrix({std::ssize(rows), 1}),
                          ReturnsOf(in, rows, StepFactors(estimand, in.steps())), 0};
  std::ranges::copy(weights.last, columns.log_weights.flat().begin());
  Estimate estimate = SelfNormalized(options) ? SelfNormalizedSum(std::move(columns))
                                              : PlainSum(std::move(columns));
  AddDiagnostics(weights.last, estimate);
  estimate.notes = std::move(weights.notes);
  return estimate;
}

Estimate WeighSteps(const EstimatorInputs& in, std::span<const std::int64_t> rows,
                    const Estimand& estimand, const ImportanceSamplingOptions& options) {
  ImportanceWeights weights = MakeImportanceWeights(in, rows, options.ratios);
  const std::int64_t steps = weights.log_weights.shape()[1];
  Estimate diagnostics;
  if (options.ratios.product == RatioProduct::kStep) {
    AddStepDiagnostics(weights.log_weights, diagnostics);
  } else {
    AddDiagnostics(weights.last, diagnostics);
  }
  const bool drop = options.ratios.finished == FinishedEpisodes::kDrop;
  const std::vector<double> counts = drop ? RunningShares(in, rows, steps) : std::vector<double>();
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
std::string Impossible(const ImportanceSamplingOptions& options, std::int64_t complete,
                       std::int64_t episodes) {
  if (options.cut == CutEpisodes::kRefuse && complete < episodes) {
    return fmt::format("a time limit cut {} of {} episodes before the horizon", episodes - complete,
                       episodes);
  }
  if (complete == 0) return "a time limit cut every episode before the horizon; use fqe or a model";
  if (options.weighted_by == WeightedBy::kTrajectory &&
      options.ratios.product == RatioProduct::kStep) {
    return "weights of single steps do not weigh whole trajectories";
  }
  return "";
}

}  // namespace

std::string ImportanceSamplingName(const ImportanceSamplingOptions& options) {
  std::string name = SelfNormalized(options) ? "w" : "";
  name += options.weighted_by == WeightedBy::kTrajectory ? "is" : "pdis";
  if (options.cut != CutEpisodes::kLeaveOut) name += " cut=refuse";
  const std::string ratios = Describe(options.ratios);
  return ratios.empty() ? name : name + " " + ratios;
}

std::vector<std::int64_t> CompleteEpisodes(const EstimatorInputs& inputs,
                                           const Estimand& estimand) {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < inputs.episodes(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const bool reached = estimand.horizon && inputs.lengths[row] >= *estimand.horizon;
    if (reached || inputs.terminated[row] != 0) rows.push_back(i);
  }
  return rows;
}

Estimate EstimateImportanceSampling(const EstimatorInputs& inputs, const Estimand& estimand,
                                    const ImportanceSamplingOptions& options) {
  const std::vector<std::int64_t> rows = CompleteEpisodes(inputs, estimand);
  if (std::string why = Impossible(options, std::ssize(rows), inputs.episodes()); !why.empty()) {
    return Refuse(std::move(why));
  }
  Estimate estimate = options.weighted_by == WeightedBy::kTrajectory
                          ? WeighTrajectories(inputs, rows, estimand, options)
                          : WeighSteps(inputs, rows, estimand, options);
  const std::int64_t left_out = inputs.episodes() - std::ssize(rows);
  if (left_out > 0) {
    estimate.notes.push_back(fmt::format(
        "{} of {} episodes are left out: a time limit cut them before the horizon, which biases "
        "the estimate if their being cut depends on actions",
        left_out, inputs.episodes()));
  }
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
