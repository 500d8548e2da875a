#include "core/logs/array_log.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/arrays/npz.h"
#include "core/arrays/open_array_store.h"
#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "core/logs/env_axis.h"
#include "core/logs/episode_source.h"
#include "core/logs/log_builder.h"
#include "core/logs/padded_log.h"

namespace lfiw::core {
namespace {

// More names than this are not listed.
constexpr std::size_t kMaxListedArrays = 20;
// No environment has a longer name.
constexpr std::size_t kMaxName = 200;

// One text or number of an array that may be absent.
std::string OptionalText(ArrayStore& store, const std::string& key) {
  if (!store.Has(key)) return "";
  NpzFile file;
  file.Put(key, store.ReadAll(key, 1 << 16));
  return file.GetText(key);
}

void NoteIgnored(const ArrayStore& store, const LogKeys& keys, const LogReadOptions& options,
                 LogInfo& info) {
  const std::vector<std::string> unused = UnusedStepArrays(store, keys);
  std::string names;
  for (std::size_t i = 0; i < unused.size() && i < kMaxListedArrays; ++i) {
    names += (i > 0 ? ", " : "") + Quoted(unused[i]);
  }
  if (unused.size() > kMaxListedArrays) names += fmt::format(", ... ({} in all)", unused.size());
  if (!unused.empty()) AddNote(info, "arrays of one value a step that were not used: " + names);
  const auto with_prefix = [&store](const std::string& prefix) {
    const auto at = store.arrays().lower_bound(prefix);
    return at != store.arrays().end() && at->first.starts_with(prefix);
  };
  if (with_prefix("metadata/policy/")) {
    AddNote(info, "the file holds its behavior policy (metadata/policy)");
  }
  if (!keys.position.empty() && options.position_step_seconds <= 0.0) {
    AddNote(info, keys.position +
                      " is there but not used: only the velocity reward of a named "
                      "environment (--env) needs it");
  }
}

// Flat arrays.
class FlatReader final : public LogReader {
 public:
  FlatReader(std::unique_ptr<ArrayStore> store, LogKeys keys, const LogReadOptions& options,
             const std::string& note = "")
      : store_(std::move(store)), keys_(std::move(keys)), options_(options) {
    if (!note.empty()) AddNote(info_, note);
    rows_ = store_->Info(keys_.reward).rows();
    // all sizes are checked before any array is read
    for (const std::string& key : {keys_.reward, keys_.density}) RequireScalar(key);
    for (const std::string& key : {keys_.observation, keys_.action, keys_.aux, keys_.position,
                                   keys_.terminal, keys_.timeout}) {
      if (key.empty()) continue;
      CheckEpisodeSize(1, store_->Info(key).row_items(), Where(*store_, key));
    }
    for (const std::string& key :
         {keys_.action, keys_.next_observation, keys_.timeout, keys_.end, keys_.mask,
          keys_.episode_id, keys_.density, keys_.aux, keys_.position}) {
      RequireRows(key);
    }
    ResolveLengths();
    if (HasFlags()) RequireRows(keys_.terminal);
    RequireSameWidth();
    MakeSource();
    FillDims(*store_, keys_, store_->Info(keys_.observation).row_items(),
             store_->Info(keys_.action).row_items(), info_);
    ReadOwnFields();
    ChooseAux();
    NoteIgnored(*store_, keys_, options_, info_);
  }

  const LogInfo& info() const override { return info_; }
  const LogCounts& counts() const override { return counts_; }

  EpisodeBatch Next(std::int64_t max_steps) override {
    LogBuilder builder(info_, aux_dim_, counts_);
    // batches of which no step is usable are skipped, since an empty one means the end
    while (builder.steps() == 0) {
      const std::vector<Span> spans = TakeSpans(max_steps);
      if (spans.empty()) {
        NoteEnd();
        break;
      }
      Read(spans, builder);
    }
    return builder.Finish();
  }

 private:
  // What lfiw's own layout says beside the steps.
  void ReadOwnFields() {
    if (const auto found = store_->attributes().find("environment");
        found != store_->attributes().end()) {
      info_.environment = Quoted(found->second, kMaxName);
    }
    if (keys_.format != "npz") return;
    info_.environment = Quoted(OptionalText(*store_, "environment"), kMaxName);
    if (!store_->Has("discrete_actions")) return;
    const auto count =
        ToIntegers(store_->ReadAll("discrete_actions", 64), Where(*store_, "discrete_actions"));
    if (count.size() != 1 || (count[0] != 0 && count[0] != info_.action_dim)) {
      Throw<DataError>("{}: discrete_actions does not fit the {} columns of actions",
                       store_->path(), info_.action_dim);
    }
    info_.discrete_actions = count[0];
  }

