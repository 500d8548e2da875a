#ifndef LFIW_CORE_ONE_OPENMP_THREAD_H_
#define LFIW_CORE_ONE_OPENMP_THREAD_H_

#include <omp.h>

#include "core/layers.h"

namespace lfiw::core {

// While it lives, OpenMP gives the calling thread no others: oneDNN asks it how many to use, which
// is a property of every thread.
class OneOpenMpThread {
 public:
  OneOpenMpThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~OneOpenMpThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  OneOpenMpThread(const OneOpenMpThread&) = delete;
  OneOpenMpThread& operator=(const OneOpenMpThread&) = delete;

 private:
  int before_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ONE_OPENMP_THREAD_H_
