#include "models/dynamics_fit.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/losses.h"

namespace lfiw::models {
namespace {

// The scaled transitions that all members share, and where each step of the log is among them.
struct TrainingData {
  MatrixF inputs;   // [n, input_dim]
  MatrixF targets;  // [n, outcome_dim]
  std::vector<std::int64_t> row_of_step;

  std::vector<std::int64_t> Rows(const EpisodeBatch& log,
                                 std::span<const std::int64_t> episodes) const {
    std::vector<std::int64_t> rows = StepsOf(log, episodes);
    for (std::int64_t& row : rows) row = row_of_step[static_cast<std::size_t>(row)];
    return rows;
  }
};

DynamicsScalers FitScalers(const Transitions& data, const ScalerOptions& options) {
  DynamicsScalers scalers{Scaler::Fit(data.states, options), Scaler::Fit(data.actions, options),
                          Scaler::Fit(data.next_states - data.states, options),
                          Scaler::Fit(data.aux, options)};
  // the change of a dimension that never varies is rounding
  scalers.changes.Drop(Scaler::Fit(data.next_states, options).Constant());
  return scalers;
}

TrainingData ScaleData(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                       const Transitions& data, const DynamicsScalers& scalers) {
  const auto n = static_cast<std::size_t>(data.size());
  std::vector<std::int64_t> all(n);
  TrainingData scaled{MatrixF(data.size(), scalers.input_dim()),
                      MatrixF(data.size(), scalers.outcome_dim()),
                      std::vector<std::int64_t>(static_cast<std::size_t>(log.steps()), -1)};
  const auto steps = StepsOf(log, episodes);
  for (std::size_t i = 0; i < n; ++i) {
    all[i] = static_cast<std::int64_t>(i);
    scaled.row_of_step[static_cast<std::size_t>(steps[i])] = all[i];
  }
  scalers.ScaleInputs(data.states, data.actions, all, scaled.inputs);
  scalers.ScaleOutcomes(data.states, data.next_states, data.aux, all, scaled.targets);
  return scaled;
}

// out row i = from row rows[i]
void GatherRows(const MatrixF& from, std::span<const std::int64_t> rows, MatrixF& out) {
  out.resize(std::ssize(rows), from.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.row(static_cast<Eigen::Index>(i)) = from.row(rows[i]);
  }
}

class MemberProblem : public FitProblem {
 public:
  MemberProblem(const TrainingData& data, std::vector<std::int64_t> train_rows,
                std::span<const std::int64_t> validation_rows, DynamicsKind kind, Mlp& network,
                std::int64_t batch, Stream batches)
      : data_(data),
        train_rows_(std::move(train_rows)),
        batch_rows_(static_cast<std::size_t>(batch)),
        batches_(batches),
        kind_(kind),
        network_(network),
        output_gradient_(batch, network.output_dim()) {
    GatherRows(data.inputs, validation_rows, validation_inputs_);
    GatherRows(data.targets, validation_rows, validation_targets_);
    validation_outputs_.resize(validation_inputs_.rows(), network.output_dim());
    validation_scratch_.resize(validation_inputs_.rows(), network.output_dim());
  }

  VectorF& parameters() override { return network_.parameters(); }

  double LossGradient(std::int64_t step, VectorF& gradient) override {
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step));
    for (std::int64_t& row : batch_rows_) row = train_rows_[stream.Below(train_rows_.size())];
    GatherRows(data_.inputs, batch_rows_, inputs_);
    GatherRows(data_.targets, batch_rows_, targets_);
    const double loss = Loss(network_.ForwardTraining(inputs_), targets_, output_gradient_);
    network_.Backward(output_gradient_, gradient);
    return loss;
  }

  double ValidationLoss() override {
    network_.Forward(validation_inputs_, validation_outputs_);
    return Loss(validation_outputs_, validation_targets_, validation_scratch_);
  }

  // 1 - mean squared error / variance of each outcome on the validation rows.
  std::vector<double> ValidationR2() {
    network_.Forward(validation_inputs_, validation_outputs_);
    std::vector<double> r2;
    for (Eigen::Index j = 0; j < validation_targets_.cols(); ++j) {
      const VectorD target = validation_targets_.col(j).cast<double>();
      const VectorD error = target - validation_outputs_.col(j).cast<double>();
      const double spread = (target.array() - target.mean()).square().sum();
      r2.push_back(spread > 0.0 ? 1.0 - error.squaredNorm() / spread : 0.0);
    }
    return r2;
  }

 private:
  double Loss(ConstMatrixRef outputs, const MatrixF& targets, MatrixF& gradient) const {
    return kind_ == DynamicsKind::kGaussian ? GaussianNll(outputs, targets, gradient)
                                            : SquaredError(outputs, targets, gradient);
  }

  const TrainingData& data_;
  std::vector<std::int64_t> train_rows_;
  std::vector<std::int64_t> batch_rows_;
  Stream batches_;
  DynamicsKind kind_;
  Mlp& network_;
  MatrixF inputs_, targets_, output_gradient_;
  MatrixF validation_inputs_, validation_targets_, validation_outputs_, validation_scratch_;
};

