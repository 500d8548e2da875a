#include "core/logs/episode_source.h"

#include <algorithm>
#include <vector>

#include "core/arrays/open_array_store.h"
#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "core/logs/log_builder.h"
#include "core/logs/ring_buffer.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
constexpr std::int64_t kFlagRows = 1 << 16;

// What the flags say of the rows first .. first + size - 1.
struct RowFlags {
  std::vector<std::uint8_t> terminal, timeout;  // may both be set
  std::vector<std::uint8_t> changes;            // the next row is of another episode_id

  bool Ends(std::size_t i) const { return terminal[i] != 0 || timeout[i] != 0; }
};

// Reads what may be told by several arrays: `end` marks a time limit where nothing says that the
// environment ended the episode; beside `timeout` alone it marks all other ends as terminal.
RowFlags ReadRowFlags(ArrayStore& store, const LogKeys& keys, std::int64_t first,
                      std::int64_t count) {
  const auto read = [&](const std::string& key) {
    if (key.empty()) return std::vector<std::uint8_t>(static_cast<std::size_t>(count), 0);
    return ReadFlags(store, key, first, count);
  };
  RowFlags flags{read(keys.terminal), read(keys.timeout), {}};
  const std::vector<std::uint8_t> end = read(keys.end);
  std::vector<std::uint8_t> mask = read(keys.mask);
  for (std::size_t i = 0; i < end.size(); ++i) {
    if (!keys.mask.empty() && mask[i] == 0) flags.terminal[i] = 1;
    const bool known = flags.terminal[i] != 0 || flags.timeout[i] != 0;
    if (end[i] == 0 || known) continue;
    const bool by_limit = !keys.terminal.empty() || !keys.mask.empty();
    (by_limit ? flags.timeout : flags.terminal)[i] = 1;
  }
  flags.changes.assign(static_cast<std::size_t>(count), 0);
  if (keys.episode_id.empty()) return flags;
  const std::int64_t rows = store.Info(keys.reward).rows();
  const std::int64_t ahead = std::min(count + 1, rows - first);
  const std::vector<double> ids = ReadDoubles(store, keys.episode_id, first, ahead);
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) flags.changes[i] = ids[i] != ids[i + 1] ? 1 : 0;
  return flags;
}

// Whether the file says where time limits struck.
bool MarksLimits(const LogKeys& keys) {
  return !keys.timeout.empty() || !keys.end.empty() || !keys.episode_id.empty();
}

// Episodes by one flag a step. A file without timeouts is cut at max_episode_steps and, if it has
// next observations, where these do not continue.
class FlagSource final : public EpisodeSource {
 public:
  FlagSource(ArrayStore& store, const LogKeys& keys, std::int64_t max_steps, const FlatRows& layout,
             LogCounts& counts)
      : store_(store), keys_(keys), layout_(layout), rows_(layout.rows), counts_(counts) {
    if (MarksLimits(keys)) return;
    cut_at_ = max_steps;
    if (keys.next_observation.empty()) return;
    // a store of its own: this one runs ahead of the other, unless it is in memory
    if (keys.segment == 0) own_ahead_ = OpenArrayStore(store.path());
    ahead_ = own_ahead_ ? own_ahead_.get() : &store_;
  }

  std::optional<Span> Next() override {
    if (at_ == rows_) return std::nullopt;
    const std::int64_t first = at_;
    while (at_ < rows_) {
      if (at_ == block_first_ + block_rows_) {
        LoadBlock();
        if (starts_anew_ && at_ > first) break;
      }
      const auto i = static_cast<std::size_t>(at_ - block_first_);
      const bool terminal = flags_.terminal[i] != 0;
      const bool timeout = flags_.timeout[i] != 0;
      ++at_;
      if (terminal && timeout) ++counts_.both_flags;
      if (terminal || timeout) return SkipReset({first, at_ - first, terminal});
      if (flags_.changes[i] != 0) break;
      if (!breaks_.empty() && breaks_[i] != 0) break;
      if (keys_.segment > 0 && at_ % keys_.segment == 0) break;
      if (layout_.wrap_row > 0 && RowOfSegment(at_) == layout_.wrap_row) break;
      if (cut_at_ > 0 && at_ - first == cut_at_) {
        if (at_ < rows_) ++counts_.cut_episodes;
        break;
      }
    }
    return Span{first, at_ - first, false};
  }

