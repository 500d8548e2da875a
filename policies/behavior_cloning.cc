#include "policies/behavior_cloning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/index_list.h"
#include "core/rng.h"
#include "models/episode_split.h"
#include "models/fit_identity.h"
#include "models/row_fit.h"
#include "models/transition_view.h"
#include "policies/cloning_losses.h"
#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

constexpr const char* kName = "behavior clone";

void CheckOptions(const CloningOptions& options, const ActionBounds& bounds) {
  const std::vector<double>& range = options.log_std_range;
  if (range.size() != 2 || !(range[0] < range[1])) {
    Throw<ConfigError>("log_std_range: [{}], expected two increasing numbers",
                       fmt::join(range, ", "));
  }
  if (options.kind != CloneKind::kTanhGaussian) return;
  for (Eigen::Index j = 0; j < bounds.low.size(); ++j) {
    if (std::isfinite(bounds.low[j]) && std::isfinite(bounds.high[j])) continue;
    Throw<ConfigError>(
        "kind: tanh_gaussian, but action {} has the bounds [{}, {}], expected finite ones to "
        "squash to",
        j, bounds.low[j], bounds.high[j]);
  }
}

void CheckOneHot(const MatrixF& actions) {
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    const bool one_hot = (actions.row(i).array() == 1.0f).count() == 1 &&
                         (actions.row(i).array() == 0.0f).count() == actions.cols() - 1;
    if (one_hot) continue;
    Throw<DataError>("{}: row {} of the actions is ({}), expected a single 1 among zeros", kName, i,
                     fmt::join(actions.row(i).begin(), actions.row(i).end(), ", "));
  }
}

// Actions before squashing: atanh of their place between the bounds.
MatrixF Unsquash(const MatrixF& actions, const ActionBounds& bounds) {
  MatrixF draws(actions.rows(), actions.cols());
  for (Eigen::Index j = 0; j < actions.cols(); ++j) {
    const double center = 0.5 * (bounds.low[j] + bounds.high[j]);
    const double half = 0.5 * (bounds.high[j] - bounds.low[j]);
    for (Eigen::Index i = 0; i < actions.rows(); ++i) {
      const double unit = (static_cast<double>(actions(i, j)) - center) / half;
      draws(i, j) = static_cast<float>(UnsquashDraw(unit));
    }
  }
  return draws;
}

// What the network is fitted to: states, which stay in the log and are scaled when they are drawn,
// and actions in the units of the Gaussian.
class CloningRows {
 public:
  // Categorical and Gaussian targets are the actions themselves.
  CloningRows(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
              const Scaler& scaler, CloneKind kind, const ActionBounds& bounds)
      : view_(log, episodes, TransitionRows::kAllSteps),
        scaler_(scaler),
        targets_(view_.size(), log.action_dim()) {
    VectorF action(log.action_dim());
    for (std::int64_t i = 0; i < view_.size(); ++i) {
      view_.Read(TransitionPart::kAction, i, action);
      targets_.row(i) = action.transpose();
    }
    if (kind == CloneKind::kTanhGaussian) targets_ = Unsquash(targets_, bounds);
    if (kind == CloneKind::kCategorical) CheckOneHot(targets_);
  }

  std::int64_t size() const { return view_.size(); }
  const MatrixF& targets() const { return targets_; }  // [n, action_dim]

  // inputs [rows.size(), active_dim], targets [rows.size(), action_dim]
  void Gather(std::span<const std::int64_t> rows, FitRows& out) const {
    out.inputs.resize(std::ssize(rows), scaler_.active_dim());
    out.targets.resize(std::ssize(rows), targets_.cols());
    MatrixF states(std::ssize(rows), scaler_.dim());
    VectorF state(scaler_.dim());
    Eigen::Index to = 0;
    for (const std::int64_t row : rows) {
      view_.Read(TransitionPart::kState, row, state);
      states.row(to) = state.transpose();
      out.targets.row(to++) = targets_.row(row);
    }
    scaler_.Scale(states, out.inputs);
  }

 private:
  TransitionView view_;
  const Scaler& scaler_;
  MatrixF targets_;
};

