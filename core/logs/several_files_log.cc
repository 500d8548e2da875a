#include "core/logs/several_files_log.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "core/error.h"
#include "core/logs/log_builder.h"

namespace lfiw::core {
namespace {

LogCounts Sum(const LogCounts& a, const LogCounts& b) {
  return {.file_steps = a.file_steps + b.file_steps,
          .unrecorded_cuts = a.unrecorded_cuts + b.unrecorded_cuts,
          .unrecorded_ends = a.unrecorded_ends + b.unrecorded_ends,
          .discarded_episodes = a.discarded_episodes + b.discarded_episodes,
          .cut_episodes = a.cut_episodes + b.cut_episodes,
          .padding_steps = a.padding_steps + b.padding_steps,
          .reset_steps = a.reset_steps + b.reset_steps,
          .duplicate_episodes = a.duplicate_episodes + b.duplicate_episodes,
          .both_flags = a.both_flags + b.both_flags,
          .continuity_checked = a.continuity_checked + b.continuity_checked,
          .continuity_broken = a.continuity_broken + b.continuity_broken,
          .first_broken = a.first_broken.empty() ? b.first_broken : a.first_broken,
          .reset_ends = a.reset_ends + b.reset_ends};
}

class SeveralFilesReader final : public LogReader {
 public:
  SeveralFilesReader(std::vector<std::string> files,
                     std::function<std::unique_ptr<LogReader>(const std::string&)> open)
      : files_(std::move(files)), open_(std::move(open)), reader_(open_(files_.front())) {
    info_ = reader_->info();
    AddNote(info_, fmt::format("{} files are read as one log, in the order of their names",
                               files_.size()));
    counts_ = reader_->counts();
  }

  const LogInfo& info() const override { return info_; }
  const LogCounts& counts() const override { return counts_; }

  EpisodeBatch Next(std::int64_t max_steps) override {
    for (;;) {
      EpisodeBatch batch = reader_->Next(max_steps);
      counts_ = Sum(finished_, Placed(reader_->counts()));
      if (batch.episodes() > 0) return batch;
      for (const std::string& note : reader_->info().notes) AddNote(info_, note);
      if (at_ + 1 == files_.size()) return batch;
      finished_ = counts_;
      reader_ = open_(files_[++at_]);
      RequireSame(reader_->info());
    }
  }

 private:
  // Places are those within a file.
  LogCounts Placed(LogCounts counts) const {
    if (!counts.first_broken.empty()) counts.first_broken += " of " + files_[at_];
    return counts;
  }

  void RequireSame(const LogInfo& other) const {
    if (other.obs_dim != info_.obs_dim || other.action_dim != info_.action_dim ||
        other.discrete_actions != info_.discrete_actions) {
      Throw<DataError>(
          "{}: {} observations and {} actions, {} has {} and {}; files of one log are of one kind",
          files_[at_], other.obs_dim, other.action_dim, files_.front(), info_.obs_dim,
          info_.action_dim);
    }
    if (other.environment != info_.environment) {
      Throw<DataError>("{}: is of '{}', {} of '{}'; files of one log are of one environment",
                       files_[at_], other.environment, files_.front(), info_.environment);
    }
  }

  std::vector<std::string> files_;
  std::function<std::unique_ptr<LogReader>(const std::string&)> open_;
  std::size_t at_ = 0;
  std::unique_ptr<LogReader> reader_;
  LogInfo info_;
  LogCounts counts_, finished_;
};

}  // namespace

std::vector<std::string> ExpandLogPath(const std::string& path) {
  std::error_code error;
  if (path.find_first_of("*?[") == std::string::npos || std::filesystem::exists(path, error)) {
    return {path};
  }
  glob_t found{};
  const int status = glob(path.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  if (status == 0) files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  if (files.empty()) {
    Throw<DataError>("{}: no file matches; put the pattern in quotes and name existing files",
                     path);
  }
  std::ranges::sort(files);
  return files;
}

std::unique_ptr<LogReader> OpenSeveralFiles(
    std::vector<std::string> files,
    std::function<std::unique_ptr<LogReader>(const std::string&)> open) {
  return std::make_unique<SeveralFilesReader>(std::move(files), std::move(open));
}

}  // namespace lfiw::core
