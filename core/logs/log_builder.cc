#include "core/logs/log_builder.h"

#include <algorithm>

#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kMaxEpisodeBytes = std::int64_t{256} << 20;

void AppendRows(const MatrixF& from, std::int64_t rows, std::vector<float>& to) {
  to.insert(to.end(), from.data(), from.data() + rows * from.cols());
}

MatrixF AsMatrix(std::vector<float>& values, std::int64_t rows, std::int64_t cols) {
  MatrixF matrix = Eigen::Map<const MatrixF>(values.data(), rows, cols);
  std::vector<float>().swap(values);
  return matrix;
}

// Whether the outcome of the last step is known. Writers mark an end that the log lacks by NaN.
bool IsWhole(const RawEpisode& episode, std::int64_t aux_dim) {
  if (episode.observations.rows() == episode.steps()) return false;
  if (aux_dim > 0 && episode.aux.rows() < episode.steps()) return false;
  return episode.steps() == 0 || !episode.observations.bottomRows(1).array().isNaN().all();
}

}  // namespace

void LogBuilder::CheckShapes(const RawEpisode& episode) const {
  const std::int64_t steps = episode.steps();
  const auto expect = [&](bool fits, const char* what, std::int64_t found) {
    if (fits) return;
    Throw<DataError>("{}: {} {} of {} steps", episode.name, found, what, steps);
  };
  const std::int64_t observations = episode.observations.rows();
  expect(observations == steps || observations == steps + 1, "observations", observations);
  const auto rewards = static_cast<std::int64_t>(episode.rewards.size());
  expect(rewards == steps, "rewards", rewards);
  const auto densities = static_cast<std::int64_t>(episode.behavior_log_density.size());
  expect(densities == steps || densities == 0, "behavior densities", densities);
  expect(episode.observations.cols() == info_.obs_dim, "numbers in an observation",
         episode.observations.cols());
  if (aux_dim_ > 0) {
    const std::int64_t aux = episode.aux.rows();
    expect(aux == steps || aux == steps - 1, "rows of aux", aux);
    expect(episode.aux.cols() == aux_dim_, "numbers in aux", episode.aux.cols());
  }
  expect(episode.actions.cols() == info_.action_dim, "numbers in an action",
         episode.actions.cols());
}

void LogBuilder::Append(const RawEpisode& episode) {
  CheckShapes(episode);
  const bool whole = IsWhole(episode, aux_dim_);
  const std::int64_t steps = episode.steps();
  counts_.file_steps += steps;
  if (steps <= 0) {
    ++counts_.discarded_episodes;
    return;
  }
  const std::int64_t outcomes = steps - (whole ? 0 : 1);
  AppendRows(episode.observations, outcomes + 1, observations_);
  AppendRows(episode.actions, steps, actions_);
  if (aux_dim_ > 0) AppendRows(episode.aux, std::min(outcomes, steps), aux_);
  if (outcomes < steps) {
    // stands for the observation after the end, which no fit may take for an outcome
    const MatrixF last = episode.observations.row(steps - 1);
    AppendRows(last, 1, observations_);
    aux_.insert(aux_.end(), static_cast<std::size_t>(aux_dim_), 0.0f);
    ++(episode.terminated ? counts_.unrecorded_ends : counts_.unrecorded_cuts);
  }
  const auto append = [steps](const std::vector<double>& from, std::vector<double>& to) {
    if (!from.empty()) to.insert(to.end(), from.begin(), from.begin() + steps);
  };
  append(episode.rewards, batch_.rewards);
  append(episode.behavior_log_density, batch_.behavior_log_density);
  batch_.offsets.push_back(batch_.offsets.back() + steps);
  batch_.terminated.push_back(episode.terminated ? 1 : 0);
  batch_.end_unrecorded.push_back(outcomes < steps ? 1 : 0);
}

EpisodeBatch LogBuilder::Finish() {
  const std::int64_t steps = batch_.steps();
  batch_.observations = AsMatrix(observations_, steps + batch_.episodes(), info_.obs_dim);
  batch_.actions = AsMatrix(actions_, steps, info_.action_dim);
  batch_.aux = AsMatrix(aux_, steps, aux_dim_);
  const auto& unrecorded = batch_.end_unrecorded;
  if (std::ranges::find(unrecorded, 1) == unrecorded.end()) batch_.end_unrecorded.clear();
  return std::move(batch_);
}

void AddNote(LogInfo& info, const std::string& text) {
  // what it quotes of the file is printed
  const std::string line = OneLine(text);
  if (std::find(info.notes.begin(), info.notes.end(), line) == info.notes.end()) {
    info.notes.push_back(line);
  }
}

void NoteUnrecordedEnds(LogInfo& info, const LogCounts& counts) {
  if (counts.unrecorded_cuts > 0) {
    AddNote(info,
            fmt::format("{} episodes are cut without an observation after their last step: its "
                        "reward counts, the models do not learn from it",
                        counts.unrecorded_cuts));
  }
  if (counts.unrecorded_ends > 0) {
    AddNote(info, fmt::format(
                      "{} episodes terminate without an observation after their last step: its "
                      "reward and the end count, the model of the dynamics does not learn from it",
                      counts.unrecorded_ends));
  }
  if (counts.discarded_episodes > 0) {
    AddNote(info,
            fmt::format("{} episodes without a usable step left out", counts.discarded_episodes));
  }
}

MatrixF OneHot(const std::vector<std::int64_t>& index, std::int64_t actions,
               const std::string& where) {
  MatrixF rows = MatrixF::Zero(static_cast<Eigen::Index>(index.size()), actions);
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= actions) {
      Throw<DataError>("{}: action {} in row {}, expected 0 to {}", where, index[i], i,
                       actions - 1);
    }
    rows(static_cast<Eigen::Index>(i), index[i]) = 1.0f;
  }
  return rows;
}

void CheckEpisodeSize(std::int64_t steps, std::int64_t width, const std::string& where) {
  if (width <= 0 || steps < 0) return;
  if (steps > kMaxEpisodeBytes / 4 / width) {
    Throw<DataError>(
        "{}: an episode of {} steps and {} numbers a step exceeds the limit of {} MiB; does the "
        "file mark where episodes end? (--max-episode-steps cuts a file without time limits)",
        where, steps, width, kMaxEpisodeBytes >> 20);
  }
}

std::int64_t GuessTimeLimit(const std::vector<std::int64_t>& lengths) {
  if (lengths.empty()) return 0;
  const std::int64_t longest = *std::max_element(lengths.begin(), lengths.end());
  return std::count(lengths.begin(), lengths.end(), longest) >= 2 ? longest : 0;
}

}  // namespace lfiw::core
