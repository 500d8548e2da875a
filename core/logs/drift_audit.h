#ifndef LFIW_CORE_LOGS_DRIFT_AUDIT_H_
#define LFIW_CORE_LOGS_DRIFT_AUDIT_H_

#include <cstdint>
#include <vector>

#include "core/logs/episode_batch.h"
#include "core/logs/finding.h"
#include "core/rng.h"

namespace lfiw::core {

// Tests whether the same step gives something else at another place of the log, as where rewards or
// observations are divided by a deviation that is measured while the log is written. Ridge
// regressions on a sample of steps compare what (s, a) tell of s' - s, and (s, a, s') of the
// reward, with what they tell when every coefficient may change with the place of the episode. And
// whether the rewards of first steps follow from (s, a, s') as the others do: rewards that are one
// row late may fit every other step as well, as a function of its first state.
class DriftAuditor {
 public:
  void Add(const EpisodeBatch& batch);
  // Tells of a drift, an error where it is clear and a warning where it is likely.
  std::vector<Finding> Findings() const;

 private:
  struct Step {
    double place = 0.0;  // number of its episode
    bool first = false;  // of its episode
    VectorF state, action, next_state;
    double reward = 0.0;
  };

  enum class Part { kBefore, kWhole };  // (s, a) or (s, a, s')
  // Gives the numbers of a part and, where they are few, their products.
  static VectorD FeaturesOf(const Step& step, Part part);
  void FindOddFirstRewards(std::vector<Finding>& findings) const;

  std::int64_t episodes_ = 0;
  std::int64_t steps_ = 0;
  std::vector<Step> sample_;
  Stream stream_{0, "drift sample"};
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_DRIFT_AUDIT_H_
