#ifndef LFIW_CORE_LOGS_RESET_AUDIT_H_
#define LFIW_CORE_LOGS_RESET_AUDIT_H_

#include <cstdint>
#include <optional>

#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"

namespace lfiw::core {

// Finds logs whose last observation of an episode is the first one of the next episode, since the
// environment was reset before it was logged: the last step of every episode then leads where no
// action does. A trajectory that was only cut into pieces goes on there by no more than a step.
class ResetAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  std::optional<Finding> Find() const;

 private:
  std::int64_t ends_ = 0, same_ = 0;
  // Sums of distances: of the last step of an episode, and of the others.
  double last_steps_ = 0.0, steps_ = 0.0;
  std::int64_t step_count_ = 0;
  MatrixF last_;  // observation of the episode before, of no rows where it was not recorded
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_RESET_AUDIT_H_
