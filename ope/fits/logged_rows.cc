#include "ope/fits/logged_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"

namespace lfiw::ope {

std::int64_t StepsWithin(const EpisodeBatch& log, std::int64_t episode, const Estimand& estimand) {
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  return log.UsableSteps(episode, estimand.horizon.value_or(kNoEnd));
}

LoggedRows RowsOf(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                  const Estimand& estimand) {
  LoggedRows rows;
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Length(e), steps = StepsWithin(log, e, estimand);
    for (std::int64_t t = 0; t < steps; ++t) {
      rows.state.push_back(log.ObservationRow(e, t));
      rows.action.push_back(log.offsets[static_cast<std::size_t>(e)] + t);
      rows.step.push_back(estimand.horizon ? t : 0);
      rows.real_step.push_back(t);
      const bool terminal = t + 1 == length && log.terminated[static_cast<std::size_t>(e)] != 0;
      rows.terminal.push_back(terminal ? 1 : 0);
      rows.last.push_back(terminal || (estimand.horizon && t + 1 == *estimand.horizon) ? 1 : 0);
    }
  }
  return rows;
}

std::vector<std::int64_t> NonEmptyEpisodes(const EpisodeBatch& log) {
  std::vector<std::int64_t> episodes;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (log.Length(e) > 0) episodes.push_back(e);
  }
  return episodes;
}

std::vector<std::int64_t> Picked(const std::vector<std::int64_t>& values,
                                 std::span<const std::int64_t> picked, std::int64_t shift) {
  std::vector<std::int64_t> out;
  for (const std::int64_t row : picked)
    out.push_back(values[static_cast<std::size_t>(row)] + shift);
  return out;
}

std::vector<std::int64_t> Repeated(const std::vector<std::int64_t>& values, std::int64_t times) {
  std::vector<std::int64_t> out;
  for (const std::int64_t value : values) {
    out.insert(out.end(), static_cast<std::size_t>(times), value);
  }
  return out;
}

MatrixF StatesAndActions(const EpisodeBatch& log, const LoggedRows& rows,
                         std::span<const std::int64_t> picked) {
  MatrixF out(std::ssize(picked), log.obs_dim() + log.action_dim());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
    out.row(i).head(log.obs_dim()) = log.observations.row(rows.state[row]);
    out.row(i).tail(log.action_dim()) = log.actions.row(rows.action[row]);
  }
  return out;
}

Scaler FitPairScaler(const EpisodeBatch& log, const LoggedRows& rows,
                     const ScalerOptions& options) {
  const auto read = [&](std::int64_t i, VectorF& pair) {
    const auto row = static_cast<std::size_t>(i);
    pair.head(log.obs_dim()) = log.observations.row(rows.state[row]).transpose();
    pair.tail(log.action_dim()) = log.actions.row(rows.action[row]).transpose();
  };
  return Scaler::Fit(rows.size(), log.obs_dim() + log.action_dim(), read, options);
}

MatrixF NextStates(const EpisodeBatch& log, const LoggedRows& rows,
                   std::span<const std::int64_t> picked) {
  MatrixF out(std::ssize(picked), log.obs_dim());
  for (Eigen::Index i = 0; i < out.rows(); ++i) {
    const auto row = static_cast<std::size_t>(picked[static_cast<std::size_t>(i)]);
    // nothing is asked of what follows a last step, where a policy may be undefined
    out.row(i) = log.observations.row(rows.state[row] + (rows.last[row] != 0 ? 0 : 1));
  }
  return out;
}

std::vector<std::int64_t> NextSteps(const LoggedRows& rows, std::span<const std::int64_t> picked,
                                    std::int64_t steps) {
  std::vector<std::int64_t> out;
  for (const std::int64_t row : picked) {
    out.push_back(std::min(rows.step[static_cast<std::size_t>(row)] + 1, steps - 1));
  }
  return out;
}

MatrixF WithDrawnActions(const LoggedProblem& problem, ConstMatrixRef states,
                         std::span<const std::int64_t> real_steps, std::int64_t draws,
                         Stream& stream) {
  const Policy& policy = problem.policy;
  const std::int64_t n = states.rows() * draws;
  MatrixF repeated(n, states.cols()), actions(n, policy.action_dim());
  std::vector<std::int64_t> at;
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    repeated.middleRows(i * draws, draws).rowwise() = states.row(i);
    at.insert(at.end(), static_cast<std::size_t>(draws), real_steps[static_cast<std::size_t>(i)]);
  }
  MatrixF noise(n, policy.noise_dim());
  stream.FillNormal(std::span(noise.data(), static_cast<std::size_t>(noise.size())));
  policy.Sample(repeated, at, noise, actions);
  if (policy.discrete_actions() == 0) ClipActions(problem.spec, actions);
  MatrixF out(n, states.cols() + actions.cols());
  out << repeated, actions;
  return out;
}

