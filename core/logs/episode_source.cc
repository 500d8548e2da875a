#include "core/logs/episode_source.h"

#include <algorithm>
#include <vector>

#include "core/arrays/open_array_store.h"
#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "core/logs/log_builder.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
constexpr std::int64_t kFlagRows = 1 << 16;

// Episodes by one flag a step. A file without timeouts is cut at max_episode_steps and, if it has
// next observations, where these do not continue.
class FlagSource final : public EpisodeSource {
 public:
  FlagSource(ArrayStore& store, const LogKeys& keys, std::int64_t max_steps, LogCounts& counts)
      : store_(store), keys_(keys), rows_(store.Info(keys.reward).rows()), counts_(counts) {
    if (!keys.timeout.empty()) return;
    cut_at_ = max_steps;
    // a store of its own: this one runs ahead of the other
    if (!keys.next_observation.empty()) ahead_ = OpenArrayStore(store.path());
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
      const bool terminal = !terminal_.empty() && terminal_[i] != 0;
      const bool timeout = !timeout_.empty() && timeout_[i] != 0;
      ++at_;
      if (terminal && timeout) ++counts_.both_flags;
      if (terminal || timeout) return Span{first, at_ - first, terminal};
      if (!breaks_.empty() && breaks_[i] != 0) break;
      if (cut_at_ > 0 && at_ - first == cut_at_) {
        if (at_ < rows_) ++counts_.cut_episodes;
        break;
      }
    }
    return Span{first, at_ - first, false};
  }

 private:
  void LoadBlock() {
    block_first_ = at_;
    block_rows_ = std::min(kFlagRows, rows_ - at_);
    if (!keys_.terminal.empty()) {
      terminal_ = ReadFlags(store_, keys_.terminal, block_first_, block_rows_);
    }
    if (!keys_.timeout.empty()) {
      timeout_ = ReadFlags(store_, keys_.timeout, block_first_, block_rows_);
    }
    if (ahead_) FindBreaks();
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
  std::int64_t rows_;
  LogCounts& counts_;
  std::int64_t cut_at_ = 0;
  std::unique_ptr<ArrayStore> ahead_;
  std::int64_t at_ = 0, block_first_ = 0, block_rows_ = 0;
  std::vector<std::uint8_t> terminal_, timeout_, breaks_;
  MatrixF last_next_;
  bool starts_anew_ = false;
};

// Episodes by their first rows.
class OffsetSource final : public EpisodeSource {
 public:
  OffsetSource(ArrayStore& store, const LogKeys& keys, LogInfo& info) {
    const std::int64_t rows = store.Info(keys.reward).rows();
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

}  // namespace

std::unique_ptr<EpisodeSource> MakeFlagSource(ArrayStore& store, const LogKeys& keys,
                                              std::int64_t max_steps, LogCounts& counts) {
  return std::make_unique<FlagSource>(store, keys, max_steps, counts);
}

std::unique_ptr<EpisodeSource> MakeOffsetSource(ArrayStore& store, const LogKeys& keys,
                                                LogInfo& info) {
  return std::make_unique<OffsetSource>(store, keys, info);
}

}  // namespace lfiw::core
