#include "core/logs/episode_batch.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lfiw::core {
namespace {

std::int64_t TotalSteps(const EpisodeBatch& log, std::span<const std::int64_t> episodes) {
  std::int64_t steps = 0;
  for (const std::int64_t e : episodes) steps += log.Length(e);
  return steps;
}

// First non-finite value of `row`, or -1.
std::int64_t FirstNonFinite(const MatrixF& values, std::int64_t row) {
  for (Eigen::Index j = 0; j < values.cols(); ++j) {
    if (!std::isfinite(values(row, j))) return j;
  }
  return -1;
}

// Leaves end_unrecorded empty where no end is.
void ForgetRecordedEnds(EpisodeBatch& log) {
  if (std::ranges::find(log.end_unrecorded, 1) == log.end_unrecorded.end()) {
    log.end_unrecorded.clear();
  }
}

void ValidateShapes(const EpisodeBatch& log, const std::string& source) {
  const std::int64_t steps = log.steps();
  const auto expect = [&](std::int64_t rows, std::int64_t expected, const char* what) {
    if (rows != expected) {
      Throw<DataError>("{}: {} has {} rows, expected {} ({} episodes, {} steps)", source, what,
                       rows, expected, log.episodes(), steps);
    }
  };
  expect(log.observations.rows(), steps + log.episodes(), "observations");
  expect(log.actions.rows(), steps, "actions");
  if (log.aux.cols() > 0) expect(log.aux.rows(), steps, "aux");
  expect(static_cast<std::int64_t>(log.rewards.size()), steps, "rewards");
  expect(static_cast<std::int64_t>(log.terminated.size()), log.episodes(), "terminated");
  if (!log.end_unrecorded.empty()) {
    expect(static_cast<std::int64_t>(log.end_unrecorded.size()), log.episodes(), "end_unrecorded");
  }
  if (!log.behavior_log_density.empty()) {
    expect(static_cast<std::int64_t>(log.behavior_log_density.size()), steps,
           "behavior_log_density");
  }
}

void ValidateStep(const EpisodeBatch& log, const std::string& source, std::int64_t episode,
                  std::int64_t t) {
  const std::int64_t step = log.offsets[static_cast<std::size_t>(episode)] + t;
  const auto reject = [&](const char* what, std::int64_t column) {
    Throw<DataError>("{}: episode {}, step {}: {}[{}] is not a finite number", source, episode, t,
                     what, column);
  };
  if (const auto j = FirstNonFinite(log.actions, step); j >= 0) reject("action", j);
  if (log.aux.cols() > 0) {
    if (const auto j = FirstNonFinite(log.aux, step); j >= 0) reject("aux", j);
  }
  if (!std::isfinite(log.rewards[static_cast<std::size_t>(step)])) reject("reward", 0);
}

}  // namespace

Transitions GatherTransitions(const EpisodeBatch& log, std::span<const std::int64_t> episodes) {
  std::int64_t n = 0;
  for (const std::int64_t e : episodes) n += log.Outcomes(e);
  Transitions out{MatrixF(n, log.obs_dim()), MatrixF(n, log.action_dim()),
                  MatrixF(n, log.obs_dim()), MatrixF(n, log.aux_dim())};
  std::int64_t row = 0;
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Outcomes(e);
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    const std::int64_t observation = log.ObservationRow(e, 0);
    out.states.middleRows(row, length) = log.observations.middleRows(observation, length);
    out.next_states.middleRows(row, length) = log.observations.middleRows(observation + 1, length);
    out.actions.middleRows(row, length) = log.actions.middleRows(first, length);
    if (log.aux_dim() > 0) out.aux.middleRows(row, length) = log.aux.middleRows(first, length);
    row += length;
  }
  return out;
}

