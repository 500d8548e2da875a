#include "models/timed_function_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/rng.h"
#include "models/calibration.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/losses.h"
#include "models/row_fit.h"

namespace lfiw::models {
namespace {

enum class Loss { kSquared, kLogistic };

// Samples as networks see them: targets scaled by the moments of their step (kSquared), or labels
// and the offset that the ratio of their numbers gives the logit (kLogistic).
struct ScaledSamples {
  const StepSamples& samples;
  std::int64_t horizon;
  Loss loss;
  Scaler scaler;
  std::vector<double> centers, widths;  // [T], of the function
  std::vector<double> offsets;          // [T], added to outputs before the loss

  // Gathers the listed samples; the targets of a row are its target and its offset.
  void Gather(std::span<const std::int64_t> rows, FitRows& out) const {
    const std::int64_t n = std::ssize(rows);
    MatrixF states(n, samples.states.cols());
    std::vector<std::int64_t> steps(rows.size());
    out.inputs.resize(n, TimedFunction::InputDim(scaler));
    out.targets.resize(n, 2);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
      const auto t = static_cast<std::size_t>(samples.steps[row]);
      states.row(i) = samples.states.row(static_cast<Eigen::Index>(row));
      steps[static_cast<std::size_t>(i)] = samples.steps[row];
      out.targets(i, 0) = static_cast<float>(ScaledTarget(samples.targets[row], t));
      out.targets(i, 1) = static_cast<float>(offsets[t]);
    }
    TimedFunction::Inputs(scaler, horizon, states, steps, out.inputs);
  }

 private:
  double ScaledTarget(double target, std::size_t t) const {
    if (loss == Loss::kLogistic) return target;
    return widths[t] > 0.0 ? (target - centers[t]) / widths[t] : 0.0;
  }
};

RowFit::Loss LossOf(Loss loss) {
  return [loss](ConstMatrixRef outputs, const MatrixF& targets, MatrixF& gradient) {
    const MatrixF target = targets.leftCols(1);
    if (loss == Loss::kSquared) return SquaredError(outputs, target, gradient);
    const MatrixF shifted = outputs + targets.rightCols(1);
    return LogisticLoss(shifted, target, gradient);
  };
}

RowFit MakeProblem(const ScaledSamples& data, const std::vector<std::int64_t>& train,
                   std::span<const std::int64_t> validation, std::int64_t batch, Stream batches,
                   Mlp& network) {
  FitRows held_out;
  data.Gather(validation, held_out);
  const auto draw = [&data, &train, batch, batches](std::int64_t step, FitRows& out) {
    Stream stream = batches.Child(static_cast<std::uint64_t>(step));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(batch));
    for (std::int64_t& row : rows) row = train[stream.Below(train.size())];
    data.Gather(rows, out);
  };
  RowFit problem(network, draw, LossOf(data.loss), std::move(held_out));
  problem.set_training_rows(std::ssize(train));
  return problem;
}

void RequireSteps(const StepSamples& samples, std::int64_t horizon, const std::string& name) {
  for (const std::int64_t t : samples.steps) {
    if (t < 0 || t >= horizon) {
      Throw<DataError>("{}: a sample of step {}, expected 0 .. {}", name, t, horizon - 1);
    }
  }
}

// The listed samples, by step.
std::vector<std::vector<std::size_t>> ByStep(const StepSamples& samples,
                                             const std::vector<std::int64_t>& rows,
                                             std::int64_t horizon) {
  std::vector<std::vector<std::size_t>> steps(static_cast<std::size_t>(horizon));
  for (const std::int64_t row : rows) {
    const auto r = static_cast<std::size_t>(row);
    steps[static_cast<std::size_t>(samples.steps[r])].push_back(r);
  }
  return steps;
}

// Mean and deviation of the targets of each step. A step of equal targets has width 0.
void MeasureTargets(const std::vector<std::vector<std::size_t>>& steps, ScaledSamples& data) {
  for (const auto& rows : steps) {
    double mean = 0.0, squares = 0.0;
    const double first = rows.empty() ? 0.0 : data.samples.targets[rows.front()];
    const auto n = static_cast<double>(std::max<std::size_t>(1, rows.size()));
    for (const std::size_t row : rows) mean += (data.samples.targets[row] - first) / n;
    for (const std::size_t row : rows) {
      squares += std::pow(data.samples.targets[row] - first - mean, 2) / n;
    }
    data.centers.push_back(first + mean);
    data.widths.push_back(std::sqrt(squares));
    data.offsets.push_back(0.0);
  }
}

// log(number of samples with target 1 / number of the others) at each step, counted over as many
// neighboring steps as it takes to have a few of both.
void MeasureOdds(const std::vector<std::vector<std::size_t>>& steps, const std::string& name,
                 ScaledSamples& data) {
  constexpr double kFew = 10.0;
  const std::int64_t horizon = std::ssize(steps);
  // of the steps before t, [T + 1]
  std::vector<double> positives = {0.0}, negatives = {0.0};
  for (const auto& rows : steps) {
    double labeled = 0.0;
    for (const std::size_t row : rows) labeled += data.samples.targets[row];
    positives.push_back(positives.back() + labeled);
    negatives.push_back(negatives.back() + static_cast<double>(rows.size()) - labeled);
  }
  if (positives.back() == 0.0 || negatives.back() == 0.0) {
    Throw<DataError>("{}: {} samples of one kind and {} of the other", name, positives.back(),
                     negatives.back());
  }
  for (std::int64_t t = 0; t < horizon; ++t) {
    const bool empty = steps[static_cast<std::size_t>(t)].empty();
    data.centers.push_back(0.0);
    data.widths.push_back(empty ? 0.0 : 1.0);
    data.offsets.push_back(0.0);
    for (std::int64_t reach = 0; !empty && reach < horizon; ++reach) {
      const auto low = static_cast<std::size_t>(std::max<std::int64_t>(0, t - reach));
      const auto high = static_cast<std::size_t>(std::min(horizon, t + reach + 1));
      const double ones = positives[high] - positives[low];
      const double zeros = negatives[high] - negatives[low];
      if (std::min(ones, zeros) >= kFew || (low == 0 && high == steps.size())) {
        data.offsets.back() = std::log(ones / zeros);
        break;
      }
    }
  }
}

