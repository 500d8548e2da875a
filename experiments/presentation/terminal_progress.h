#ifndef LFIW_EXPERIMENTS_PRESENTATION_TERMINAL_PROGRESS_H_
#define LFIW_EXPERIMENTS_PRESENTATION_TERMINAL_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "core/layers.h"
#include "core/run/progress.h"
#include "core/run/stage.h"

namespace lfiw::experiments {

// How much the program says while it works.
enum class Verbosity { kQuiet, kNormal };

// Work done of a total, and what of it this try found done.
struct WorkCount {
  std::int64_t total = 1;
  std::int64_t done = 0;
  std::int64_t resumed = 0;

  double Share() const;
  // Units per second of this try, and seconds left at that rate; 0 before anything was done.
  double Rate(double elapsed) const;
  double SecondsLeft(double elapsed) const;
};

// A progress bar on standard error: share done, rate, note, and time left. On a terminal it redraws
// one line a few times a second; elsewhere (a log file) it prints a line every half minute.
class TerminalProgress : public Progress {
 public:
  // `total` and `unit` describe the work ("gradient steps").
  TerminalProgress(std::string title, std::int64_t total, std::string unit, Verbosity verbosity);
  ~TerminalProgress() override;

  void Advance(std::int64_t done) override;
  void Resume(std::int64_t done) override;
  void Skip(std::int64_t left) override;
  void Note(const std::string& text) override;

 private:
  using Clock = std::chrono::steady_clock;
  void Draw(Clock::time_point now);

  std::string title_, unit_, note_;
  WorkCount work_;
  Verbosity verbosity_;
  bool terminal_;
  Clock::time_point start_, last_;
  std::mutex mutex_;
};

// One line of at most `columns` - 1 characters about work of which `share` in [0, 1] is done: where
// there is little room first the bar gets shorter, then the note is left out.
std::string ProgressLine(const std::string& title, double share, const std::string& rate,
                         const std::string& note, const std::string& left, std::size_t columns);

// How a stage writes checkpoints, and shows its progress on the terminal.
StageWork TerminalWork(Verbosity verbosity, double checkpoint_seconds = 60.0);

// "1h 02m", "3m 20s", "4.1s".
std::string FormatDuration(double seconds);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_TERMINAL_PROGRESS_H_