  void RequireScalar(const std::string& key) const {
    if (key.empty()) return;
    const ArrayInfo& info = store_->Info(key);
    if (!info.shape.empty() && info.row_items() == 1) return;
    Throw<DataError>("{} has shape [{}], expected one number a step", Where(*store_, key),
                     fmt::join(info.shape, ", "));
  }

  void RequireRows(const std::string& key) const {
    if (key.empty() || store_->Info(key).rows() == rows_) return;
    Throw<DataError>("{} has {} rows, expected {}, as {} has", Where(*store_, key),
                     store_->Info(key).rows(), rows_, keys_.reward);
  }

  void RequireSameWidth() const {
    if (keys_.next_observation.empty()) return;
    const std::int64_t width = store_->Info(keys_.next_observation).row_items();
    const std::int64_t expected = store_->Info(keys_.observation).row_items();
    if (width == expected) return;
    Throw<DataError>("{} has {} numbers a row, observations have {}",
                     Where(*store_, keys_.next_observation), width, expected);
  }

  // Episodes are told by flags, not by their first rows or lengths.
  bool HasFlags() const { return keys_.offsets.empty() && keys_.lengths.empty(); }

  // Lengths of episodes that --map names are used. Others repeat what flags say, or are those of
  // more episodes than the file still holds.
  void ResolveLengths() {
    if (keys_.lengths.empty() || keys_.format == "mapped") return;
    // as floating-point numbers, since those of a hostile file may not add up in 64 bits
    const std::vector<double> lengths =
        ToDoubles(store_->ReadAll(keys_.lengths), Where(*store_, keys_.lengths));
    const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
    const bool fits = sum == static_cast<double>(rows_);
    const bool has_flags = !keys_.timeout.empty() || !keys_.end.empty() ||
                           !keys_.episode_id.empty() || !keys_.mask.empty();
    if (fits && !has_flags) return;
    if (!fits && !has_flags && keys_.terminal.empty()) {
      Throw<DataError>(
          "{} adds up to {} steps, {} has {}, and nothing else says where episodes end; save the "
          "lengths of the episodes in the file, or terminals and timeouts (one flag a step)",
          Where(*store_, keys_.lengths), sum, keys_.reward, rows_);
    }
    if (!fits) {
      AddNote(info_, fmt::format("'{}' adds up to {} steps, not to the {} of the file, and was not "
                                 "used: flags tell where episodes end",
                                 keys_.lengths, sum, rows_));
    }
    keys_.lengths.clear();
  }

  void MakeSource() {
    const std::int64_t observations = store_->Info(keys_.observation).rows();
    std::int64_t with_last = -1;
    if (HasFlags()) {
      MakeFlags();
    } else {
      source_ = MakeOffsetSource(*store_, keys_, info_);
      with_last = rows_ + source_->episodes().value();
    }
    has_last_ = observations == with_last;
    if (has_last_ || observations == rows_) return;
    Throw<DataError>("{} has {} rows, expected {}{}", Where(*store_, keys_.observation),
                     observations, rows_,
                     with_last < 0 ? "" : fmt::format(" or {} (steps + episodes)", with_last));
  }

  // Episodes by flags, and what the flags alone do not say.
  void MakeFlags() {
    ResolveMask();
    if (store_->Info(keys_.observation).rows() == rows_) {
      // the store is read from its beginning again afterwards
      const std::unique_ptr<ArrayStore> own =
          keys_.segment > 0 ? nullptr : OpenArrayStore(store_->path());
      layout_ = SurveyFlatRows(own ? *own : *store_, keys_);
    } else {
      layout_.rows = rows_;
    }
    counts_.padding_steps = rows_ - layout_.rows;
    const bool marks_limits =
        !keys_.timeout.empty() || !keys_.end.empty() || !keys_.episode_id.empty();
    if (layout_.reset_next && !marks_limits) {
      Throw<DataError>(
          "{}: array '{}' goes on across resets of the environment, and nothing says where time "
          "limits struck, so that episodes can not be told apart; add timeouts (one flag a step, "
          "all 0 if there was no limit)",
          store_->path(), keys_.next_observation);
    }
    RequireBoundaries(marks_limits);
    if (layout_.wrap_row > 0) {
      AddNote(info_,
              keys_.next_observation.empty()
                  ? fmt::format("the file names row {} as the oldest of a ring buffer that was "
                                "filled again; an episode ends before it",
                                layout_.wrap_row)
                  : fmt::format("rows do not continue at row {}, where no end is marked, as in a "
                                "ring buffer that was filled again; an episode ends there",
                                layout_.wrap_row));
    }
    source_ = MakeFlagSource(*store_, keys_, options_.max_episode_steps, layout_, counts_);
    const bool tells_terminals = !keys_.terminal.empty() || !keys_.mask.empty() ||
                                 (!keys_.end.empty() && !keys_.timeout.empty());
    if (!tells_terminals) AddNote(info_, kNoTerminals);
  }