struct RowSplit {
  std::vector<std::int64_t> train, validation;
};

RowSplit SplitRows(const StepSamples& samples, double share, Stream stream,
                   const std::string& name) {
  const EpisodeSplit groups = SplitEpisodes(samples.groups, share, stream, name.c_str());
  std::vector<std::int64_t> held = groups.validation;
  std::ranges::sort(held);
  RowSplit split;
  for (std::int64_t row = 0; row < samples.size(); ++row) {
    const bool out =
        std::ranges::binary_search(held, samples.groups[static_cast<std::size_t>(row)]);
    (out ? split.validation : split.train).push_back(row);
  }
  return split;
}

// Held-out quality of the whole ensemble.
void Measure(const TimedFunction& function, const ScaledSamples& data,
             const std::vector<std::int64_t>& rows, TimedFunctionSummary& summary) {
  MatrixF states(std::ssize(rows), data.samples.states.cols());
  std::vector<std::int64_t> steps;
  std::vector<double> predicted(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    states.row(static_cast<Eigen::Index>(i)) = data.samples.states.row(rows[i]);
    steps.push_back(data.samples.steps[static_cast<std::size_t>(rows[i])]);
  }
  function.Predict(states, steps, predicted);
  if (data.loss == Loss::kLogistic) {
    std::vector<std::uint8_t> labels;
    for (const std::int64_t row : rows) {
      labels.push_back(data.samples.targets[static_cast<std::size_t>(row)] > 0.5 ? 1 : 0);
    }
    const auto positives = std::count(labels.begin(), labels.end(), 1);
    if (positives > 0 && positives < std::ssize(labels)) {
      summary.auc = MeasureCalibration(predicted, labels, 1).auc;
    }
    return;
  }
  double squares = 0.0, spread = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double target = data.samples.targets[static_cast<std::size_t>(rows[i])];
    squares += std::pow(predicted[i] - target, 2);
    spread += std::pow(data.centers[static_cast<std::size_t>(steps[i])] - target, 2);
  }
  if (spread > 0.0) summary.r2 = 1.0 - squares / spread;
}

TimedFunctionFit FitTimedFunction(const StepSamples& samples, std::int64_t horizon, Loss loss,
                                  const TimedFunctionOptions& options, const std::string& name,
                                  std::uint64_t seed, const FitRun& run) {
  RequireSteps(samples, horizon, name);
  const RowSplit split =
      SplitRows(samples, options.validation_share, Stream(seed, name + " validation groups"), name);
  ScaledSamples data{samples, horizon, loss, Scaler::Fit(samples.states, options.scaler),
                     {},      {},      {}};
  const auto by_step = ByStep(samples, split.train, horizon);
  if (loss == Loss::kSquared) {
    MeasureTargets(by_step, data);
  } else {
    MeasureOdds(by_step, name, data);
  }

  std::vector<Mlp> networks = MakeNetworks(options.members, TimedFunction::InputDim(data.scaler), 1,
                                           options.network, seed, name + " weights");
  const auto validation =
      Subsample(split.validation, options.validation_rows, Stream(seed, name + " validation rows"));
  TimedFunctionSummary summary;
  summary.samples = samples.size();
  const EnsembleJob job{
      .name = name + " member",
      .identity = FitIdentity(options, seed,
                              fmt::format("{} samples over {} steps", samples.size(), horizon)),
      .file = name};
  const auto make = [&](std::int64_t k) {
    const auto member = static_cast<std::uint64_t>(k);
    return MakeProblem(data, split.train, validation, options.fit.batch,
                       Stream(seed, name + " batch", {member}), networks[member]);
  };
  summary.members = FitEnsemble(options.members, options.fit, job, run, make);
  TimedFunction function(data.scaler, data.centers, data.widths, std::move(networks));
  Measure(function, data, split.validation, summary);
  return {std::move(function), std::move(summary)};
}

}  // namespace

void StepSamples::Append(const StepSamples& other) {
  MatrixF joined(states.rows() + other.states.rows(), other.states.cols());
  if (states.rows() > 0) joined.topRows(states.rows()) = states;
  joined.bottomRows(other.states.rows()) = other.states;
  states = std::move(joined);
  steps.insert(steps.end(), other.steps.begin(), other.steps.end());
  targets.insert(targets.end(), other.targets.begin(), other.targets.end());
  groups.insert(groups.end(), other.groups.begin(), other.groups.end());
}

TimedFunctionFit FitStepValue(const StepSamples& samples, std::int64_t horizon,
                              const TimedFunctionOptions& options, const std::string& name,
                              std::uint64_t seed, const FitRun& run) {
  return FitTimedFunction(samples, horizon, Loss::kSquared, options, name, seed, run);
}

TimedFunctionFit FitStepLogRatio(const StepSamples& samples, std::int64_t horizon,
                                 const TimedFunctionOptions& options, const std::string& name,
                                 std::uint64_t seed, const FitRun& run) {
  return FitTimedFunction(samples, horizon, Loss::kLogistic, options, name, seed, run);
}

}  // namespace lfiw::models
