#include "core/logs/text_log.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "core/logs/log_builder.h"
#include "core/quoted.h"

namespace lfiw::core {
namespace {

// Probabilities are written with few digits.
constexpr double kProbabilitySlack = 1e-4;

// Consecutive records of one episode, with the line of the first.
struct RecordEpisode {
  std::vector<StepRecord> steps;
  std::optional<StepRecord> last;  // the observation after the last step
  std::int64_t line = 0;
};

// Groups records to episodes and checks their order.
class EpisodeGrouper {
 public:
  EpisodeGrouper(const std::string& path, std::unique_ptr<RecordSource> source)
      : path_(path), source_(std::move(source)) {}

  std::optional<RecordEpisode> Next() {
    if (!pending_) pending_ = source_->Next();
    if (!pending_) return std::nullopt;
    RecordEpisode episode;
    episode.line = source_->line();
    const std::optional<std::string> name = pending_->episode;
    if (name && !seen_.insert(*name).second) {
      Throw<DataError>(
          "{}, line {}: episode {} occurs again after another; sort the lines by "
          "episode and step",
          path_, episode.line, Quoted(*name));
    }
    std::int64_t bytes = 0;
    while (pending_ && pending_->episode == name && !episode.last) {
      const bool ends = !name && (pending_->terminated || pending_->truncated);
      bytes += static_cast<std::int64_t>(pending_->observation.size() + pending_->action.size());
      CheckEpisodeSize(1, bytes, path_);
      Take(*std::exchange(pending_, std::nullopt), episode);
      pending_ = source_->Next();
      if (!ends) continue;
      // the observation after the step that a flag ended
      if (pending_ && !pending_->has_action() && !pending_->episode && !episode.last) {
        Take(*std::exchange(pending_, std::nullopt), episode);
        pending_ = source_->Next();
      }
      break;
    }
    if (episode.last) RequireEnd(episode, name.has_value());
    return episode;
  }

 private:
  // Lines without an action come after the last step only.
  void RequireEnd(const RecordEpisode& episode, bool named) const {
    if (!pending_ || episode.steps.empty()) return;
    const StepRecord& step = episode.steps.back();
    const bool goes_on = named ? pending_->episode == episode.steps.front().episode
                               : !step.terminated && !step.truncated && !episode.last->terminated &&
                                     !episode.last->truncated;
    if (!goes_on) return;
    Throw<DataError>(
        "{}, line {}: no action, but the episode goes on after it; only the observation after an "
        "episode's last step has none: fill in the action, or leave out the episode",
        path_, last_line_);
  }

  void Take(StepRecord record, RecordEpisode& episode) {
    CheckTime(record, episode);
    if (!record.has_action()) {
      // a flag may stand beside the state that it speaks of
      if (!episode.steps.empty()) {
        episode.steps.back().terminated |= record.terminated;
        episode.steps.back().truncated |= record.truncated;
      }
      last_line_ = source_->line();
      episode.last = std::move(record);
      return;
    }
    if (!episode.steps.empty() &&
        (episode.steps.back().terminated || episode.steps.back().truncated)) {
      Throw<DataError>("{}, line {}: the episode goes on after step {} ended it", path_,
                       source_->line(), episode.steps.size() - 1);
    }
    episode.steps.push_back(std::move(record));
  }

  void CheckTime(const StepRecord& record, const RecordEpisode& episode) const {
    if (!record.t || episode.steps.empty() || !episode.steps.back().t) return;
    if (*record.t - 1 == *episode.steps.back().t) return;
    Throw<DataError>(
        "{}, line {}: step {} follows step {} of its episode, expected {}; sort the "
        "lines by episode and step",
        path_, source_->line(), *record.t, *episode.steps.back().t, *episode.steps.back().t + 1);
  }

  const std::string& path_;
  std::unique_ptr<RecordSource> source_;
  std::optional<StepRecord> pending_;
  std::unordered_set<std::string> seen_;
  std::int64_t last_line_ = 0;  // of the last record without action
};

// Up to rounding; NaN counts as equal.
bool SameObservation(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return !(std::abs(x - y) > 1e-4f * (1 + std::abs(y)));
  });
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    sum += std::pow(static_cast<double>(a[k]) - static_cast<double>(b[k]), 2);
  }
  return std::sqrt(sum);
}