  // Refuses rows of which nothing says where an episode ends.
  void RequireBoundaries(bool marks_limits) const {
    if (marks_limits || !keys_.terminal.empty() || !keys_.mask.empty()) return;
    if (!keys_.next_observation.empty() || keys_.segment > 0) return;
    const std::vector<std::string> unused = UnusedStepArrays(*store_, keys_);
    Throw<DataError>(
        "{}: nothing says where episodes end; add terminals and timeouts (one flag a step), or "
        "name "
        "them: --map obs={},action={},reward={},terminal=KEY,timeout=KEY{}",
        store_->path(), keys_.observation, keys_.action, keys_.reward,
        unused.empty() ? ""
                       : fmt::format(" (of one value a step is also {})", Quoted(unused.front())));
  }

  // Where `mask` stands beside `terminal`, either repeats it or `terminal` marks all ends, as in
  // OGBench, and the mask those of the environment.
  void ResolveMask() {
    if (keys_.mask.empty() || keys_.terminal.empty()) return;
    bool same = true;
    constexpr std::int64_t kRows = 1 << 16;
    for (std::int64_t at = 0; at < rows_; at += kRows) {
      const std::int64_t count = std::min(kRows, rows_ - at);
      const auto terminal = ReadFlags(*store_, keys_.terminal, at, count);
      const auto mask = ReadFlags(*store_, keys_.mask, at, count);
      for (std::size_t i = 0; i < mask.size(); ++i) {
        same = same && (terminal[i] != mask[i]);
        if (mask[i] != 0 || terminal[i] != 0) continue;
        Throw<DataError>(
            "{} and '{}' are both 0 in row {}: expected 0 in '{}' only where an episode ends; say "
            "with --map which of the two is terminal",
            Where(*store_, keys_.mask), keys_.terminal, at + static_cast<std::int64_t>(i),
            keys_.mask);
      }
    }
    if (same) {
      keys_.mask.clear();
      return;
    }
    AddNote(info_, fmt::format("'{}' marks all ends of episodes; those where '{}' is 0 count as "
                               "terminated, the others as cut by a limit",
                               keys_.terminal, keys_.mask));
    keys_.end = std::exchange(keys_.terminal, "");
  }

  void ChooseAux() {
    from_position_ =
        keys_.aux.empty() && !keys_.position.empty() && options_.position_step_seconds > 0.0;
    if (!keys_.aux.empty()) aux_dim_ = store_->Info(keys_.aux).row_items();
    if (!from_position_) return;
    aux_dim_ = 1;
    AddNote(info_, "forward velocities come from " + keys_.position);
  }

  std::vector<Span> TakeSpans(std::int64_t max_steps) {
    std::vector<Span> spans;
    std::int64_t steps = 0;
    for (;;) {
      if (!pending_) pending_ = source_->Next();
      if (!pending_ || (!spans.empty() && pending_->length > max_steps - steps)) break;
      const std::string where = fmt::format("{}: episode {}", store_->path(), episode_);
      CheckEpisodeSize(pending_->length, info_.obs_dim + info_.action_dim + aux_dim_, where);
      steps += pending_->length;
      spans.push_back(*std::exchange(pending_, std::nullopt));
    }
    return spans;
  }

