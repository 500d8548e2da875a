#ifndef LFIW_CORE_LOGS_EPISODE_BATCH_H_
#define LFIW_CORE_LOGS_EPISODE_BATCH_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/matrix.h"

namespace lfiw::core {

// Logged episodes, flat. Episode e has Length(e) steps and Length(e) + 1 observations, so the next
// state of every step is its episode's own and never the next episode's first. Where the log lacks
// the observation after the last step of an episode, the one before it stands there again: the step
// counts with its action, reward and end, but it is no transition (Outcomes).
struct EpisodeBatch {
  // Rows [steps + episodes, obs_dim]: the observations of all episodes, one after the other.
  MatrixF observations;
  // [steps, action_dim]: the executed actions, inside the environment's bounds.
  MatrixF actions;
  // [steps, aux_dim]: further outcomes of a step that the reward needs and the next observation
  // lacks (the forward displacement of Swimmer and HalfCheetah). aux_dim may be 0.
  MatrixF aux;
  // [steps]
  std::vector<double> rewards;
  // [steps]: log-density (or log-probability) of the behavior policy at the executed action; empty
  // if unknown.
  std::vector<double> behavior_log_density;
  // [episodes + 1]: first step of each episode; the last entry is the number of steps.
  std::vector<std::int64_t> offsets = {0};
  // [episodes]: 1 where the environment ended the episode, 0 where a time limit cut it.
  std::vector<std::uint8_t> terminated;
  // [episodes], or empty where every end is recorded: 1 where the last observation (or aux) of an
  // episode is not recorded.
  std::vector<std::uint8_t> end_unrecorded = {};

  std::int64_t episodes() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  std::int64_t steps() const { return offsets.back(); }
  std::int64_t obs_dim() const { return observations.cols(); }
  std::int64_t action_dim() const { return actions.cols(); }
  std::int64_t aux_dim() const { return aux.cols(); }
  std::int64_t Length(std::int64_t episode) const {
    const auto e = static_cast<std::size_t>(episode);
    return offsets[e + 1] - offsets[e];
  }
  bool EndRecorded(std::int64_t episode) const {
    return end_unrecorded.empty() || end_unrecorded[static_cast<std::size_t>(episode)] == 0;
  }
  // Steps of an episode whose next observation is recorded: its first ones.
  std::int64_t Outcomes(std::int64_t episode) const {
    return Length(episode) - (EndRecorded(episode) ? 0 : 1);
  }
  // Steps of an episode within a horizon that have a reward and, unless nothing follows them there,
  // a next observation: all but the last one of an episode that was cut before the horizon without
  // it.
  std::int64_t UsableSteps(std::int64_t episode, std::int64_t horizon) const {
    const std::int64_t length = Length(episode);
    if (length >= horizon) return horizon;
    return terminated[static_cast<std::size_t>(episode)] != 0 ? length : Outcomes(episode);
  }
  // Row of `observations` that holds the state before step `t` of `episode`; the state after it is
  // the next row. t in 0..Length(episode).
  std::int64_t ObservationRow(std::int64_t episode, std::int64_t t) const {
    return offsets[static_cast<std::size_t>(episode)] + episode + t;
  }
};

// The (s, a, s', aux) rows of some episodes, gathered in order for training.
struct Transitions {
  MatrixF states;       // [n, obs_dim]
  MatrixF actions;      // [n, action_dim]
  MatrixF next_states;  // [n, obs_dim]
  MatrixF aux;          // [n, aux_dim]
  std::int64_t size() const { return states.rows(); }
};

// Gathers every step of the listed episodes whose next observation is recorded, in the order given
// (an episode may occur repeatedly, as in a bootstrap).
Transitions GatherTransitions(const EpisodeBatch& log, std::span<const std::int64_t> episodes);

// The listed episodes as a batch of their own.
EpisodeBatch SelectEpisodes(const EpisodeBatch& log, std::span<const std::int64_t> episodes);

// The episodes of several batches one after the other. Their sizes must agree, and either all or
// none have behavior densities. No batches give an empty one.
EpisodeBatch ConcatenateEpisodes(std::span<const EpisodeBatch> batches);

// Sum of rewards of each episode, [episodes], discounted by `discount` per step.
std::vector<double> Returns(const EpisodeBatch& log, double discount = 1.0);

// Throws DataError when shapes disagree or a value is NaN or infinite; names episode and step.
void Validate(const EpisodeBatch& log, const std::string& source);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_EPISODE_BATCH_H_