// Outputs near 0 of a fresh network mean the log's own moments.
GaussianTargets MakeTargets(const MatrixF& targets, const ActionBounds& bounds,
                            const CloningOptions& options) {
  const Scaler moments = Scaler::Fit(targets);
  GaussianTargets how{.center = moments.mean().cast<double>(),
                      .scale = moments.deviation().cast<double>(),
                      .low = bounds.low.cast<float>().cast<double>(),
                      .high = bounds.high.cast<float>().cast<double>(),
                      .log_std_low = options.log_std_range[0],
                      .log_std_high = options.log_std_range[1]};
  for (const std::int64_t constant : moments.Constant()) how.scale[constant] = 1.0;
  if (options.kind == CloneKind::kTanhGaussian) {
    const auto edge = static_cast<double>(static_cast<float>(UnsquashDraw(1.0)));
    how.low.setConstant(-edge);
    how.high.setConstant(edge);
  }
  return how;
}

// `how` is empty for discrete actions.
RowFit::Loss LossOf(std::optional<GaussianTargets> how) {
  return [how = std::move(how)](ConstMatrixRef outputs, const MatrixF& targets, MatrixF& gradient) {
    return how ? CensoredGaussianNll(outputs, targets, *how, gradient)
               : CategoricalNll(outputs, targets, gradient);
  };
}

RowFit::Draw DrawFrom(const CloningRows& train, std::int64_t batch, Stream batches) {
  return [&train, batch, batches](std::int64_t step, FitRows& out) {
    Stream stream = batches.Child(static_cast<std::uint64_t>(step));
    std::vector<std::int64_t> rows(static_cast<std::size_t>(batch));
    const auto count = static_cast<std::uint64_t>(train.size());
    for (std::int64_t& row : rows) row = static_cast<std::int64_t>(stream.Below(count));
    train.Gather(rows, out);
  };
}

std::string RowsText(const CloningRows& train, std::int64_t validation,
                     const ActionBounds& bounds) {
  return fmt::format("{} + {} rows; actions from {} to {}", train.size(), validation,
                     fmt::join(bounds.low, " "), fmt::join(bounds.high, " "));
}

// The layers of a fitted network in the form of a policy file: constant observations get zero
// weights, and the last layer gives means and deviations in the units of the targets.
std::vector<DenseLayer> FoldLayers(const Mlp& network, const Scaler& scaler,
                                   const std::optional<GaussianTargets>& how) {
  std::vector<DenseLayer> layers;
  const float* at = network.parameters().data();
  for (std::int64_t l = 0; l <= network.options().hidden_layers; ++l) {
    const std::int64_t in = l == 0 ? network.input_dim() : network.options().width;
    const bool last = l == network.options().hidden_layers;
    const std::int64_t out = last ? network.output_dim() : network.options().width;
    layers.push_back(
        {Eigen::Map<const MatrixF>(at, in, out), Eigen::Map<const VectorF>(at + in * out, out)});
    at += (in + 1) * out;
  }
  MatrixF first = MatrixF::Zero(scaler.dim(), layers.front().weight.cols());
  for (std::size_t k = 0; k < scaler.active().size(); ++k) {
    first.row(scaler.active()[k]) = layers.front().weight.row(static_cast<Eigen::Index>(k));
  }
  layers.front().weight = first;
  if (!how) return layers;
  auto& [weight, bias] = layers.back();
  const Eigen::Index d = how->center.size();
  for (Eigen::Index j = 0; j < d; ++j) {
    const auto scale = static_cast<float>(how->scale[j]);
    weight.col(j) *= scale;
    bias[j] = bias[j] * scale + static_cast<float>(how->center[j]);
    bias[d + j] += static_cast<float>(std::log(how->scale[j]));
  }
  return layers;
}

ObservationNormalizer NormalizerOf(const Scaler& scaler) {
  VectorD variance = VectorD::Ones(scaler.dim());
  for (const std::int64_t j : scaler.active()) {
    variance[j] = std::pow(static_cast<double>(scaler.deviation()[j]), 2);
  }
  ObservationNormalizer normalizer(scaler.dim(), std::numeric_limits<double>::infinity(), 0.0);
  normalizer.SetStatistics(scaler.mean().cast<double>(), variance);
  return normalizer;
}