 private:
  std::int64_t RowOfSegment(std::int64_t row) const {
    return keys_.segment > 0 ? row % keys_.segment : row;
  }

  Span SkipReset(Span span) {
    const bool last_of_segment = keys_.segment > 0 && at_ % keys_.segment == 0;
    if (!layout_.reset_rows || at_ == rows_ || last_of_segment) return span;
    span.last_follows = true;
    ++counts_.reset_steps;
    ++at_;
    if (at_ > block_first_ + block_rows_) {
      // the row was the first of a block that is not loaded
      block_first_ = at_;
      block_rows_ = 0;
      starts_anew_ = false;
    }
    return span;
  }

  void LoadBlock() {
    block_first_ = at_;
    block_rows_ = std::min(kFlagRows, rows_ - at_);
    flags_ = ReadRowFlags(store_, keys_, block_first_, block_rows_);
    if (ahead_ != nullptr) FindBreaks();
  }

  // breaks_[i] = 1 where the row after block_first_ + i does not start from its next observation;
  // starts_anew_ says the same of the row before the block.
  void FindBreaks() {
    breaks_.assign(static_cast<std::size_t>(block_rows_), 0);
    const std::int64_t width = ahead_->Info(keys_.observation).row_items();
    const std::int64_t piece = std::max<std::int64_t>(kPieceBytes / 4 / width, 2);
    for (std::int64_t i = 0; i < block_rows_; i += piece) {
      const std::int64_t count = std::min(piece, block_rows_ - i);
      const MatrixF next = ReadMatrix(*ahead_, keys_.next_observation, block_first_ + i, count);
      const MatrixF now = ReadMatrix(*ahead_, keys_.observation, block_first_ + i, count);
      const bool anew = last_next_.rows() > 0 && !SameRow(last_next_, 0, now, 0);
      if (i == 0) starts_anew_ = anew;
      if (i > 0 && anew) breaks_[static_cast<std::size_t>(i) - 1] = 1;
      for (std::int64_t k = 0; k + 1 < count; ++k) {
        if (!SameRow(next, k, now, k + 1)) breaks_[static_cast<std::size_t>(i + k)] = 1;
      }
      last_next_ = next.bottomRows(1);
    }
  }

  ArrayStore& store_;
  const LogKeys& keys_;
  FlatRows layout_;
  std::int64_t rows_;
  LogCounts& counts_;
  std::int64_t cut_at_ = 0;
  std::unique_ptr<ArrayStore> own_ahead_;
  ArrayStore* ahead_ = nullptr;
  std::int64_t at_ = 0, block_first_ = 0, block_rows_ = 0;
  RowFlags flags_;
  std::vector<std::uint8_t> breaks_;
  MatrixF last_next_;
  bool starts_anew_ = false;
};

// Episodes by their first rows.
class OffsetSource final : public EpisodeSource {
 public:
  OffsetSource(ArrayStore& store, const LogKeys& keys, LogInfo& info) {
    const std::int64_t rows = store.Info(keys.reward).rows();
    if (keys.offsets.empty()) {
      AddLengths(store, keys, rows);
      LoadEnds(store, keys, info);
      return;
    }
    offsets_ = ToIntegers(store.ReadAll(keys.offsets), Where(store, keys.offsets));
    if (offsets_.empty() || offsets_.front() != 0) {
      if (keys.format == "npz") RejectFirst(store, keys);
      offsets_.insert(offsets_.begin(), 0);
    }
    if (offsets_.back() != rows) {
      if (keys.format == "npz") RejectLast(store, keys, rows);
      offsets_.push_back(rows);
    }
    for (std::size_t e = 1; e < offsets_.size(); ++e) {
      if (offsets_[e] <= offsets_[e - 1] || offsets_[e] > rows) {
        Throw<DataError>("{}: {}[{}] is {}, expected more than {} and at most {} steps",
                         store.path(), keys.offsets, e, offsets_[e], offsets_[e - 1], rows);
      }
    }
    LoadEnds(store, keys, info);
  }

