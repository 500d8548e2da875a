#ifndef LFIW_CORE_RUN_PROGRESS_H_
#define LFIW_CORE_RUN_PROGRESS_H_

#include <atomic>
#include <cstdint>
#include <string>

namespace lfiw::core {

// Receives what a long computation has done so far. Thread safe; the program draws a bar on the
// terminal, a library user may pass nullptr to have none.
class Progress {
 public:
  virtual ~Progress() = default;
  // `done` more units of work ended (gradient steps, environment steps, episodes).
  virtual void Advance(std::int64_t done) = 0;
  // `done` more units were found done by an earlier try, at no cost.
  virtual void Resume(std::int64_t done) { Advance(done); }
  // `left` units of the total turned out not to be needed.
  virtual void Skip(std::int64_t /*left*/) {}
  // A short text beside the bar, such as "return 1234".
  virtual void Note(const std::string& text) = 0;
};

// Set by the program when the user interrupts it. Long loops test it between steps, write their
// checkpoint and throw Interrupted.
std::atomic<bool>& InterruptRequested();

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_PROGRESS_H_
