#ifndef LFIW_CORE_RUN_ATTEMPT_H_
#define LFIW_CORE_RUN_ATTEMPT_H_

#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace lfiw::core {

// A stage that another process or thread is making, or, while stages are only listed, one that has
// yet to be made. Not an Error: the loop that tried it comes back to it.
class StageHeld : public std::exception {
 public:
  explicit StageHeld(std::vector<std::string> lock_files) : lock_files_(std::move(lock_files)) {}
  const char* what() const noexcept override { return "another process makes this stage"; }
  // The locks of which one must become free before another try can get further.
  const std::vector<std::string>& lock_files() const { return lock_files_; }

 private:
  std::vector<std::string> lock_files_;
};

// All stages of a run are made, by a process that was to make no more than those. Not an Error.
class StagesDone : public std::exception {
 public:
  const char* what() const noexcept override { return "all stages are made"; }
};

// One try of one item of a loop whose items are shared with other processes (shared_loop.h). While
// one is under way on a thread, a StageCache throws StageHeld there in place of waiting.
class Attempt {
 public:
  // The numbers of tries within each other, outermost first.
  using Path = std::vector<std::int64_t>;

  // The tries that are under way on this thread; empty where there is none.
  static const Path& OnThisThread();

  // Begins a try within those of `outer`.
  explicit Attempt(Path outer);
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  std::int64_t number() const { return number_; }

 private:
  std::int64_t number_;
  Path before_;  // what was under way on this thread
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_ATTEMPT_H_