  std::optional<std::int64_t> episodes() const override { return count(); }

  std::optional<Span> Next() override {
    if (at_ + 1 >= offsets_.size()) return std::nullopt;
    const std::int64_t first = offsets_[at_];
    const std::int64_t length = offsets_[at_ + 1] - first;
    const bool ended = !ended_.empty() && ended_[at_] != 0;
    ++at_;
    return Span{first, length, ended && length != time_limit_};
  }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }

  // Offsets by the steps of each episode.
  void AddLengths(ArrayStore& store, const LogKeys& keys, std::int64_t rows) {
    offsets_ = {0};
    for (const std::int64_t length :
         ToIntegers(store.ReadAll(keys.lengths), Where(store, keys.lengths))) {
      if (length <= 0 || length > rows - offsets_.back()) {
        Throw<DataError>("{} holds {} for episode {}, expected 1 to {}", Where(store, keys.lengths),
                         length, count(), rows - offsets_.back());
      }
      offsets_.push_back(offsets_.back() + length);
    }
    if (offsets_.back() != rows) {
      Throw<DataError>("{} adds up to {} steps, {} has {}", Where(store, keys.lengths),
                       offsets_.back(), keys.reward, rows);
    }
  }

  // Refuses an end that flags have inside of an episode.
  void RequireNoEndInside(const ArrayStore& store, const LogKeys& keys,
                          const std::vector<std::uint8_t>& flags) const {
    for (std::size_t e = 1; e < offsets_.size(); ++e) {
      for (std::int64_t row = offsets_[e - 1]; row + 1 < offsets_[e]; ++row) {
        if (flags[static_cast<std::size_t>(row)] == 0) continue;
        Throw<DataError>(
            "{} is set in row {}, inside episode {} (rows {} to {}) that '{}' gives; leave out the "
            "one of the two that is wrong",
            Where(store, keys.terminal), row, e - 1, offsets_[e - 1], offsets_[e] - 1,
            keys.lengths);
      }
    }
  }

  [[noreturn]] void RejectFirst(const ArrayStore& store, const LogKeys& keys) const {
    if (offsets_.empty()) {
      Throw<DataError>("{}: {} has 0 values, expected the number of episodes plus one (>= 2)",
                       store.path(), keys.offsets);
    }
    Throw<DataError>("{}: {}[0] is {}, expected 0", store.path(), keys.offsets, offsets_.front());
  }

  [[noreturn]] void RejectLast(const ArrayStore& store, const LogKeys& keys,
                               std::int64_t rows) const {
    Throw<DataError>("{}: {} ends with {}, expected the number of steps ({})", store.path(),
                     keys.offsets, offsets_.back(), rows);
  }

  // `terminal` has one flag an episode or one a step.
  void LoadEnds(ArrayStore& store, const LogKeys& keys, LogInfo& info) {
    if (keys.terminal.empty()) {
      AddNote(info, kNoTerminals);
      return;
    }
    const std::int64_t rows = store.Info(keys.terminal).rows();
    if (rows != count() && rows != offsets_.back()) {
      Throw<DataError>("{}: {} has {} values, expected {} (one an episode)", store.path(),
                       keys.terminal, rows, count());
    }
    if (rows == count()) {
      ended_ = ReadFlags(store, keys.terminal, 0, rows);
    } else {
      if (!keys.lengths.empty()) {
        RequireNoEndInside(store, keys, ReadFlags(store, keys.terminal, 0, rows));
      }
      for (std::size_t e = 1; e < offsets_.size(); ++e) {
        ended_.push_back(ReadFlags(store, keys.terminal, offsets_[e] - 1, 1)[0]);
      }
    }
    if (keys.ends_unknown) GuessEnds(info);
  }

  void GuessEnds(LogInfo& info) {
    std::vector<std::int64_t> lengths;
    for (std::size_t e = 1; e < offsets_.size(); ++e) {
      lengths.push_back(offsets_[e] - offsets_[e - 1]);
    }
    time_limit_ = GuessTimeLimit(lengths);
    if (time_limit_ > 0) {
      AddNote(info,
              fmt::format("the format does not tell terminal states from time limits: the "
                          "{} episodes of the longest length ({}) count as cut by a limit",
                          std::count(lengths.begin(), lengths.end(), time_limit_), time_limit_));
    }
  }

  std::vector<std::int64_t> offsets_;
  std::vector<std::uint8_t> ended_;
  std::int64_t time_limit_ = -1;
  std::size_t at_ = 0;
};

