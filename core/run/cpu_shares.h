#ifndef LFIW_CORE_RUN_CPU_SHARES_H_
#define LFIW_CORE_RUN_CPU_SHARES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "core/layers.h"

namespace lfiw::core {

// CPU seconds that all threads of this process have used so far.
double ProcessCpuSeconds();

// Splits the CPU time of the process among pieces of work: what is used while several are under way
// at once is shared evenly, so that all pieces together never hold more than was used. Safe for
// several threads.
class CpuShares {
 public:
  using Clock = std::function<double()>;
  explicit CpuShares(Clock clock = ProcessCpuSeconds) : clock_(std::move(clock)) {}

  // A piece of work begins; returns its number.
  std::int64_t Begin();
  // It ends; returns its CPU seconds. A number ends once.
  double End(std::int64_t piece);

 private:
  void Settle();  // gives those under way what was used since the last change

  Clock clock_;
  std::mutex mutex_;
  std::int64_t next_ = 0;
  double settled_ = 0.0;
  std::map<std::int64_t, double> under_way_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CPU_SHARES_H_
