#ifndef LFIW_CORE_LOGS_ALIGNMENT_AUDIT_H_
#define LFIW_CORE_LOGS_ALIGNMENT_AUDIT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"

namespace lfiw::core {

// Tests whether actions and rewards stand in the rows of the steps that they belong to. Ridge
// regressions on a sample of short stretches of episodes, held out by episodes, compare rows: does
// the action of another row explain s(t+1) - s(t), given s(t), where that of row t does not; does
// the reward of another row fit (s(t), a(t), s(t+1)) where that of row t does not; and does the
// action matter at all.
//
// An action of a later row may explain a step for another reason: a policy chooses a(t+1) after it
// has seen s(t+1). What it chose depends on s(t) only through s(t+1), unless the row is wrong and
// it was chosen at s(t); a shift is found only where s(t) still tells of a(t+1) beside s(t+1).
class AlignmentAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  // Tells what was found, an error where it is clear and a warning where it is likely.
  std::vector<Finding> Findings() const;

 private:
  // Consecutive steps of one episode.
  struct Stretch {
    std::int64_t episode = 0;
    MatrixF observations;  // [steps + 1, kept dimensions]
    MatrixF actions;       // [steps, action_dim]
    std::vector<double> rewards;
  };
  bool LengthsVary() const;
  void Consider(const EpisodeBatch& batch, std::int64_t e, std::int64_t first, std::int64_t steps);

  std::int64_t episodes_ = 0;
  double length_sum_ = 0.0, length_squares_ = 0.0;  // of all episodes
  std::int64_t stretches_ = 0;
  std::int64_t kept_steps_ = 0;
  double threshold_ = 1.0;
  std::multimap<double, Stretch> kept_;  // by a random rank; the highest ranks are given up
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_ALIGNMENT_AUDIT_H_
