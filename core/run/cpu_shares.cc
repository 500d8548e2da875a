#include "core/run/cpu_shares.h"

#include <ctime>

#include "core/error.h"

namespace lfiw::core {

double ProcessCpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void CpuShares::Settle() {
  const double now = clock_();
  for (auto& [piece, seconds] : under_way_) {
    seconds += (now - settled_) / static_cast<double>(under_way_.size());
  }
  settled_ = now;
}

std::int64_t CpuShares::Begin() {
  const std::lock_guard guard(mutex_);
  Settle();
  under_way_.emplace(next_, 0.0);
  return next_++;
}

double CpuShares::End(std::int64_t piece) {
  const std::lock_guard guard(mutex_);
  Settle();
  const auto found = under_way_.find(piece);
  LFIW_ASSERT(found != under_way_.end());
  const double seconds = found->second;
  under_way_.erase(found);
  return seconds;
}

}  // namespace lfiw::core
