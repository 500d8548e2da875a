#include "models/dynamics_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"
#include "models/transition_view.h"

namespace lfiw::models {
namespace {

// The share of the range of the logged states by which predicted ones may leave it.
constexpr float kMargin = 0.1f;

// The learned outcomes (change of state, aux) of some transitions, [n, outcome_dim], in double.
MatrixD Outcomes(const DynamicsScalers& scalers, const MatrixF& states, const MatrixF& next_states,
                 const MatrixF& aux) {
  MatrixD outcomes(states.rows(), scalers.outcome_dim());
  Eigen::Index column = 0;
  for (const std::int64_t j : scalers.changes.active()) {
    outcomes.col(column++) = next_states.col(j).cast<double>() - states.col(j).cast<double>();
  }
  for (const std::int64_t j : scalers.aux.active()) {
    outcomes.col(column++) = aux.col(j).cast<double>();
  }
  return outcomes;
}

// The mean of each outcome over all rows, [outcome_dim].
VectorD MeanOutcomes(const DynamicsScalers& scalers, const TransitionView& data) {
  VectorD sum = VectorD::Zero(scalers.outcome_dim());
  ForEachBlock(data, [&](std::int64_t /*begin*/, const Transitions& block) {
    const MatrixD truth = Outcomes(scalers, block.states, block.next_states, block.aux);
    for (Eigen::Index i = 0; i < truth.rows(); ++i) sum += truth.row(i).transpose();
  });
  return sum / static_cast<double>(data.size());
}

// The average of the members' predicted outcomes, [n, outcome_dim].
MatrixD EnsembleMean(const DynamicsEnsemble& ensemble, const Transitions& rows) {
  const auto n = static_cast<std::size_t>(rows.size());
  MatrixD mean = MatrixD::Zero(rows.size(), ensemble.outcome_dim());
  MatrixF next_states(rows.size(), ensemble.obs_dim()), aux(rows.size(), ensemble.aux_dim());
  for (std::int64_t k = 0; k < ensemble.members(); ++k) {
    ensemble.Mean(rows.states, rows.actions, std::vector<std::int64_t>(n, k), next_states, aux);
    mean += Outcomes(ensemble.scalers(), rows.states, next_states, aux);
  }
  return mean / static_cast<double>(ensemble.members());
}

// The beginning of a stretch of logged steps.
struct Window {
  std::int64_t episode;
  std::int64_t t;
};

std::vector<Window> CutWindows(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                               std::int64_t length) {
  std::vector<Window> windows;
  for (const std::int64_t e : episodes) {
    for (std::int64_t t = 0; t < log.Outcomes(e); t += length) windows.push_back({e, t});
  }
  return windows;
}

bool Lasts(const EpisodeBatch& log, const Window& window, std::int64_t k) {
  return window.t + k < log.Outcomes(window.episode);
}

// Root mean square over the learned dimensions of the windows that last beyond step k of the
// distance of `states` to the logged states, in standard deviations.
double RmsError(const DynamicsScalers& scalers, const EpisodeBatch& log,
                const std::vector<Window>& windows, const MatrixF& states, std::int64_t k) {
  double sum = 0.0, count = 0.0;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    const Window& w = windows[static_cast<std::size_t>(i)];
    if (!Lasts(log, w, k)) continue;
    const std::int64_t row = log.ObservationRow(w.episode, w.t + k + 1);
    for (const std::int64_t j : scalers.changes.active()) {
      const auto error =
          static_cast<double>(states(i, j)) - static_cast<double>(log.observations(row, j));
      const float unit = std::max(scalers.states.deviation()(j), scalers.changes.deviation()(j));
      sum += std::pow(error / static_cast<double>(unit), 2);
      count += 1.0;
    }
  }
  if (count == 0.0) return std::numeric_limits<double>::quiet_NaN();
  return std::isnan(sum) ? std::numeric_limits<double>::infinity() : std::sqrt(sum / count);
}

}  // namespace