// Rows that hold data: the last ones may be zeros that were allocated and never written. A single
// row of zeros, or one at which a flag is set, may be a step.
class PaddingSearch {
 public:
  void Add(const MatrixF& observations, const MatrixF& actions, const std::vector<double>& rewards,
           const RowFlags& flags) {
    for (Eigen::Index i = 0; i < observations.rows(); ++i, ++rows_) {
      const auto k = static_cast<std::size_t>(i);
      const bool empty = rewards[k] == 0.0 && !flags.Ends(k) &&
                         (observations.row(i).array() == 0.0f).all() &&
                         (actions.row(i).array() == 0.0f).all();
      if (!empty) used_ = rows_ + 1;
    }
  }
  std::int64_t used() const { return rows_ - used_ > 1 && used_ > 0 ? used_ : rows_; }

 private:
  std::int64_t rows_ = 0;
  std::int64_t used_ = 0;
};

// What stands at the ends of episodes and behind them.
class ResetSearch {
 public:
  // Rows of one environment, where several follow each other, or 0.
  explicit ResetSearch(std::int64_t segment) : segment_(segment) {}

  // Rows in order; `next` may be of no rows.
  void Add(const MatrixF& observations, const MatrixF& next, const std::vector<double>& rewards,
           const RowFlags& flags) {
    for (Eigen::Index i = 0; i < observations.rows(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      if (segment_ > 0 && rows_ % segment_ == 0) {
        // what stands before is another environment's
        since_end_ = kNoEnd;
        before_.resize(0, 0);
      }
      zero_rewards_ += rewards[k] == 0.0 ? 1 : 0;
      ++rows_;
      if (since_end_ == 1) AfterEnd(observations.row(i), rewards[k]);
      if (since_end_ != 1 && before_.rows() > 0) {
        steps_ += (observations.row(i) - before_.row(0)).norm();
      }
      if (since_end_ == 2) jump_behind_ += (observations.row(i) - before_.row(0)).norm();
      if (since_end_ < kNoEnd) ++since_end_;
      if (flags.Ends(k)) {
        since_end_ = 1;
        if (next.rows() > 0) last_next_ = next.row(i);
      }
      before_ = observations.row(i);
    }
  }

  // The row after an end only resets: what follows it is far from it, not what comes before it, and
  // it has no reward although others have.
  bool HasResetRows(bool has_next) const {
    if (ends_ < 3 || zeros_behind_ < ends_ || (has_next && same_ < ends_)) return false;
    const bool zero_is_rare = zero_rewards_ - zeros_behind_ < (rows_ - ends_) / 10;
    return jump_behind_ > (zero_is_rare ? 1.0 : 3.0) * jump_;
  }
  // The next observation at (nearly) every end is the first one of the next episode, which is
  // farther away than one step goes: a trajectory that was only cut into pieces goes on there.
  bool HasResetNext() const {
    if (ends_ < 2 || 10 * same_ < 9 * ends_) return false;
    const auto inside = static_cast<double>(std::max<std::int64_t>(rows_ - 1 - ends_, 1));
    return jump_ / static_cast<double>(ends_) > 1.5 * (steps_ / inside);
  }

 private:
  template <class Row>
  void AfterEnd(const Row& observation, double reward) {
    ++ends_;
    zeros_behind_ += reward == 0.0 ? 1 : 0;
    jump_ += (observation - before_.row(0)).norm();
    const MatrixF here = observation;
    if (last_next_.rows() > 0 && SameRow(last_next_, 0, here, 0)) ++same_;
  }

  static constexpr int kNoEnd = 3;
  std::int64_t segment_;
  std::int64_t rows_ = 0, ends_ = 0, same_ = 0, zero_rewards_ = 0, zeros_behind_ = 0;
  // sums of distances: from an end to the row behind, from that to the next, inside of episodes
  double jump_ = 0.0, jump_behind_ = 0.0, steps_ = 0.0;
  int since_end_ = kNoEnd;
  MatrixF before_, last_next_;
};

// The row before which rows do not continue although no end is marked there.
class WrapSearch {
 public:
  explicit WrapSearch(std::int64_t segment) : segment_(segment) {}

