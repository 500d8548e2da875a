#ifndef LFIW_CORE_LOGS_LOG_BUILDER_H_
#define LFIW_CORE_LOGS_LOG_BUILDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// One episode as a file has it, for this folder's readers.
struct RawEpisode {
  std::string name = {};  // for messages: "episode 3"
  MatrixF observations =
      {};                // [steps + 1, obs_dim], or [steps, obs_dim] if the last one is unknown
  MatrixF actions = {};  // [steps, action_dim]
  MatrixF aux = {};      // [steps, aux_dim]; one row less: the last step's is unknown
  std::vector<double> rewards = {};               // [steps]
  std::vector<double> behavior_log_density = {};  // [steps], or empty
  bool terminated = false;

  std::int64_t steps() const { return actions.rows(); }
};

// Appends episodes to a batch. The last step of an episode needs no next observation: where that
// (or aux) is unknown, which numbers that are all NaN say too, the batch says so
// (EpisodeBatch::end_unrecorded). To drop such steps would keep those that terminate there.
class LogBuilder {
 public:
  LogBuilder(const LogInfo& info, std::int64_t aux_dim, LogCounts& counts)
      : info_(info), aux_dim_(aux_dim), counts_(counts) {}

  void Append(const RawEpisode& episode);
  std::int64_t steps() const { return batch_.steps(); }
  EpisodeBatch Finish();

 private:
  void CheckShapes(const RawEpisode& episode) const;

  const LogInfo& info_;
  std::int64_t aux_dim_;
  LogCounts& counts_;
  EpisodeBatch batch_;
  std::vector<float> observations_, actions_, aux_;
};

// Adds `text` unless it is there already.
void AddNote(LogInfo& info, const std::string& text);

// The notes on ends that the file lacks, when there are any.
void NoteUnrecordedEnds(LogInfo& info, const LogCounts& counts);

// One-hot rows of the actions `index` in 0 .. actions - 1. Throws DataError, naming `where`.
MatrixF OneHot(const std::vector<std::int64_t>& index, std::int64_t actions,
               const std::string& where);

// More actions than this are no discrete actions but a mistake.
inline constexpr std::int64_t kMaxDiscreteActions = 1024;

// Throws DataError if an episode of `steps` steps with `width` numbers each exceeds what is held in
// memory at a time.
void CheckEpisodeSize(std::int64_t steps, std::int64_t width, const std::string& where);

// Where a format does not tell terminal states from time limits: the longest length counts as a
// time limit when at least two episodes reach it. 0 if there is none.
std::int64_t GuessTimeLimit(const std::vector<std::int64_t>& lengths);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LOG_BUILDER_H_