DynamicsErrors OneStepErrors(const DynamicsEnsemble& ensemble, const EpisodeBatch& log,
                             std::span<const std::int64_t> episodes) {
  const TransitionView data(log, episodes);
  if (data.size() == 0) Throw<DataError>("dynamics errors: no steps in the test episodes");
  const auto n = static_cast<double>(data.size());
  DynamicsErrors errors{.steps = data.size(), .r2 = {}, .mixture_nll = {}};
  const VectorD mean = MeanOutcomes(ensemble.scalers(), data);
  VectorD spread = VectorD::Zero(mean.size()), residual = VectorD::Zero(mean.size());
  double log_density = 0.0;
  ForEachBlock(data, [&](std::int64_t /*begin*/, const Transitions& block) {
    const MatrixD truth = Outcomes(ensemble.scalers(), block.states, block.next_states, block.aux);
    const MatrixD predicted = EnsembleMean(ensemble, block);
    const MatrixD deviations = (truth.rowwise() - mean.transpose()).cwiseAbs2();
    const MatrixD errors_squared = (truth - predicted).cwiseAbs2();
    for (Eigen::Index i = 0; i < truth.rows(); ++i) {
      spread += deviations.row(i).transpose();
      residual += errors_squared.row(i).transpose();
    }
    if (ensemble.kind() == DynamicsKind::kGaussian) {
      std::vector<double> densities(static_cast<std::size_t>(block.size()));
      ensemble.MixtureLogDensity(block.states, block.actions, block.next_states, block.aux,
                                 densities);
      log_density = std::accumulate(densities.begin(), densities.end(), log_density);
    }
  });
  for (Eigen::Index j = 0; j < mean.size(); ++j) {
    errors.r2.push_back(spread(j) > 0.0 ? 1.0 - residual(j) / spread(j) : 0.0);
  }
  if (ensemble.kind() == DynamicsKind::kGaussian) errors.mixture_nll = -log_density / n;
  return errors;
}

std::vector<double> OpenLoopError(const DynamicsEnsemble& ensemble, const EpisodeBatch& log,
                                  std::span<const std::int64_t> episodes, std::int64_t max_k) {
  LFIW_ASSERT(max_k >= 1);
  std::vector<Window> windows = CutWindows(log, episodes, max_k);
  std::vector<std::int64_t> member(windows.size());
  for (std::size_t i = 0; i < windows.size(); ++i) {
    member[i] = static_cast<std::int64_t>(i) % ensemble.members();
  }
  MatrixF states(std::ssize(windows), ensemble.obs_dim());
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    const Window& w = windows[static_cast<std::size_t>(i)];
    states.row(i) = log.observations.row(log.ObservationRow(w.episode, w.t));
  }
  const Eigen::RowVectorXf low = log.observations.colwise().minCoeff();
  const Eigen::RowVectorXf high = log.observations.colwise().maxCoeff();
  const Eigen::RowVectorXf margin = kMargin * (high - low);
  std::vector<double> errors;
  MatrixF actions = MatrixF::Zero(states.rows(), ensemble.action_dim());
  MatrixF next_states(states.rows(), ensemble.obs_dim()), aux(states.rows(), ensemble.aux_dim());
  for (std::int64_t k = 0; k < max_k; ++k) {
    // windows that have ended keep their last action; they are predicted but not counted
    for (Eigen::Index i = 0; i < states.rows(); ++i) {
      const Window& w = windows[static_cast<std::size_t>(i)];
      if (!Lasts(log, w, k)) continue;
      actions.row(i) = log.actions.row(log.offsets[static_cast<std::size_t>(w.episode)] + w.t + k);
    }
    ensemble.Mean(states, actions, member, next_states, aux);
    // written so that what is not a number stays one
    states = (next_states.array() < (low - margin).replicate(next_states.rows(), 1).array())
                 .select((low - margin).replicate(next_states.rows(), 1), next_states);
    states = (states.array() > (high + margin).replicate(states.rows(), 1).array())
                 .select((high + margin).replicate(states.rows(), 1), states);
    errors.push_back(RmsError(ensemble.scalers(), log, windows, states, k));
  }
  return errors;
}

}  // namespace lfiw::models
