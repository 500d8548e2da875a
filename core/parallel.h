#ifndef LFIW_CORE_PARALLEL_H_
#define LFIW_CORE_PARALLEL_H_

#include <cstdint>
#include <functional>

namespace lfiw::core {

// The one way to run things in parallel. Tasks are whole members, classifiers, environments or
// blocks of rows; inside a task BLAS and OpenMP run on one thread.

// Limits the whole program to `threads` threads (0: one per core). Call before any parallel work.
void SetThreads(int threads);
int Threads();

// Runs body(0) .. body(count - 1), each as one task, in any order. When bodies throw, the exception
// of the lowest index is rethrown after all have ended, whatever the number of threads. A thread
// that waits for a loop inside a body runs tasks of that loop alone, so a body may hold a lock
// across it.
void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body);

// Cuts [0, count) into blocks of `block` indices (the last may be shorter) and runs
// body(begin, end) for each. The cut depends on the problem alone, never on the threads.
void ParallelBlocks(std::int64_t count, std::int64_t block,
                    const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace lfiw::core

#endif  // LFIW_CORE_PARALLEL_H_
