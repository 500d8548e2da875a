#include "core/parallel.h"

#include <cblas.h>
#include <omp.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

// Pins OpenMP (and with it LibTorch, which asks OpenMP) to one thread on every thread that enters
// the scheduler: the limit is a property of each thread and is not inherited.
class OneThreadPerTask : public tbb::task_scheduler_observer {
 public:
  OneThreadPerTask() { observe(true); }
  ~OneThreadPerTask() override { observe(false); }
  void on_scheduler_entry(bool /*is_worker*/) override { omp_set_num_threads(1); }
};

struct Runtime {
  Runtime() {
    openblas_set_num_threads(1);
    omp_set_num_threads(1);
  }
  OneThreadPerTask observer;
  std::unique_ptr<tbb::global_control> limit;
  int threads = tbb::info::default_concurrency();
};

Runtime& GetRuntime() {
  static Runtime runtime;
  return runtime;
}

}  // namespace

void SetThreads(int threads) {
  LFIW_ASSERT(threads >= 0);
  Runtime& runtime = GetRuntime();
  runtime.threads = threads == 0 ? tbb::info::default_concurrency() : threads;
  runtime.limit.reset();
  runtime.limit = std::make_unique<tbb::global_control>(
      tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(runtime.threads));
}

int Threads() { return GetRuntime().threads; }

void ParallelFor(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  GetRuntime();
  if (count <= 0) return;
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  // isolated: a thread that waits for the end of this loop takes tasks of this loop alone. It never
  // starts a task of an outer one in the midst of its own, whose locks it may hold.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::int64_t>(0, count, 1),
        [&](const tbb::blocked_range<std::int64_t>& range) {
          for (std::int64_t i = range.begin(); i != range.end(); ++i) {
            try {
              body(i);
            } catch (...) {
              failures[static_cast<std::size_t>(i)] = std::current_exception();
            }
          }
        },
        tbb::simple_partitioner());
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void ParallelBlocks(std::int64_t count, std::int64_t block,
                    const std::function<void(std::int64_t, std::int64_t)>& body) {
  LFIW_ASSERT(block >= 1);
  ParallelFor((count + block - 1) / block,
              [&](std::int64_t i) { body(i * block, std::min(count, (i + 1) * block)); });
}

}  // namespace lfiw::core