std::vector<double> ReturnsToGo(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                const Estimand& estimand) {
  std::vector<double> out;
  for (const std::int64_t e : episodes) {
    const std::int64_t steps = StepsWithin(log, e, estimand);
    const auto first = static_cast<std::size_t>(log.offsets[static_cast<std::size_t>(e)]);
    std::vector<double> to_go(static_cast<std::size_t>(steps) + 1, 0.0);
    for (auto t = static_cast<std::size_t>(steps); t-- > 0;) {
      to_go[t] = log.rewards[first + t] + estimand.discount * to_go[t + 1];
    }
    out.insert(out.end(), to_go.begin(), to_go.end() - 1);
  }
  return out;
}

StepScales MeasureScales(const LoggedRows& rows, const std::vector<double>& values,
                         std::int64_t steps) {
  const auto count = static_cast<std::size_t>(steps);
  std::vector<double> sum(count), squares(count), n(count);
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto t = static_cast<std::size_t>(rows.step[i]);
    sum[t] += values[i];
    n[t] += 1.0;
    largest = std::max(largest, std::abs(values[i]));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto t = static_cast<std::size_t>(rows.step[i]);
    squares[t] += std::pow(values[i] - sum[t] / n[t], 2);
  }
  StepScales scales;
  for (std::size_t t = 0; t < count; ++t) {
    const double counted = std::max(1.0, n[t]);
    scales.centers.push_back(sum[t] / counted);
    // values that hardly vary still leave room for those of another policy
    scales.widths.push_back(std::max({std::sqrt(squares[t] / counted), 1e-3 * largest, 1e-6}));
  }
  return scales;
}

std::vector<double> CarriedSteps(const LoggedRows& rows, const Estimand& estimand) {
  std::vector<double> out(static_cast<std::size_t>(rows.size()), 1.0);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (rows.terminal[i] == 0) continue;
    out[i] = estimand.horizon ? static_cast<double>(*estimand.horizon - rows.step[i])
                              : 1.0 / (1.0 - estimand.discount);
  }
  return out;
}

ValueArrays ValuesOnLog(const QFunction& q, const LoggedProblem& problem,
                        std::span<const std::int64_t> episodes, std::int64_t columns,
                        std::int64_t draws, const Stream& stream) {
  const EpisodeBatch& log = problem.log;
  const Estimand& estimand = problem.estimand;
  const std::int64_t n = std::ssize(episodes);
  ValueArrays out{Array<double, 2>({n, columns}), Array<double, 2>({n, columns + 1}), {}};
  ParallelFor(n, [&](std::int64_t i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    const std::array<std::int64_t, 1> one = {e};
    const LoggedRows rows = RowsOf(log, one, estimand);
    if (rows.size() == 0) return;
    const std::vector<std::int64_t> all = IndexList(rows.size());
    q(StatesAndActions(log, rows, all), rows.step, out.q.Row(i).first(all.size()));

    // the state after the last step has a value too unless nothing follows
    const std::int64_t states = rows.size() + (rows.last.back() != 0 ? 0 : 1);
    const MatrixF observations = log.observations.middleRows(log.ObservationRow(e, 0), states);
    const std::vector<std::int64_t> real_steps = IndexList(states);
    const std::vector<std::int64_t> steps =
        estimand.horizon ? real_steps : std::vector<std::int64_t>(real_steps.size(), 0);
    Stream actions = stream.Child(static_cast<std::uint64_t>(e));
    std::vector<double> values(static_cast<std::size_t>(states * draws));
    q(WithDrawnActions(problem, observations, real_steps, draws, actions), Repeated(steps, draws),
      values);
    for (std::int64_t t = 0; t < states; ++t) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < draws; ++k) {
        sum += values[static_cast<std::size_t>(t * draws + k)];
      }
      out.v(i, t) = sum / static_cast<double>(draws);
    }
  });
  return out;
}

std::string DescribeProblem(const LoggedProblem& problem, const LoggedRows& train) {
  const Estimand& estimand = problem.estimand;
  return fmt::format("{} of {} steps; horizon {}; discount {}; policy {}", train.size(),
                     problem.log.steps(),
                     estimand.horizon ? fmt::format("{}", *estimand.horizon) : "infinite",
                     estimand.discount, problem.policy.Description());
}

void RequireDiscount(const Estimand& estimand) {
  if (estimand.horizon || estimand.discount < 1.0) return;
  Throw<ConfigError>("value.discount: {}, expected less than 1 for an infinite horizon",
                     estimand.discount);
}

}  // namespace lfiw::ope