EpisodeBatch SelectEpisodes(const EpisodeBatch& log, std::span<const std::int64_t> episodes) {
  const std::int64_t steps = TotalSteps(log, episodes);
  const auto count = static_cast<std::int64_t>(episodes.size());
  EpisodeBatch out;
  out.observations.resize(steps + count, log.obs_dim());
  out.actions.resize(steps, log.action_dim());
  out.aux.resize(steps, log.aux_dim());
  for (const std::int64_t e : episodes) {
    const std::int64_t length = log.Length(e);
    const std::int64_t from = log.offsets[static_cast<std::size_t>(e)];
    const std::int64_t to = out.steps();
    const std::int64_t row = to + out.episodes();
    out.observations.middleRows(row, length + 1) =
        log.observations.middleRows(log.ObservationRow(e, 0), length + 1);
    out.actions.middleRows(to, length) = log.actions.middleRows(from, length);
    if (log.aux_dim() > 0) out.aux.middleRows(to, length) = log.aux.middleRows(from, length);
    const auto append = [&](const std::vector<double>& source, std::vector<double>& target) {
      if (source.empty()) return;
      target.insert(target.end(), source.begin() + from, source.begin() + from + length);
    };
    append(log.rewards, out.rewards);
    append(log.behavior_log_density, out.behavior_log_density);
    out.offsets.push_back(to + length);
    out.terminated.push_back(log.terminated[static_cast<std::size_t>(e)]);
    out.end_unrecorded.push_back(log.EndRecorded(e) ? 0 : 1);
  }
  ForgetRecordedEnds(out);
  return out;
}

EpisodeBatch ConcatenateEpisodes(std::span<const EpisodeBatch> batches) {
  EpisodeBatch out;
  if (batches.empty()) return out;
  std::int64_t steps = 0;
  std::int64_t episodes = 0;
  for (const EpisodeBatch& batch : batches) {
    steps += batch.steps();
    episodes += batch.episodes();
  }
  const EpisodeBatch& first = batches.front();
  out.observations.resize(steps + episodes, first.obs_dim());
  out.actions.resize(steps, first.action_dim());
  out.aux.resize(steps, first.aux_dim());
  for (const EpisodeBatch& batch : batches) {
    LFIW_ASSERT(batch.obs_dim() == first.obs_dim() && batch.action_dim() == first.action_dim());
    LFIW_ASSERT(batch.aux_dim() == first.aux_dim());
    const std::int64_t at = out.steps();
    out.observations.middleRows(at + out.episodes(), batch.observations.rows()) =
        batch.observations;
    out.actions.middleRows(at, batch.steps()) = batch.actions;
    if (out.aux_dim() > 0) out.aux.middleRows(at, batch.steps()) = batch.aux;
    const auto append = [](const auto& from, auto& to) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(batch.rewards, out.rewards);
    append(batch.behavior_log_density, out.behavior_log_density);
    append(batch.terminated, out.terminated);
    for (std::int64_t e = 0; e < batch.episodes(); ++e) {
      out.end_unrecorded.push_back(batch.EndRecorded(e) ? 0 : 1);
    }
    for (std::size_t e = 1; e < batch.offsets.size(); ++e) {
      out.offsets.push_back(at + batch.offsets[e]);
    }
  }
  ForgetRecordedEnds(out);
  return out;
}

std::vector<double> Returns(const EpisodeBatch& log, double discount) {
  std::vector<double> returns(static_cast<std::size_t>(log.episodes()), 0.0);
  for (std::size_t e = 0; e < returns.size(); ++e) {
    double factor = 1.0;
    for (std::int64_t step = log.offsets[e]; step < log.offsets[e + 1]; ++step) {
      returns[e] += factor * log.rewards[static_cast<std::size_t>(step)];
      factor *= discount;
    }
  }
  return returns;
}

void Validate(const EpisodeBatch& log, const std::string& source) {
  ValidateShapes(log, source);
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t <= log.Length(e); ++t) {
      if (const auto j = FirstNonFinite(log.observations, log.ObservationRow(e, t)); j >= 0) {
        Throw<DataError>("{}: episode {}, step {}: observation[{}] is not a finite number", source,
                         e, t, j);
      }
      if (t < log.Length(e)) ValidateStep(log, source, e, t);
    }
  }
}

}  // namespace lfiw::core
