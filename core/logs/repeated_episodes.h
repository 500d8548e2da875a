#ifndef LFIW_CORE_LOGS_REPEATED_EPISODES_H_
#define LFIW_CORE_LOGS_REPEATED_EPISODES_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/logs/episode_batch.h"

namespace lfiw::core {

// Finds episodes that repeat an earlier one to the last bit, as when files were joined twice.
// Episodes whose observations and actions have three decimal digits at most may agree by chance and
// never count. Memory grows with the episodes only.
class RepeatedEpisodes {
 public:
  void Add(const EpisodeBatch& batch);
  std::int64_t episodes() const { return episodes_; }
  // Numbers of the episodes, from 0, that repeat an earlier one.
  const std::vector<std::int64_t>& repeats() const { return repeats_; }

 private:
  std::int64_t episodes_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> seen_;  // one hash, and another to be sure
  std::vector<std::int64_t> repeats_;
};

// Takes the repeats out of `log` and returns their number.
std::int64_t DropRepeats(EpisodeBatch& log);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_REPEATED_EPISODES_H_
