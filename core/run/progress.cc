#include "core/run/progress.h"

namespace lfiw::core {

std::atomic<bool>& InterruptRequested() {
  static std::atomic<bool> requested = false;
  return requested;
}

}  // namespace lfiw::core
