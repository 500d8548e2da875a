#include "models/dynamics_fit.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/losses.h"
#include "models/row_fit.h"
#include "models/transition_view.h"

namespace lfiw::models {
namespace {

DynamicsScalers FitScalers(const TransitionView& data, const ScalerOptions& options) {
  DynamicsScalers scalers{data.FitScaler(TransitionPart::kState, options),
                          data.FitScaler(TransitionPart::kAction, options),
                          data.FitScaler(TransitionPart::kChange, options),
                          data.FitScaler(TransitionPart::kAux, options)};
  // the change of a dimension that never varies is rounding
  scalers.changes.Drop(data.FitScaler(TransitionPart::kNextState, options).Constant());
  return scalers;
}

// Scales transitions to what networks read and predict.
void ScaleRows(const DynamicsScalers& scalers, const Transitions& from, FitRows& out) {
  const std::vector<std::int64_t> all = IndexList(from.size());
  out.inputs.resize(from.size(), scalers.input_dim());
  out.targets.resize(from.size(), scalers.outcome_dim());
  scalers.ScaleInputs(from.states, from.actions, all, out.inputs);
  scalers.ScaleOutcomes(from.states, from.next_states, from.aux, all, out.targets);
}

// Draws the batches of one member from its training rows, which stay in the log.
class BatchSource {
 public:
  BatchSource(TransitionView rows, const DynamicsScalers& scalers, std::int64_t batch,
              Stream batches)
      : rows_(std::move(rows)),
        scalers_(scalers),
        picked_(static_cast<std::size_t>(batch)),
        batches_(batches) {}

  void Draw(std::int64_t step, FitRows& out) {
    Stream stream = batches_.Child(static_cast<std::uint64_t>(step));
    const auto count = static_cast<std::uint64_t>(rows_.size());
    for (std::int64_t& row : picked_) row = static_cast<std::int64_t>(stream.Below(count));
    rows_.Gather(picked_, gathered_);
    ScaleRows(scalers_, gathered_, out);
  }

 private:
  TransitionView rows_;
  const DynamicsScalers& scalers_;
  std::vector<std::int64_t> picked_;
  Stream batches_;
  Transitions gathered_;
};

// Points with or without noise differ in what is done after their fit.
DynamicsKind NetworksOf(DynamicsChoice choice) {
  return choice == DynamicsChoice::kGaussian ? DynamicsKind::kGaussian
                                             : DynamicsKind::kDeterministic;
}

RowFit::Loss LossOf(DynamicsKind kind) {
  return [kind](ConstMatrixRef outputs, const MatrixF& targets, MatrixF& gradient) {
    return kind == DynamicsKind::kGaussian ? GaussianNll(outputs, targets, gradient)
                                           : SquaredError(outputs, targets, gradient);
  };
}

// 1 - mean squared error / variance of each outcome on the validation rows.
std::vector<double> ValidationR2(const Mlp& network, const FitRows& rows) {
  MatrixF outputs(rows.inputs.rows(), network.output_dim());
  network.Forward(rows.inputs, outputs);
  std::vector<double> r2;
  for (Eigen::Index j = 0; j < rows.targets.cols(); ++j) {
    const VectorD target = rows.targets.col(j).cast<double>();
    const VectorD error = target - outputs.col(j).cast<double>();
    const double spread = (target.array() - target.mean()).square().sum();
    r2.push_back(spread > 0.0 ? 1.0 - error.squaredNorm() / spread : 0.0);
  }
  return r2;
}

std::vector<std::int64_t> Resample(const std::vector<std::int64_t>& episodes, Stream stream) {
  std::vector<std::int64_t> drawn(episodes.size());
  for (std::int64_t& e : drawn) e = episodes[stream.Below(episodes.size())];
  return drawn;
}

// What all members learn from.
struct MemberInputs {
  const EpisodeBatch& log;
  std::span<const std::int64_t> episodes;
  const DynamicsOptions& options;
  std::uint64_t seed;
  std::int64_t rows;  // steps of the distinct episodes
  DynamicsScalers scalers;