// Whether the next observation at (nearly) every end is the first one of the next episode, farther
// away than one step goes: the environment was reset before it was logged.
class ResetNextSearch {
 public:
  void Add(const RecordEpisode& episode) {
    const std::vector<float>& first = episode.steps.front().observation;
    if (!next_.empty()) {
      ++ends_;
      same_ += SameObservation(next_, first) ? 1 : 0;
      jumps_ += Distance(last_, first);
    }
    for (std::size_t t = 1; t < episode.steps.size(); ++t, ++inside_) {
      steps_ += Distance(episode.steps[t - 1].observation, episode.steps[t].observation);
    }
    last_ = episode.steps.back().observation;
    next_ = episode.last ? std::vector<float>() : episode.steps.back().next_observation;
  }
  bool Found() const {
    return ends_ >= 2 && 10 * same_ >= 9 * ends_ &&
           jumps_ / static_cast<double>(ends_) >
               1.5 * steps_ / static_cast<double>(std::max<std::int64_t>(inside_, 1));
  }

 private:
  std::int64_t ends_ = 0, same_ = 0, inside_ = 0;
  double jumps_ = 0.0, steps_ = 0.0;
  std::vector<float> last_, next_;
};

class TextReader final : public LogReader {
 public:
  TextReader(std::string path, const TextFormat& format) : path_(std::move(path)) {
    info_.format = format.name;
    info_.notes = format.notes;
    Survey(format);
    episodes_ = std::make_unique<EpisodeGrouper>(path_, format.open());
  }

  const LogInfo& info() const override { return info_; }
  const LogCounts& counts() const override { return counts_; }

  EpisodeBatch Next(std::int64_t max_steps) override {
    LogBuilder builder(info_, aux_dim_, counts_);
    for (;;) {
      if (!pending_) pending_ = episodes_->Next();
      if (!pending_) break;
      const auto steps = static_cast<std::int64_t>(pending_->steps.size());
      if (builder.steps() > 0 && steps > max_steps - builder.steps()) break;
      builder.Append(Convert(*std::exchange(pending_, std::nullopt)));
      ++episode_;
    }
    if (!pending_) NoteUnrecordedEnds(info_, counts_);
    return builder.Finish();
  }

 private:
  // First pass: sizes, number of actions, lengths.
  void Survey(const TextFormat& format) {
    EpisodeGrouper grouper(path_, format.open());
    std::vector<std::int64_t> lengths;
    std::int64_t largest = -1;
    std::size_t probabilities = 0;
    bool has_ends = format.has_ends;
    ResetNextSearch resets;
    while (const std::optional<RecordEpisode> episode = grouper.Next()) {
      lengths.push_back(static_cast<std::int64_t>(episode->steps.size()));
      if (episode->steps.empty()) continue;
      resets.Add(*episode);
      const StepRecord& first = episode->steps.front();
      if (info_.obs_dim == 0) {
        info_.obs_dim = static_cast<std::int64_t>(first.observation.size());
        info_.action_dim = static_cast<std::int64_t>(first.action.size());
        aux_dim_ = static_cast<std::int64_t>(first.aux.size());
        probabilities = first.probabilities.size();
        has_density_ = HasDensity(first);
      }
      for (const StepRecord& step : episode->steps) {
        largest = std::max(largest, step.discrete_action.value_or(-1));
        has_ends |= step.states_end;
      }
      has_ends |= episode->last && episode->last->states_end;
    }
    if (info_.obs_dim == 0) Throw<DataError>("{}: no step in the file", path_);
    reset_next_ = resets.Found();
    if (largest >= 0) SetDiscrete(std::max(largest + 1, static_cast<std::int64_t>(probabilities)));
    if (!has_ends) GuessEnds(lengths);
  }

  void SetDiscrete(std::int64_t actions) {
    if (actions > kMaxDiscreteActions) {
      Throw<DataError>(
          "{}: action {}, expected a discrete action 0 to {} (action_0, action_1, .. "
          "or a list for continuous ones)",
          path_, actions - 1, kMaxDiscreteActions - 1);
    }
    info_.discrete_actions = info_.action_dim = actions;
  }

  void GuessEnds(const std::vector<std::int64_t>& lengths) {
    guess_ends_ = true;
    time_limit_ = GuessTimeLimit(lengths);
    std::string note = "the file does not mark terminal states: episodes count as terminated";
    if (time_limit_ > 0) {
      note += fmt::format(", those of the longest length ({}, {} of them) as cut by a limit",
                          time_limit_, std::count(lengths.begin(), lengths.end(), time_limit_));
    }
    AddNote(info_, note);
  }

  static bool HasDensity(const StepRecord& step) {
    return step.log_density || step.probability || !step.probabilities.empty();
  }

  [[noreturn]] void Reject(std::int64_t t, const std::string& problem) const {
    Throw<DataError>("{}: episode {}, step {}: {}", path_, episode_, t, problem);
  }

