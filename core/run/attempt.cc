#include "core/run/attempt.h"

#include <atomic>

namespace lfiw::core {
namespace {

Attempt::Path& PathOfThread() {
  thread_local Attempt::Path path;
  return path;
}

std::int64_t NextAttemptNumber() {
  static std::atomic<std::int64_t> next = 0;
  return next++;
}

}  // namespace

const Attempt::Path& Attempt::OnThisThread() { return PathOfThread(); }

Attempt::Attempt(Path outer) : number_(NextAttemptNumber()), before_(std::move(outer)) {
  before_.push_back(number_);
  std::swap(before_, PathOfThread());
}

Attempt::~Attempt() { PathOfThread() = std::move(before_); }

}  // namespace lfiw::core