  // The rows of spans that lie one after the other, cut into episodes.
  void Read(const std::vector<Span>& spans, LogBuilder& builder) {
    const std::int64_t first = spans.front().first;
    const std::int64_t count = spans.back().first + spans.back().length - first;
    const auto episodes = static_cast<std::int64_t>(spans.size());
    const std::int64_t behind = spans.back().last_follows ? 1 : 0;
    const MatrixF observations =
        has_last_ ? ReadMatrix(*store_, keys_.observation, first + episode_, count + episodes)
                  : ReadMatrix(*store_, keys_.observation, first, count + behind);
    const MatrixF next = Optional(keys_.next_observation, first, count);
    const MatrixF actions = ReadActions(first, count);
    const MatrixF aux =
        from_position_ ? Velocities(first, count) : Optional(keys_.aux, first, count);
    const std::vector<double> rewards = ReadDoubles(*store_, keys_.reward, first, count);
    std::vector<double> density;
    if (!keys_.density.empty()) density = ReadDoubles(*store_, keys_.density, first, count);

    for (std::int64_t e = 0; e < episodes; ++e, ++episode_) {
      const Span& span = spans[static_cast<std::size_t>(e)];
      const std::int64_t at = span.first - first;
      RawEpisode raw{.name = fmt::format("{}: episode {}", store_->path(), episode_),
                     .actions = actions.middleRows(at, span.length),
                     .terminated = span.terminated};
      if (span.last_follows) {
        raw.observations = observations.middleRows(at, span.length + 1);
      } else {
        raw.observations = has_last_ ? observations.middleRows(at + e, span.length + 1)
                                     : WithNext(observations, next, at, span.length);
      }
      // the position after the last step is another episode's
      if (aux_dim_ > 0) raw.aux = aux.middleRows(at, span.length - (from_position_ ? 1 : 0));
      const auto part = [&](const std::vector<double>& values) {
        return std::vector<double>(values.begin() + at, values.begin() + at + span.length);
      };
      raw.rewards = part(rewards);
      if (!density.empty()) raw.behavior_log_density = part(density);
      builder.Append(raw);
    }
  }

  // Observations of one episode, the last from the next observations if there are any.
  MatrixF WithNext(const MatrixF& observations, const MatrixF& next, std::int64_t at,
                   std::int64_t length) {
    if (next.rows() == 0) return observations.middleRows(at, length);
    for (std::int64_t t = 0; t + 1 < length; ++t) {
      ++counts_.continuity_checked;
      if (SameRow(next, at + t, observations, at + t + 1)) continue;
      if (counts_.continuity_broken++ == 0) {
        counts_.first_broken = fmt::format("episode {}, step {}", episode_, t);
      }
    }
    if (layout_.reset_next) {
      ++counts_.reset_ends;
      return observations.middleRows(at, length);
    }
    MatrixF out(length + 1, observations.cols());
    out.topRows(length) = observations.middleRows(at, length);
    out.bottomRows(1) = next.row(at + length - 1);
    return out;
  }

  MatrixF Optional(const std::string& key, std::int64_t first, std::int64_t count) {
    if (key.empty()) return MatrixF(0, 0);
    return ReadMatrix(*store_, key, first, count);
  }

  MatrixF ReadActions(std::int64_t first, std::int64_t count) {
    // lfiw's own layout has discrete actions as one-hot rows
    if (!IsIntegerType(store_->Info(keys_.action).type) || info_.discrete_actions == 0) {
      return ReadMatrix(*store_, keys_.action, first, count);
    }
    return OneHot(ReadIntegers(*store_, keys_.action, first, count), info_.discrete_actions,
                  Where(*store_, keys_.action));
  }

  // (x(t + 1) - x(t)) / step from the first position before each step; the last row is not used.
  MatrixF Velocities(std::int64_t first, std::int64_t count) {
    std::vector<double> x;
    const auto width = static_cast<std::size_t>(store_->Info(keys_.position).row_items());
    const std::vector<double> all = ReadDoubles(*store_, keys_.position, first, count);
    for (std::size_t i = 0; i < all.size(); i += width) x.push_back(all[i]);
    MatrixF velocity = MatrixF::Zero(count, 1);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      velocity(static_cast<Eigen::Index>(i), 0) =
          static_cast<float>((x[i + 1] - x[i]) / options_.position_step_seconds);
    }
    return velocity;
  }

  void NoteEnd() {
    NoteUnrecordedEnds(info_, counts_);
    if (counts_.cut_episodes > 0 && HasFlags()) {
      AddNote(info_, fmt::format("the file does not mark time limits: {} episodes were cut at {} "
                                 "steps (--max-episode-steps)",
                                 counts_.cut_episodes, options_.max_episode_steps));
    }
  }