  double LogDensity(const StepRecord& step, std::int64_t t) const {
    if (step.log_density) return *step.log_density;
    double p = step.probability.value_or(std::nan(""));
    if (step.discrete_action && !step.probabilities.empty()) {
      if (static_cast<std::int64_t>(step.probabilities.size()) != info_.discrete_actions) {
        Reject(t, fmt::format("{} probabilities of {} actions", step.probabilities.size(),
                              info_.discrete_actions));
      }
      p = step.probabilities[static_cast<std::size_t>(*step.discrete_action)];
    }
    if (!(p > 0.0) || p > (info_.discrete_actions > 0 ? 1.0 + kProbabilitySlack : INFINITY)) {
      Reject(t, fmt::format("the behavior probability of the logged action is {}, expected more "
                            "than 0 and at most 1",
                            p));
    }
    return info_.discrete_actions > 0 ? std::log(std::min(p, 1.0)) : std::log(p);
  }

  // Copies `values` to a row, whose width they must have.
  void SetRow(const std::vector<float>& values, MatrixF& rows, std::int64_t row, const char* what,
              std::int64_t line) const {
    if (static_cast<std::int64_t>(values.size()) != rows.cols()) {
      Throw<DataError>("{}: episode {} (from line {}), step {}: {} numbers in {}, expected {}",
                       path_, episode_, line, row, values.size(), what, rows.cols());
    }
    std::copy(values.begin(), values.end(), rows.row(row).data());
  }

  RawEpisode Convert(const RecordEpisode& in) {
    const auto steps = static_cast<std::int64_t>(in.steps.size());
    RawEpisode raw{.name = fmt::format("{}: episode {}", path_, episode_)};
    const std::vector<float>* last = nullptr;
    if (in.last) {
      last = &in.last->observation;
    } else if (steps > 0 && !in.steps.back().next_observation.empty()) {
      if (reset_next_) {
        ++counts_.reset_ends;
      } else {
        last = &in.steps.back().next_observation;
      }
    }
    raw.observations.resize(steps + (last == nullptr ? 0 : 1), info_.obs_dim);
    raw.actions.setZero(steps, info_.action_dim);
    raw.aux.resize(steps, aux_dim_);
    for (std::int64_t t = 0; t < steps; ++t) {
      ConvertStep(in.steps[static_cast<std::size_t>(t)], t, in.line, raw);
      CheckContinuity(in, t);
    }
    if (last != nullptr) SetRow(*last, raw.observations, steps, "an observation", in.line);
    if (steps > 0) {
      raw.terminated = guess_ends_ ? steps != time_limit_ : in.steps.back().terminated;
      if (in.steps.back().terminated && in.steps.back().truncated) ++counts_.both_flags;
    }
    return raw;
  }

  void ConvertStep(const StepRecord& step, std::int64_t t, std::int64_t line, RawEpisode& raw) {
    SetRow(step.observation, raw.observations, t, "an observation", line);
    if (aux_dim_ > 0) SetRow(step.aux, raw.aux, t, "aux", line);
    if (step.discrete_action.has_value() != (info_.discrete_actions > 0)) {
      Reject(t, "discrete and continuous actions in one file");
    }
    if (step.discrete_action) {
      if (*step.discrete_action < 0) {
        Reject(t, fmt::format("action {}, expected 0 or more", *step.discrete_action));
      }
      raw.actions(t, *step.discrete_action) = 1.0f;
    } else {
      SetRow(step.action, raw.actions, t, "an action", line);
    }
    raw.rewards.push_back(step.reward);
    if (HasDensity(step) != has_density_) {
      Reject(t, has_density_ ? "the behavior probability is missing, other steps have one"
                             : "a behavior probability, the first step has none");
    }
    if (has_density_) raw.behavior_log_density.push_back(LogDensity(step, t));
  }

  // Compares what a step says of its next observation with the one that the file has there.
  void CheckContinuity(const RecordEpisode& in, std::int64_t t) {
    const auto i = static_cast<std::size_t>(t);
    const std::vector<float>& next = in.steps[i].next_observation;
    const bool inside = i + 1 < in.steps.size();
    if (next.empty() || (!inside && !in.last)) return;
    const std::vector<float>& found = inside ? in.steps[i + 1].observation : in.last->observation;
    ++counts_.continuity_checked;
    if (SameObservation(next, found)) return;
    if (counts_.continuity_broken++ == 0) {
      counts_.first_broken = fmt::format("episode {}, step {}", episode_, t);
    }
  }

  std::string path_;
  LogInfo info_;
  LogCounts counts_;
  std::int64_t aux_dim_ = 0;
  bool has_density_ = false;
  bool guess_ends_ = false;
  bool reset_next_ = false;
  std::int64_t time_limit_ = 0;
  std::unique_ptr<EpisodeGrouper> episodes_;
  std::optional<RecordEpisode> pending_;
  std::int64_t episode_ = 0;
};

}  // namespace

std::unique_ptr<LogReader> OpenTextLog(const std::string& path, const TextFormat& format) {
  return std::make_unique<TextReader>(path, format);
}

}  // namespace lfiw::core
