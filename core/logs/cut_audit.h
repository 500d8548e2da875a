#ifndef LFIW_CORE_LOGS_CUT_AUDIT_H_
#define LFIW_CORE_LOGS_CUT_AUDIT_H_

#include <cstdint>
#include <map>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"

namespace lfiw::core {

// Tests whether episodes that a limit cut are cut for what happens in them. The observation at
// which one was cut is ranked among those of the episodes that go on at the same step: where cuts
// do not depend on the state, ranks are uniform; where ends by the environment are marked as cuts,
// they lie at the edge. Of a sample of whole episodes.
class CutAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  // Tells of cuts that depend on the state, an error where it is clear and a warning where it is
  // likely; and of flags that say that only the longest episodes were ended by the environment.
  std::vector<Finding> Findings() const;

 private:
  struct Episode {
    MatrixF observations;  // [recorded ones, kept dimensions]
    std::int64_t steps = 0;
    bool cut = false;
  };
  // Ranks of one dimension of the last observations of cut episodes, in [0, 1].
  std::vector<double> Ranks(Eigen::Index dimension) const;
  void FindSwappedFlags(std::vector<Finding>& findings) const;

  std::int64_t episodes_ = 0;
  std::int64_t kept_numbers_ = 0;
  double threshold_ = 1.0;
  std::multimap<double, Episode> kept_;  // by a random rank; the highest ranks are given up
  std::map<std::int64_t, std::int64_t> cut_lengths_, ended_lengths_;  // numbers of episodes
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_CUT_AUDIT_H_