std::vector<std::int64_t> Resample(const std::vector<std::int64_t>& episodes, Stream stream) {
  std::vector<std::int64_t> drawn(episodes.size());
  for (std::int64_t& e : drawn) e = episodes[stream.Below(episodes.size())];
  return drawn;
}

// All that the members' tasks share.
struct MemberInputs {
  const EpisodeBatch& log;
  std::span<const std::int64_t> episodes;
  const DynamicsOptions& options;
  std::uint64_t seed;
  const FitRun& fit;
  const TrainingData& data;
};

MemberSummary FitMember(const MemberInputs& in, std::uint64_t member,
                        std::span<const std::int64_t> skipped, Mlp& network) {
  const DynamicsOptions& options = in.options;
  const std::string name = fmt::format("dynamics member {}", member);
  std::vector<std::int64_t> own(in.episodes.begin(), in.episodes.end());
  std::erase_if(own, [&](std::int64_t e) {
    return std::find(skipped.begin(), skipped.end(), e) != skipped.end();
  });
  const EpisodeSplit split =
      SplitEpisodes(own, options.validation_share,
                    Stream(in.seed, "dynamics validation episodes", {member}), name.c_str());
  const auto train = options.bootstrap
                         ? Resample(split.train, Stream(in.seed, "dynamics bootstrap", {member}))
                         : split.train;
  const auto validation = Subsample(in.data.Rows(in.log, split.validation), options.validation_rows,
                                    Stream(in.seed, "dynamics validation rows", {member}));
  const auto train_rows = in.data.Rows(in.log, train);
  if (train_rows.empty() || validation.empty()) {
    Throw<DataError>("{}: {} training and {} validation steps, expected at least 1 of each", name,
                     train_rows.size(), validation.size());
  }
  MemberProblem problem(in.data, train_rows, validation, options.kind, network, options.fit.batch,
                        Stream(in.seed, "dynamics batch", {member}));
  const FitJob job =
      FitJob::Of(in.fit, name,
                 fmt::format("seed {}; {}; {} of {} rows", in.seed, EnumName(options.kind),
                             train_rows.size(), in.data.inputs.rows()),
                 fmt::format("member_{}.npz", member));
  MemberSummary summary;
  summary.fit = Fit(problem, options.fit, job);
  summary.train_episodes = std::ssize(split.train);
  summary.validation_episodes = std::ssize(split.validation);
  summary.r2 = problem.ValidationR2();
  return summary;
}

std::vector<std::int64_t> Distinct(std::span<const std::int64_t> episodes) {
  std::vector<std::int64_t> distinct(episodes.begin(), episodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

}  // namespace

DynamicsFit FitDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                        const DynamicsOptions& options, std::uint64_t seed, const FitRun& run,
                        const std::vector<std::vector<std::int64_t>>& skipped) {
  LFIW_ASSERT(skipped.empty() || std::ssize(skipped) == options.members);
  const auto distinct = Distinct(episodes);
  std::optional<Transitions> transitions = GatherTransitions(log, distinct);
  if (transitions->size() == 0) Throw<DataError>("dynamics: no steps to learn from");
  DynamicsScalers scalers = FitScalers(*transitions, options.scaler);
  if (scalers.outcome_dim() == 0) {
    Throw<DataError>("dynamics: every outcome is constant in {} steps, nothing to learn",
                     transitions->size());
  }
  const TrainingData data = ScaleData(log, distinct, *transitions, scalers);
  transitions.reset();  // as large as the scaled data

  const std::int64_t heads = options.kind == DynamicsKind::kGaussian ? 2 : 1;
  std::vector<Mlp> networks;
  for (std::int64_t k = 0; k < options.members; ++k) {
    networks.emplace_back(scalers.input_dim(), heads * scalers.outcome_dim(), options.network,
                          Stream(seed, "dynamics weights", {static_cast<std::uint64_t>(k)}));
  }
  DynamicsSummary summary{.members = std::vector<MemberSummary>(networks.size()),
                          .constant_state_dims = scalers.states.Constant(),
                          .constant_action_dims = scalers.actions.Constant(),
                          .constant_outcome_dims = scalers.changes.Constant(),
                          .constant_aux_dims = scalers.aux.Constant()};
  const MemberInputs inputs{log, episodes, options, seed, run, data};
  ParallelFor(options.members, [&](std::int64_t index) {
    const auto k = static_cast<std::size_t>(index);
    const std::span<const std::int64_t> skip =
        skipped.empty() ? std::span<const std::int64_t>() : skipped[k];
    summary.members[k] = FitMember(inputs, k, skip, networks[k]);
  });
  return {DynamicsEnsemble(options.kind, std::move(scalers), std::move(networks), skipped),
          std::move(summary)};
}

}  // namespace lfiw::models
