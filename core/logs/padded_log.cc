#include "core/logs/padded_log.h"

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/logs/array_blocks.h"
#include "core/logs/log_builder.h"

namespace lfiw::core {
namespace {

// Arrays [episodes, steps, ...], each episode's beginning used.
class PaddedReader final : public LogReader {
 public:
  PaddedReader(std::unique_ptr<ArrayStore> store, LogKeys keys)
      : store_(std::move(store)), keys_(std::move(keys)) {
    const ArrayInfo& rewards = store_->Info(keys_.reward);
    episodes_ = rewards.rows();
    steps_ = rewards.shape[1];
    has_last_ = Steps(keys_.observation) == steps_ + 1;
    for (const std::string& key : {keys_.action, keys_.timeout, keys_.density, keys_.aux}) {
      RequireSteps(key);
    }
    if (!has_last_) RequireSteps(keys_.observation);
    RequireSteps(keys_.next_observation);
    // all sizes are checked before any array is read
    if (!keys_.aux.empty()) aux_dim_ = Width(keys_.aux);
    CheckEpisodeSize(steps_ + 1, Width(keys_.observation), store_->path());
    CheckEpisodeSize(steps_, Width(keys_.action) + aux_dim_, store_->path());
    if (!keys_.terminal.empty() && store_->Info(keys_.terminal).shape.size() > 1) {
      RequireSteps(keys_.terminal);
    }
    for (const std::string& key : {keys_.reward, keys_.timeout, keys_.density}) RequireOne(key);
    FillDims(*store_, keys_, Width(keys_.observation), Width(keys_.action), info_);
    ReadLengths();
    if (keys_.terminal.empty()) {
      AddNote(info_, kNoTerminals);
    }
  }

  const LogInfo& info() const override { return info_; }
  const LogCounts& counts() const override { return counts_; }

  EpisodeBatch Next(std::int64_t max_steps) override {
    LogBuilder builder(info_, aux_dim_, counts_);
    while (at_ < episodes_ && (builder.steps() == 0 || builder.steps() + steps_ <= max_steps)) {
      builder.Append(ReadEpisode(at_++));
    }
    if (at_ == episodes_) NoteUnrecordedEnds(info_, counts_);
    return builder.Finish();
  }

 private:
  std::int64_t Steps(const std::string& key) const {
    const ArrayInfo& info = store_->Info(key);
    if (info.shape.size() < 2 || info.rows() != episodes_) {
      Throw<DataError>("{} has shape [{}], expected [{} episodes, {} steps, ...]",
                       Where(*store_, key), fmt::join(info.shape, ", "), episodes_, steps_);
    }
    return info.shape[1];
  }

  void RequireSteps(const std::string& key) const {
    if (key.empty() || Steps(key) == steps_) return;
    Throw<DataError>("{} has {} steps an episode, {} has {}", Where(*store_, key), Steps(key),
                     keys_.reward, steps_);
  }

  // Numbers of one step.
  std::int64_t Width(const std::string& key) const {
    const std::int64_t steps = std::max<std::int64_t>(Steps(key), 1);
    return store_->Info(key).row_items() / steps;
  }

  // One number a step.
  void RequireOne(const std::string& key) const {
    if (key.empty() || Width(key) == 1) return;
    Throw<DataError>("{} has {} numbers a step, expected 1", Where(*store_, key), Width(key));
  }

  void ReadLengths() {
    lengths_.assign(static_cast<std::size_t>(episodes_), steps_);
    if (keys_.lengths.empty()) return;
    lengths_ = ToIntegers(store_->ReadAll(keys_.lengths), Where(*store_, keys_.lengths));
    if (static_cast<std::int64_t>(lengths_.size()) != episodes_) {
      Throw<DataError>("{} has {} values, expected {}", Where(*store_, keys_.lengths),
                       lengths_.size(), episodes_);
    }
    for (const std::int64_t length : lengths_) {
      if (length >= 0 && length <= steps_) continue;
      Throw<DataError>("{} holds {}, expected 0 to {}", Where(*store_, keys_.lengths), length,
                       steps_);
    }
  }

  MatrixF ReadSteps(const std::string& key, std::int64_t episode) {
    MatrixF row = ReadMatrix(*store_, key, episode, 1);
    return Eigen::Map<const MatrixF>(row.data(), Steps(key), Width(key));
  }

  // The flags of an episode end it; without flags or lengths it fills the padded width.
  std::int64_t FindEnd(std::int64_t episode, bool& terminated) {
    std::int64_t length = lengths_[static_cast<std::size_t>(episode)];
    terminated = false;
    if (!keys_.terminal.empty()) {
      const std::vector<std::uint8_t> flags = ReadFlags(*store_, keys_.terminal, episode, 1);
      if (flags.size() == 1) {
        terminated = flags[0] != 0;
      } else {
        const auto end = flags.begin() + length;
        const auto first = std::find(flags.begin(), end, 1);
        terminated = first != end;
        if (terminated) length = first - flags.begin() + 1;
      }
    }
    if (!keys_.timeout.empty()) {
      const std::vector<std::uint8_t> flags = ReadFlags(*store_, keys_.timeout, episode, 1);
      const auto first = std::find(flags.begin(), flags.begin() + length, 1);
      if (first - flags.begin() + 1 < length) {
        length = first - flags.begin() + 1;
        terminated = false;
      }
    }
    return length;
  }

  RawEpisode ReadEpisode(std::int64_t e) {
    RawEpisode raw{.name = fmt::format("{}: episode {}", store_->path(), e)};
    const std::int64_t length = FindEnd(e, raw.terminated);
    raw.observations = ReadSteps(keys_.observation, e).topRows(length + (has_last_ ? 1 : 0));
    if (!has_last_ && !keys_.next_observation.empty() && length > 0) {
      raw.observations.conservativeResize(length + 1, Eigen::NoChange);
      raw.observations.bottomRows(1) = ReadSteps(keys_.next_observation, e).row(length - 1);
    }
    if (info_.discrete_actions > 0) {
      auto index = ToIntegers(store_->ReadRows(keys_.action, e, 1), Where(*store_, keys_.action));
      index.resize(static_cast<std::size_t>(length));
      raw.actions = OneHot(index, info_.discrete_actions, Where(*store_, keys_.action));
    } else {
      raw.actions = ReadSteps(keys_.action, e).topRows(length);
    }
    if (aux_dim_ > 0) raw.aux = ReadSteps(keys_.aux, e).topRows(length);
    raw.rewards = ReadDoubles(*store_, keys_.reward, e, 1);
    raw.rewards.resize(static_cast<std::size_t>(length));
    if (!keys_.density.empty()) {
      raw.behavior_log_density = ReadDoubles(*store_, keys_.density, e, 1);
      raw.behavior_log_density.resize(static_cast<std::size_t>(length));
    }
    return raw;
  }

  std::unique_ptr<ArrayStore> store_;
  LogKeys keys_;
  LogInfo info_;
  LogCounts counts_;
  std::int64_t episodes_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t aux_dim_ = 0;
  std::int64_t at_ = 0;
  bool has_last_ = false;
  std::vector<std::int64_t> lengths_;
};

}  // namespace

std::unique_ptr<LogReader> OpenPaddedLog(std::unique_ptr<ArrayStore> store, const LogKeys& keys) {
  return std::make_unique<PaddedReader>(std::move(store), keys);
}

}  // namespace lfiw::core