  // Rows in order.
  void Add(const MatrixF& observations, const MatrixF& next, const RowFlags& flags) {
    for (Eigen::Index i = 0; i < observations.rows(); ++i, ++rows_) {
      const std::int64_t at = segment_ > 0 ? rows_ % segment_ : rows_;
      const MatrixF here = observations.row(i);
      if (at > 0 && inside_ && !SameRow(last_next_, 0, here, 0)) {
        several_ = several_ || (row_ > 0 && row_ != at);
        row_ = at;
      }
      const auto k = static_cast<std::size_t>(i);
      inside_ = !flags.Ends(k) && flags.changes[k] == 0;
      last_next_ = next.row(i);
    }
  }
  std::int64_t row() const { return several_ ? 0 : row_; }

 private:
  std::int64_t segment_;
  std::int64_t rows_ = 0, row_ = 0;
  bool inside_ = false, several_ = false;
  MatrixF last_next_;
};

}  // namespace

FlatRows SurveyFlatRows(ArrayStore& store, const LogKeys& keys) {
  const std::int64_t all = store.Info(keys.reward).rows();
  FlatRows out{.rows = all};
  PaddingSearch padding;
  ResetSearch resets(keys.segment);
  WrapSearch wraps(keys.segment);
  // elsewhere ends are found by what does not continue
  const bool may_wrap = MarksLimits(keys) && !keys.next_observation.empty();
  const std::int64_t width = store.Info(keys.observation).row_items();
  const std::int64_t piece = std::clamp<std::int64_t>(kPieceBytes / 4 / width, 1, kFlagRows);
  for (std::int64_t at = 0; at < all; at += piece) {
    const std::int64_t count = std::min(piece, all - at);
    const MatrixF observations = ReadMatrix(store, keys.observation, at, count);
    const MatrixF actions = ReadMatrix(store, keys.action, at, count);
    const MatrixF next = keys.next_observation.empty()
                             ? MatrixF(0, 0)
                             : ReadMatrix(store, keys.next_observation, at, count);
    const std::vector<double> rewards = ReadDoubles(store, keys.reward, at, count);
    const RowFlags flags = ReadRowFlags(store, keys, at, count);
    padding.Add(observations, actions, rewards, flags);
    resets.Add(observations, next, rewards, flags);
    if (may_wrap) wraps.Add(observations, next, flags);
  }
  // environments side by side have their padding at the end of each
  if (keys.segment == 0) {
    const RingState ring = ReadRingState(store, all, padding.used());
    out.rows = ring.rows;
    out.wrap_row = ring.oldest;
  }
  out.reset_rows = resets.HasResetRows(!keys.next_observation.empty());
  out.reset_next = !out.reset_rows && resets.HasResetNext();
  if (!out.reset_rows && wraps.row() > 0 && wraps.row() < out.rows) out.wrap_row = wraps.row();
  return out;
}

std::unique_ptr<EpisodeSource> MakeFlagSource(ArrayStore& store, const LogKeys& keys,
                                              std::int64_t max_steps, LogCounts& counts) {
  return MakeFlagSource(store, keys, max_steps, {.rows = store.Info(keys.reward).rows()}, counts);
}

std::unique_ptr<EpisodeSource> MakeFlagSource(ArrayStore& store, const LogKeys& keys,
                                              std::int64_t max_steps, const FlatRows& rows,
                                              LogCounts& counts) {
  return std::make_unique<FlagSource>(store, keys, max_steps, rows, counts);
}

std::unique_ptr<EpisodeSource> MakeOffsetSource(ArrayStore& store, const LogKeys& keys,
                                                LogInfo& info) {
  return std::make_unique<OffsetSource>(store, keys, info);
}

}  // namespace lfiw::core
