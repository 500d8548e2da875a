#include "core/run/shared_loop.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/index_list.h"
#include "core/parallel.h"
#include "core/run/attempt.h"
#include "core/run/file_lock.h"

namespace lfiw::core {
namespace {

class SharedLoop {
 public:
  // `cache` may be null.
  SharedLoop(StageCache* cache, const std::function<void(std::int64_t)>& body)
      : cache_(cache), body_(body), outer_(Attempt::OnThisThread()) {}

  // Runs an item; returns false after putting it aside.
  bool Try(std::int64_t item) {
    const Attempt attempt(outer_);
    try {
      body_(item);
      return true;
    } catch (const StageHeld& held) {
      if (cache_ != nullptr) cache_->GiveUp(attempt);
      const std::lock_guard guard(mutex_);
      aside_.push_back({item, held.lock_files()});
      return false;
    }
  }

  // Tries what was put aside so far once more, until an item is held still.
  void TryAside() {
    while (const auto item = TakeAside()) {
      if (!Try(*item)) return;
    }
  }

  // After a round over all that was left: returns what was put aside, once another try of it may
  // get further. `tried` is the number of items of the round.
  std::vector<std::int64_t> Rest(std::size_t tried) {
    std::vector<std::int64_t> rest;
    std::vector<std::string> locks;
    for (const Held& held : aside_) {
      rest.push_back(held.item);
      locks.insert(locks.end(), held.lock_files.begin(), held.lock_files.end());
    }
    const bool stuck = rest.size() == tried || only_lists();
    if (!rest.empty() && stuck) {
      if (!outer_.empty() || only_lists()) throw StageHeld(std::move(locks));
      WaitForAnyLock(locks);
    }
    aside_.clear();
    std::ranges::sort(rest);
    return rest;
  }

 private:
  struct Held {
    std::int64_t item;
    std::vector<std::string> lock_files;
  };

  bool only_lists() const { return cache_ != nullptr && cache_->only_lists(); }

  std::optional<std::int64_t> TakeAside() {
    const std::lock_guard guard(mutex_);
    if (aside_.empty() || only_lists()) return {};
    const std::int64_t item = aside_.front().item;
    aside_.pop_front();
    return item;
  }

  StageCache* cache_;
  const std::function<void(std::int64_t)>& body_;
  Attempt::Path outer_;
  std::mutex mutex_;
  std::deque<Held> aside_;
};

void RunInTurn(SharedLoop& loop, std::int64_t count) {
  std::vector<std::int64_t> left = IndexList(count);
  while (!left.empty()) {
    for (const std::int64_t item : left) loop.Try(item);
    left = loop.Rest(left.size());
  }
}

}  // namespace

void ShareTasks(StageCache& cache, std::int64_t count,
                const std::function<void(std::int64_t)>& body) {
  SharedLoop loop(&cache, body);
  std::vector<std::int64_t> left = IndexList(count);
  while (!left.empty()) {
    // between rounds idle threads help with what runs inside the last items
    ParallelFor(std::ssize(left), [&](std::int64_t i) {
      if (loop.Try(left[static_cast<std::size_t>(i)])) loop.TryAside();
    });
    left = loop.Rest(left.size());
  }
}

void ShareInTurn(StageCache& cache, std::int64_t count,
                 const std::function<void(std::int64_t)>& body) {
  SharedLoop loop(&cache, body);
  RunInTurn(loop, count);
}

void ShareInTurn(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  SharedLoop loop(nullptr, body);
  RunInTurn(loop, count);
}

}  // namespace lfiw::core
