#include "core/progress.h"

namespace lfiw {

std::atomic<bool>& InterruptRequested() {
  static std::atomic<bool> requested = false;
  return requested;
}

}  // namespace lfiw