  std::int64_t outputs() const {
    return (NetworksOf(options.kind) == DynamicsKind::kGaussian ? 2 : 1) * scalers.outcome_dim();
  }
  Mlp FreshNetwork(std::int64_t member) const {
    return {scalers.input_dim(), outputs(), options.network,
            Stream(seed, "dynamics weights", {static_cast<std::uint64_t>(member)})};
  }
};

// The episodes of one member. All hold out the same ones; a member that skips all of these, as may
// happen in a small log, holds out some of its own.
EpisodeSplit SplitOf(const MemberInputs& in, std::span<const std::int64_t> skipped,
                     std::uint64_t member) {
  EpisodeSplit split = SplitEpisodes(in.episodes, in.options.validation_share,
                                     Stream(in.seed, "dynamics validation episodes"), "dynamics");
  if (skipped.empty()) return split;
  split.train = EpisodesWithout(split.train, skipped);
  split.validation = EpisodesWithout(split.validation, skipped);
  if (!split.validation.empty() && !split.train.empty()) return split;
  const std::vector<std::int64_t> own = EpisodesWithout(in.episodes, skipped);
  return SplitEpisodes(own, in.options.validation_share,
                       Stream(in.seed, "dynamics validation episodes", {member}),
                       fmt::format("dynamics member {}", member).c_str());
}

RowFit MakeProblem(const MemberInputs& in, std::uint64_t member, const EpisodeSplit& split,
                   Mlp& network) {
  const DynamicsOptions& options = in.options;
  TransitionView train(in.log,
                       options.bootstrap
                           ? Resample(split.train, Stream(in.seed, "dynamics bootstrap", {member}))
                           : split.train);
  const TransitionView held_out(in.log, split.validation);
  if (train.size() == 0 || held_out.size() == 0) {
    Throw<DataError>(
        "dynamics member {}: {} training and {} validation steps, expected at least 1 "
        "of each",
        member, train.size(), held_out.size());
  }
  Transitions validation;
  held_out.Gather(Subsample(IndexList(held_out.size()), options.validation_rows,
                            Stream(in.seed, "dynamics validation rows", {member})),
                  validation);
  FitRows rows;
  ScaleRows(in.scalers, validation, rows);
  const std::int64_t training_rows = train.size();
  BatchSource source(std::move(train), in.scalers, options.fit.batch,
                     Stream(in.seed, "dynamics batch", {member}));
  auto draw = [source = std::move(source)](std::int64_t step, FitRows& out) mutable {
    source.Draw(step, out);
  };
  RowFit problem(network, std::move(draw), LossOf(NetworksOf(options.kind)), std::move(rows));
  problem.set_training_rows(training_rows);
  return problem;
}

// Measures noise on the episodes that all members hold out.
NoiseEvidence NoiseOf(const MemberInputs& in, const std::vector<Mlp>& networks) {
  const EpisodeSplit split =
      SplitEpisodes(in.episodes, in.options.validation_share,
                    Stream(in.seed, "dynamics validation episodes"), "dynamics");
  const TransitionView held_out(in.log, split.validation);
  Transitions transitions;
  held_out.Gather(Subsample(IndexList(held_out.size()), in.options.validation_rows,
                            Stream(in.seed, "dynamics noise rows")),
                  transitions);
  FitRows rows;
  ScaleRows(in.scalers, transitions, rows);
  std::vector<MatrixF> residuals;
  for (const Mlp& network : networks) {
    residuals.emplace_back(rows.inputs.rows(), network.output_dim());
    network.Forward(rows.inputs, residuals.back());
    residuals.back() = rows.targets - residuals.back();
  }
  return MeasureNoise(residuals);
}

// Returns a matrix whose product with its transpose is the part of a symmetric matrix without
// negative eigenvalues.
MatrixF FactorOf(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);
  const Eigen::VectorXd roots = solver.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  return (solver.eigenvectors() * roots.asDiagonal()).cast<float>();
}

std::vector<std::int64_t> Distinct(std::span<const std::int64_t> episodes) {
  std::vector<std::int64_t> distinct(episodes.begin(), episodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  return distinct;
}

MemberInputs InputsOf(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                      const DynamicsOptions& options, std::uint64_t seed) {
  const auto distinct = Distinct(episodes);
  const TransitionView data(log, distinct);
  if (data.size() == 0) {
    Throw<DataError>(
        "dynamics: no step to learn from: the log lacks the observation after every step of {} "
        "episodes; log next observations too",
        distinct.size());
  }
  MemberInputs inputs{log, episodes, options, seed, data.size(), FitScalers(data, options.scaler)};
  if (inputs.scalers.outcome_dim() == 0) {
    Throw<DataError>("dynamics: every outcome is constant in {} steps, nothing to learn",
                     data.size());
  }
  return inputs;
}

DynamicsMember FitMember(const MemberInputs& in, std::span<const std::int64_t> skipped,
                         std::int64_t member, const FitRun& run) {
  const auto number = static_cast<std::uint64_t>(member);
  // of one member, how many there are tells nothing
  DynamicsOptions options = in.options;
  options.members = 1;
  const std::string rows = fmt::format("{}; {} rows; without {}", EpisodesText(in.episodes),
                                       in.rows, EpisodesText(skipped));
  const EnsembleJob job{
      .name = "dynamics member", .identity = FitIdentity(options, in.seed, rows), .file = "member"};
  const EpisodeSplit split = SplitOf(in, skipped, number);
  Mlp network = in.FreshNetwork(member);
  RowFit problem = MakeProblem(in, number, split, network);
  DynamicsMember out;
  out.summary.train_episodes = std::ssize(split.train);
  out.summary.validation_episodes = std::ssize(split.validation);
  out.summary.fit = Fit(problem, in.options.fit, job.Of(run, member));
  out.summary.r2 = ValidationR2(network, problem.validation());
  out.parameters = network.parameters();
  return out;
}

DynamicsFit Assemble(const MemberInputs& in, std::vector<DynamicsMember> members,
                     const std::vector<std::vector<std::int64_t>>& skipped) {
  LFIW_ASSERT(std::ssize(members) == in.options.members);
  const DynamicsScalers& scalers = in.scalers;
  DynamicsSummary summary{.members = {},
                          .constant_state_dims = scalers.states.Constant(),
                          .constant_action_dims = scalers.actions.Constant(),
                          .constant_outcome_dims = scalers.changes.Constant(),
                          .constant_aux_dims = scalers.aux.Constant(),
                          .noise = {}};
  std::vector<Mlp> networks;
  for (DynamicsMember& member : members) {
    networks.push_back(in.FreshNetwork(std::ssize(networks)));
    if (networks.back().parameters().size() != member.parameters.size()) {
      Throw<DataError>("dynamics member {}: {} parameters, expected {}", networks.size() - 1,
                       member.parameters.size(), networks.back().parameters().size());
    }
    networks.back().parameters() = std::move(member.parameters);
    summary.members.push_back(std::move(member.summary));
  }
  if (in.options.kind == DynamicsChoice::kAuto) summary.noise = NoiseOf(in, networks);
  MatrixF noise = summary.noise ? summary.noise->factor : MatrixF();
  return {DynamicsEnsemble(NetworksOf(in.options.kind), scalers, std::move(networks), skipped,
                           std::move(noise)),
          std::move(summary)};
}

}  // namespace

NoiseEvidence MeasureNoise(const std::vector<MatrixF>& residuals) {
  const auto members = static_cast<double>(residuals.size());
  const Eigen::Index rows = residuals.front().rows(), outcomes = residuals.front().cols();
  Eigen::MatrixXd own = Eigen::MatrixXd::Zero(outcomes, outcomes);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(rows, outcomes);
  for (const MatrixF& of_member : residuals) {
    const Eigen::MatrixXd e = of_member.cast<double>();
    own += e.transpose() * e;
    sum += e;
  }
  own /= static_cast<double>(rows) * members;
  Eigen::MatrixXd shared = own;
  if (members > 1.0) {
    // the products of all ordered pairs, without those of a member with itself
    shared = sum.transpose() * sum / (static_cast<double>(rows) * members) - own;
    shared /= members - 1.0;
  }

  NoiseEvidence evidence;
  evidence.rows = rows;
  for (Eigen::Index j = 0; j < outcomes; ++j) {
    evidence.squared.push_back(own(j, j));
    evidence.shared.push_back(shared(j, j));
    evidence.counts.push_back(shared(j, j) > kNoiseShare * own(j, j) ? 1 : 0);
    if (evidence.counts.back() != 0) continue;
    shared.row(j).setZero();
    shared.col(j).setZero();
  }
  const bool any = std::ranges::find(evidence.counts, 1) != evidence.counts.end();
  if (any) evidence.factor = FactorOf(shared);
  return evidence;
}

DynamicsMember FitDynamicsMember(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                 const DynamicsOptions& options, std::uint64_t seed,
                                 std::int64_t member, const FitRun& run,
                                 std::span<const std::int64_t> skipped) {
  return FitMember(InputsOf(log, episodes, options, seed), skipped, member, run);
}

DynamicsFit AssembleDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                             const DynamicsOptions& options, std::uint64_t seed,
                             std::vector<DynamicsMember> members,
                             const std::vector<std::vector<std::int64_t>>& skipped) {
  return Assemble(InputsOf(log, episodes, options, seed), std::move(members), skipped);
}

DynamicsFit FitDynamics(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                        const DynamicsOptions& options, std::uint64_t seed, const FitRun& run,
                        const std::vector<std::vector<std::int64_t>>& skipped) {
  LFIW_ASSERT(skipped.empty() || std::ssize(skipped) == options.members);
  const MemberInputs inputs = InputsOf(log, episodes, options, seed);
  std::vector<DynamicsMember> members(static_cast<std::size_t>(options.members));
  ParallelFor(options.members, [&](std::int64_t k) {
    const auto member = static_cast<std::size_t>(k);
    members[member] = FitMember(
        inputs, skipped.empty() ? std::span<const std::int64_t>() : skipped[member], k, run);
  });
  return Assemble(inputs, std::move(members), skipped);
}

}  // namespace lfiw::models
