#include "core/logs/reset_audit.h"

#include <algorithm>

#include "core/error.h"
#include "core/logs/array_blocks.h"

namespace lfiw::core {
namespace {

// Fewer ends may agree by chance, as where there are few states.
constexpr std::int64_t kFewestResets = 5;
// Of the ends, those at which the observations agree; and how much longer than others a step to a
// first observation is at least.
constexpr double kMostEnds = 0.9, kJump = 1.5;

}  // namespace

void ResetAuditor::Add(const EpisodeBatch& batch) {
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    const std::int64_t first = batch.ObservationRow(e, 0), outcomes = batch.Outcomes(e);
    if (last_.rows() > 0) {
      ++ends_;
      same_ += SameRow(last_, 0, batch.observations, first) ? 1 : 0;
    }
    for (std::int64_t t = 0; t < outcomes; ++t) {
      const auto length = static_cast<double>(
          (batch.observations.row(first + t + 1) - batch.observations.row(first + t)).norm());
      if (t + 1 < batch.Length(e)) {
        steps_ += length;
        ++step_count_;
      } else {
        last_steps_ += length;
      }
    }
    last_.resize(0, batch.obs_dim());
    if (outcomes == batch.Length(e)) last_ = batch.observations.row(first + outcomes);
  }
}

std::optional<Finding> ResetAuditor::Find() const {
  if (ends_ < kFewestResets || step_count_ == 0) return std::nullopt;
  const auto ends = static_cast<double>(ends_);
  if (static_cast<double>(same_) < kMostEnds * ends) return std::nullopt;
  // the sum over last steps is of one more than the ends that are followed by an episode
  const double step = steps_ / static_cast<double>(step_count_);
  if (!(last_steps_ / (ends + 1.0) > kJump * step)) return std::nullopt;
  return Finding{
      Severity::kError, "reset_as_last_observation",
      fmt::format("the last observation of {} of {} episodes is the first one of the next episode: "
                  "the environment was reset before it was logged",
                  same_, ends_),
      "write the observation in which the episode ended, or leave out the last one"};
}

}  // namespace lfiw::core
