#include "models/dynamics_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace lfiw::models {
namespace {

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

// The beginning of a stretch of logged steps.
struct Window {
  std::int64_t episode;
  std::int64_t t;
};

std::vector<Window> CutWindows(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                               std::int64_t length) {
  std::vector<Window> windows;
  for (const std::int64_t e : episodes) {
    for (std::int64_t t = 0; t < log.Length(e); t += length) windows.push_back({e, t});
  }
  return windows;
}

bool Lasts(const EpisodeBatch& log, const Window& window, std::int64_t k) {
  return window.t + k < log.Length(window.episode);
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
  const Transitions data = GatherTransitions(log, episodes);
  if (data.size() == 0) Throw<DataError>("dynamics errors: no steps in the test episodes");
  const auto n = static_cast<std::size_t>(data.size());
  const MatrixD truth = Outcomes(ensemble.scalers(), data.states, data.next_states, data.aux);
  MatrixD mean = MatrixD::Zero(truth.rows(), truth.cols());
  MatrixF next_states(data.size(), ensemble.obs_dim()), aux(data.size(), ensemble.aux_dim());
  for (std::int64_t k = 0; k < ensemble.members(); ++k) {
    ensemble.Mean(data.states, data.actions, std::vector<std::int64_t>(n, k), next_states, aux);
    mean += Outcomes(ensemble.scalers(), data.states, next_states, aux);
  }
  mean /= static_cast<double>(ensemble.members());

  DynamicsErrors errors{.steps = data.size(), .r2 = {}, .mixture_nll = {}};
  for (Eigen::Index j = 0; j < truth.cols(); ++j) {
    const double spread = (truth.col(j).array() - truth.col(j).mean()).square().sum();
    const double residual = (truth.col(j) - mean.col(j)).squaredNorm();
    errors.r2.push_back(spread > 0.0 ? 1.0 - residual / spread : 0.0);
  }
  if (ensemble.kind() == DynamicsKind::kGaussian) {
    std::vector<double> log_density(n);
    ensemble.MixtureLogDensity(data.states, data.actions, data.next_states, data.aux, log_density);
    errors.mixture_nll =
        -std::accumulate(log_density.begin(), log_density.end(), 0.0) / static_cast<double>(n);
  }
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
    states.swap(next_states);
    errors.push_back(RmsError(ensemble.scalers(), log, windows, states, k));
  }
  return errors;
}

}  // namespace lfiw::models
