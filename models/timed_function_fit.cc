#include "models/timed_function_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/calibration.h"
#include "models/episode_split.h"
#include "models/losses.h"

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

  // Network inputs, targets and offsets of the listed samples.
  void Gather(std::span<const std::int64_t> rows, MatrixF& inputs, MatrixF& targets,
              VectorF& shift) const {
    const std::int64_t n = std::ssize(rows);
    MatrixF states(n, samples.states.cols());
    std::vector<std::int64_t> steps(rows.size());
    inputs.resize(n, TimedFunction::InputDim(scaler));
    targets.resize(n, 1);
    shift.resize(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto row = static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]);
      const auto t = static_cast<std::size_t>(samples.steps[row]);
      states.row(i) = samples.states.row(static_cast<Eigen::Index>(row));
      steps[static_cast<std::size_t>(i)] = samples.steps[row];
      targets(i, 0) = static_cast<float>(ScaledTarget(samples.targets[row], t));
      shift(i) = static_cast<float>(offsets[t]);
    }
    TimedFunction::Inputs(scaler, horizon, states, steps, inputs);
  }

 private:
  double ScaledTarget(double target, std::size_t t) const {
    if (loss == Loss::kLogistic) return target;
    return widths[t] > 0.0 ? (target - centers[t]) / widths[t] : 0.0;
  }
};

class StepProblem : public FitProblem {
 public:
  StepProblem(const ScaledSamples& data, const std::vector<std::int64_t>& train,
              std::span<const std::int64_t> validation, Mlp& network, std::int64_t batch,
              Stream batches)
      : data_(data),
        train_(train),
        batches_(batches),
        network_(network),
        rows_(static_cast<std::size_t>(batch)) {
    data.Gather(validation, validation_inputs_, validation_targets_, validation_shift_);
    validation_outputs_.resize(std::ssize(validation), 1);
  }

  VectorF& parameters() override { return network_.parameters(); }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step));
    for (std::int64_t& row : rows_) row = train_[stream.Below(train_.size())];
    data_.Gather(rows_, inputs_, targets_, shift_);
    outputs_ = network_.ForwardTraining(inputs_);
    const double loss = MeanLoss(outputs_, targets_, shift_);
    network_.Backward(output_gradient_, gradient);
    return loss;
  }

  double ValidationLoss() override {
    network_.Forward(validation_inputs_, validation_outputs_);
    return MeanLoss(validation_outputs_, validation_targets_, validation_shift_);
  }

 private:
  // Leaves its gradient in output_gradient_.
  double MeanLoss(MatrixF& outputs, const MatrixF& targets, const VectorF& shift) {
    output_gradient_.resize(outputs.rows(), 1);
    if (data_.loss == Loss::kSquared) return SquaredError(outputs, targets, output_gradient_);
    outputs.col(0) += shift;
    return LogisticLoss(outputs, targets, output_gradient_);
  }

  const ScaledSamples& data_;
  const std::vector<std::int64_t>& train_;
  Stream batches_;
  Mlp& network_;
  std::vector<std::int64_t> rows_;
  MatrixF inputs_, targets_, outputs_, output_gradient_;
  VectorF shift_;
  MatrixF validation_inputs_, validation_targets_, validation_outputs_;
  VectorF validation_shift_;
};

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

  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < options.members; ++k) {
    networks.emplace_back(TimedFunction::InputDim(data.scaler), 1, options.network,
                          Stream(seed, name + " weights", {static_cast<std::uint64_t>(k)}));
  }
  const auto validation =
      Subsample(split.validation, options.validation_rows, Stream(seed, name + " validation rows"));
  TimedFunctionSummary summary;
  summary.samples = samples.size();
  summary.members.resize(networks.size());
  ParallelFor(options.members, [&](std::int64_t k) {
    const auto index = static_cast<std::size_t>(k);
    StepProblem problem(data, split.train, validation, networks[index], options.fit.batch,
                        Stream(seed, name + " batch", {static_cast<std::uint64_t>(k)}));
    const FitJob job = FitJob::Of(run, fmt::format("{} member {}", name, k),
                                  fmt::format("seed {}; {} samples", seed, samples.size()),
                                  fmt::format("{}_{}.npz", name, k));
    summary.members[index] = Fit(problem, options.fit, job);
  });
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