std::unique_ptr<NetworkPolicy> MakePolicy(const Mlp& network, const Scaler& scaler,
                                          const std::optional<GaussianTargets>& how,
                                          const ActionBounds& bounds,
                                          const CloningOptions& options) {
  NetworkPolicyParts parts;
  parts.network = std::make_unique<DenseNetwork>(FoldLayers(network, scaler, how),
                                                 options.network.activation, kName);
  ActionHead& head = parts.head;
  head.kind = how ? OutputKind::kMeanLogStd : OutputKind::kLogits;
  head.action_dim = how ? how->center.size() : network.output_dim();
  head.log_std_low = static_cast<float>(options.log_std_range[0]);
  head.log_std_high = static_cast<float>(options.log_std_range[1]);
  if (options.kind == CloneKind::kTanhGaussian) {
    head.squash = Squash::kTanh;
    head.low = bounds.low.cast<float>();
    head.high = bounds.high.cast<float>();
  }
  parts.transform.normalizer = NormalizerOf(scaler);
  parts.origin = "behavior cloning";
  return std::make_unique<NetworkPolicy>(std::move(parts), kName);
}

double MeanLogDensity(const Policy& policy, const EpisodeBatch& log,
                      const std::vector<std::int64_t>& episodes, const ActionBounds& bounds) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Length(e);
    const std::vector<std::int64_t> steps = IndexList(length);
    std::vector<double> density(steps.size());
    policy.LogDensity(log.observations.middleRows(log.ObservationRow(e, 0), length), steps,
                      log.actions.middleRows(log.offsets[static_cast<std::size_t>(e)], length),
                      bounds.low, bounds.high, density);
    sum = std::accumulate(density.begin(), density.end(), sum);
    count += length;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

BehaviorClone CloneBehavior(const EpisodeBatch& log, const ActionBounds& bounds,
                            const CloningOptions& options, std::uint64_t seed, const FitRun& run) {
  LFIW_ASSERT(bounds.low.size() == log.action_dim() && bounds.high.size() == log.action_dim());
  CheckOptions(options, bounds);
  const EpisodeSplit split = SplitEpisodes(IndexList(log.episodes()), options.validation_share,
                                           Stream(seed, "clone validation episodes"), kName);
  const Scaler scaler = TransitionView(log, split.train, TransitionRows::kAllSteps)
                            .FitScaler(TransitionPart::kState, options.scaler);
  const CloningRows train(log, split.train, scaler, options.kind, bounds);
  const CloningRows held_out(log, split.validation, scaler, options.kind, bounds);
  FitRows validation;
  held_out.Gather(Subsample(IndexList(held_out.size()), options.validation_rows,
                            Stream(seed, "clone validation rows")),
                  validation);

  std::optional<GaussianTargets> how;
  if (options.kind != CloneKind::kCategorical) how = MakeTargets(train.targets(), bounds, options);
  Mlp network(scaler.active_dim(), (how ? 2 : 1) * log.action_dim(), options.network,
              Stream(seed, "clone weights"));
  const std::string rows = RowsText(train, validation.inputs.rows(), bounds);
  RowFit problem(network, DrawFrom(train, options.fit.batch, Stream(seed, "clone batch")),
                 LossOf(how), std::move(validation));
  problem.set_training_rows(train.size());
  const FitJob job = FitJob::Of(run, kName, FitIdentity(options, seed, rows), "behavior_clone.npz");
  CloningSummary summary{.fit = Fit(problem, options.fit, job),
                         .train_episodes = std::ssize(split.train),
                         .validation_episodes = std::ssize(split.validation),
                         .constant_obs_dims = scaler.Constant()};
  BehaviorClone clone{MakePolicy(network, scaler, how, bounds, options), std::move(summary)};
  clone.summary.held_out_log_likelihood =
      MeanLogDensity(*clone.policy, log, split.validation, bounds);
  return clone;
}

}  // namespace lfiw::policies