  std::unique_ptr<ArrayStore> store_;
  LogKeys keys_;
  LogReadOptions options_;
  LogInfo info_;
  LogCounts counts_;
  std::int64_t rows_ = 0;
  std::int64_t aux_dim_ = 0;
  std::int64_t episode_ = 0;
  bool has_last_ = false;       // observations have the one after each episode's last step
  bool from_position_ = false;  // aux is computed
  FlatRows layout_;
  std::unique_ptr<EpisodeSource> source_;
  std::optional<Span> pending_;
};

// Arrays [episodes, steps, ...], as their sizes or lengths tell.
bool IsPadded(const ArrayStore& store, const LogKeys& keys) {
  const std::vector<std::int64_t>& rewards = store.Info(keys.reward).shape;
  const std::vector<std::int64_t>& observations = store.Info(keys.observation).shape;
  const bool with_last = observations.size() >= 2 && observations[0] == rewards[0] &&
                         observations[1] == rewards[1] + 1;
  const bool one_flag_an_episode = !keys.terminal.empty() &&
                                   store.Info(keys.terminal).shape.size() == 1 &&
                                   store.Info(keys.terminal).rows() == rewards[0];
  return !keys.lengths.empty() || with_last || one_flag_an_episode;
}

// Lengths count episodes along the first axis.
void RequireEpisodesFirst(const ArrayStore& store, const LogKeys& keys) {
  if (keys.lengths.empty()) return;
  const ArrayInfo& lengths = store.Info(keys.lengths);
  const std::vector<std::int64_t>& rewards = store.Info(keys.reward).shape;
  if (lengths.rows() == rewards[0]) return;
  Throw<DataError>("{} has {} values, but {} has shape [{}], expected [episodes, steps]{}",
                   Where(store, keys.lengths), lengths.rows(), keys.reward,
                   fmt::join(rewards, ", "),
                   lengths.rows() == rewards[1]
                       ? "; exchange the axes of all arrays with numpy.swapaxes(a, 0, 1)"
                       : "");
}

[[noreturn]] void RejectAxes(const ArrayStore& store, const LogKeys& keys) {
  Throw<DataError>(
      "{} has shape [{}], and nothing tells whether time runs along the first axis (steps, "
      "environments) or the second one (episodes, steps): {}; save flat arrays, one environment "
      "after the other, or [episodes, steps, ...] with --map ...,lengths=KEY",
      Where(store, keys.reward), fmt::join(store.Info(keys.reward).shape, ", "),
      keys.next_observation.empty() ? "there are no next observations"
                                    : "next observations continue along neither");
}

// Several environments side by side, one after the other.
std::unique_ptr<LogReader> OpenEnvRows(std::unique_ptr<ArrayStore> store, LogKeys keys,
                                       TimeAxis axis, const LogReadOptions& options) {
  auto rows = std::make_unique<EnvRowsStore>(std::move(store), keys, axis);
  keys.segment = rows->steps();
  std::string note = fmt::format(
      "next observations tell that time runs along the {} axis: {} environments of {} steps each, "
      "read one after the other",
      axis == TimeAxis::kFirst ? "first" : "second", rows->environments(), rows->steps());
  if (rows->steps() < rows->steps_in_file()) {
    note += fmt::format("; {} further steps of each hold only zeros and were left out",
                        rows->steps_in_file() - rows->steps());
  }
  return std::make_unique<FlatReader>(std::move(rows), keys, options, note);
}

}  // namespace

std::unique_ptr<LogReader> OpenArrayLog(std::unique_ptr<ArrayStore> store, const LogKeys& keys,
                                        const LogReadOptions& options) {
  const ArrayInfo& rewards = store->Info(keys.reward);
  const bool two_axes = keys.offsets.empty() && rewards.shape.size() >= 2 && rewards.shape[1] > 1;
  if (!two_axes) return std::make_unique<FlatReader>(std::move(store), keys, options);
  RequireEpisodesFirst(*store, keys);
  if (IsPadded(*store, keys)) return OpenPaddedLog(std::move(store), keys);
  const TimeAxis axis = FindTimeAxis(*store, keys);
  if (axis == TimeAxis::kUnknown) RejectAxes(*store, keys);
  if (axis == TimeAxis::kSecond && !HoldsStreams(*store, keys)) {
    return OpenPaddedLog(std::move(store), keys);
  }
  return OpenEnvRows(std::move(store), keys, axis, options);
}

}  // namespace lfiw::core
