#include "experiments/presentation/terminal_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace lfiw::experiments {
namespace {

constexpr std::chrono::milliseconds kRedraw{200};
constexpr std::chrono::seconds kLogLine{30};

// "12.3k" for 12300.
std::string FormatCount(double count) {
  if (count >= 1e6) return fmt::format("{:.2f}M", count / 1e6);
  if (count >= 1e4) return fmt::format("{:.1f}k", count / 1e3);
  return fmt::format("{:.0f}", count);
}

// The width of a terminal; of what is none, such as a file, that of usual lines.
std::size_t ColumnsOf(int file) {
  winsize size{};
  const bool known = ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 100;
}

}  // namespace

StageWork TerminalWork(Verbosity verbosity, double checkpoint_seconds) {
  return {.directory = {},
          .checkpoint_seconds = checkpoint_seconds,
          .start_progress = [verbosity](const std::string& title, std::int64_t total,
                                        const std::string& unit) {
            return std::make_unique<TerminalProgress>(title, total, unit, verbosity);
          }};
}

std::string FormatDuration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
  if (whole >= 60) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{:.1f}s", seconds);
}

double WorkCount::Share() const {
  return std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
}

double WorkCount::Rate(double elapsed) const {
  return elapsed > 0.0 ? static_cast<double>(done - resumed) / elapsed : 0.0;
}

double WorkCount::SecondsLeft(double elapsed) const {
  const double rate = Rate(elapsed);
  return rate > 0.0 ? std::max(0.0, static_cast<double>(total - done) / rate) : 0.0;
}

TerminalProgress::TerminalProgress(std::string title, std::int64_t total, std::string unit,
                                   Verbosity verbosity)
    : title_(std::move(title)),
      unit_(std::move(unit)),
      work_{.total = std::max<std::int64_t>(total, 1)},
      verbosity_(verbosity),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(start_) {}

std::string ProgressLine(const std::string& title, double share, const std::string& rate,
                         const std::string& note, const std::string& left, std::size_t columns) {
  constexpr std::size_t kWidestBar = 24, kNarrowestBar = 6;
  const auto line = [&](std::size_t width, const std::string& remark) {
    const auto filled = static_cast<std::size_t>(share * static_cast<double>(width));
    return fmt::format("  {:<28} [{}{}] {:3.0f}%  {}{}  {}", title, std::string(filled, '#'),
                       std::string(width - filled, '.'), 100 * share, rate,
                       remark.empty() ? "" : ", " + remark, left);
  };
  // the last column stays empty, or terminals break the line
  for (const std::string& remark : {note, std::string()}) {
    const std::size_t others = line(0, remark).size();
    if (others + kNarrowestBar < columns) {
      return line(std::min(kWidestBar, columns - 1 - others), remark);
    }
  }
  return line(0, "").substr(0, columns - 1);
}

TerminalProgress::~TerminalProgress() {
  if (verbosity_ == Verbosity::kQuiet || work_.done == 0) return;
  const std::string took =
      FormatDuration(std::chrono::duration<double>(Clock::now() - start_).count());
  fmt::print(stderr, "{}  {:<28} {:>9}  {}{}\n", terminal_ ? "\r\033[K" : "", title_, took,
             FormatCount(static_cast<double>(work_.done)) + " " + unit_,
             note_.empty() ? "" : ", " + note_);
}

void TerminalProgress::Advance(std::int64_t done) {
  const std::lock_guard lock(mutex_);
  work_.done += done;
  const Clock::time_point now = Clock::now();
  if (verbosity_ == Verbosity::kQuiet) return;
  if (now - last_ < (terminal_ ? Clock::duration(kRedraw) : Clock::duration(kLogLine))) return;
  last_ = now;
  Draw(now);
}

void TerminalProgress::Resume(std::int64_t done) {
  const std::lock_guard lock(mutex_);
  work_.done += done;
  work_.resumed += done;
}

void TerminalProgress::Skip(std::int64_t left) {
  const std::lock_guard lock(mutex_);
  work_.total = std::max<std::int64_t>(work_.total - left, 1);
}

void TerminalProgress::Note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  note_ = text;
}

void TerminalProgress::Draw(Clock::time_point now) {
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::string rate = fmt::format("{} {}/s", FormatCount(work_.Rate(elapsed)), unit_);
  const std::string left = FormatDuration(work_.SecondsLeft(elapsed)) + " left";
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "",
             ProgressLine(title_, work_.Share(), rate, note_, left, ColumnsOf(STDERR_FILENO)),
             terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace lfiw::experiments
