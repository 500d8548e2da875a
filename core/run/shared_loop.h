#ifndef LFIW_CORE_RUN_SHARED_LOOP_H_
#define LFIW_CORE_RUN_SHARED_LOOP_H_

#include <cstdint>
#include <functional>

#include "core/run/attempt.h"
#include "core/run/stage_cache.h"

namespace lfiw::core {

// Loops over items that run stages, for any number of processes on one cache at once. An item whose
// stage another process makes is put aside, and tried again when others are done: a process waits
// only when somebody else works on everything that is left. A try that comes to such a stage is
// given up as a whole; what it made before is found again in the cache, so another try is cheap. An
// item may run in several tries, and must leave nothing behind in one that is given up but what the
// next overwrites.
//
// Loops may stand in one another. An inner one that could only wait is given up with the outer item
// that it belongs to, and the outer loop goes on with other items.

// Runs body(0) .. body(count - 1), each as a parallel task. Throws as ParallelFor.
void ShareTasks(StageCache& cache, std::int64_t count,
                const std::function<void(std::int64_t)>& body);

// The same one after the other, for items that use all threads; an exception ends the loop.
void ShareInTurn(StageCache& cache, std::int64_t count,
                 const std::function<void(std::int64_t)>& body);

// The same for items that each have a cache of their own, such as the runs of a sweep.
void ShareInTurn(std::int64_t count, const std::function<void(std::int64_t)>& body);

// A part of an item that is done again in order later: what it computes until its end is told by
// the records of the second time.
class Rehearsal {
 public:
  explicit Rehearsal(StageCache& cache) : cache_(cache), attempt_(Attempt::OnThisThread()) {}
  ~Rehearsal() { cache_.GiveUp(attempt_); }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

 private:
  StageCache& cache_;
  Attempt attempt_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_SHARED_LOOP_H_
