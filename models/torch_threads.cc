#include "models/torch_threads.h"

#include <ATen/Parallel.h>

#include "core/parallel.h"

namespace lfiw::models {

void PinTorchToOneThread() {
  // LibTorch resets OpenMP to one thread per core on every thread that first uses it, unless its
  // own global limit is set. Threads() makes core pin OpenBLAS likewise.
  static const int threads = [] {
    at::set_num_threads(1);
    return Threads();
  }();
  static_cast<void>(threads);
}

}  // namespace lfiw::models
