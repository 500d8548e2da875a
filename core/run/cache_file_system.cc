#include "core/run/cache_file_system.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/file_lock.h"
#include "core/run/host_name.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

// A process waits so long for what another has done.
constexpr double kPatience = 10.0;
// Two clocks that differ by more make ages in `lfiw cache prune` wrong.
constexpr double kClockSkew = 5.0;

bool Await(const std::function<bool()>& condition) {
  const auto begin = std::chrono::steady_clock::now();
  while (!condition()) {
    if (Seconds(std::chrono::steady_clock::now() - begin).count() > kPatience) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

// A child process that is killed, if it has not ended, where this goes out of scope.
class HelperProcess {
 public:
  explicit HelperProcess(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) Throw<DataError>("cannot start a process to try locks with");
    if (pid_ > 0) return;
    try {
      body();
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  ~HelperProcess() { Kill(); }
  HelperProcess(const HelperProcess&) = delete;
  HelperProcess& operator=(const HelperProcess&) = delete;

  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

FileSystemCheck Failed(const char* name, const std::string& why) { return {name, false, why}; }
FileSystemCheck Passed(const char* name, const std::string& what) { return {name, true, what}; }

// A try that throws has failed.
FileSystemCheck Try(const char* name, const std::function<FileSystemCheck()>& check) {
  try {
    return check();
  } catch (const Error& error) {
    return Failed(name, error.what());
  } catch (const fs::filesystem_error& error) {
    return Failed(name, error.what());
  }
}

FileSystemCheck CheckLocks(const std::string& folder) {
  constexpr const char* kName = "locks";
  const std::string lock = folder + "/lock", held = folder + "/held";
  HelperProcess other([&] {
    const FileLock own(lock);
    WriteFileAtomically(held, "");
    for (;;) ::pause();
  });
  if (!Await([&] { return fs::exists(held); })) {
    return Failed(kName, "another process cannot take a lock");
  }
  if (FileLock::Try(lock) != nullptr || FileLock::Try(lock, LockKind::kShared) != nullptr) {
    return Failed(kName,
                  "two processes hold the same lock: they would compute in each other's way");
  }
  other.Kill();
  if (!Await([&] { return FileLock::Try(lock) != nullptr; })) {
    return Failed(kName, "the lock of a process that died stays held");
  }
  return Passed(kName, "one holder at a time; the lock of a process that dies is free");
}

FileSystemCheck CheckRename(const std::string& folder) {
  constexpr const char* kName = "rename";
  fs::create_directories(folder + "/whole.work");
  WriteFileAtomically(folder + "/whole.work/file", "x");
  fs::rename(folder + "/whole.work", folder + "/whole");
  if (!fs::exists(folder + "/whole/file") || fs::exists(folder + "/whole.work")) {
    return Failed(kName, "a folder is not under its new name alone");
  }
  // two that publish the same entry must not mix their files
  fs::create_directories(folder + "/whole.work");
  WriteFileAtomically(folder + "/whole.work/other", "y");
  std::error_code error;
  fs::rename(folder + "/whole.work", folder + "/whole", error);
  if (!error) return Failed(kName, "a folder replaced another that holds files");
  return Passed(kName, "a folder appears whole under its name, and replaces none with files");
}

FileSystemCheck CheckVisibility(const std::string& folder) {
  constexpr const char* kName = "visibility";
  const std::string file = folder + "/news";
  // this process has asked for it before it was there
  if (fs::exists(file)) return Failed(kName, "a file is there before it was written");
  const auto begin = std::chrono::steady_clock::now();
  HelperProcess other([&] {
    WriteFileAtomically(file, std::string(100'000, 'x'));
    for (;;) ::pause();
  });
  if (!Await([&] { return fs::exists(file); })) {
    return Failed(
        kName, fmt::format("a file that another process wrote is not there after {} s", kPatience));
  }
  const double seconds = Seconds(std::chrono::steady_clock::now() - begin).count();
  if (ReadFile(file) != std::string(100'000, 'x')) {
    return Failed(kName, "a file that appeared under its name was not whole");
  }
  return Passed(kName,
                fmt::format("what another process writes is seen whole within {:.2f} s", seconds));
}

FileSystemCheck CheckTimes(const std::string& folder) {
  constexpr const char* kName = "times";
  const std::string file = folder + "/time";
  const auto age = [&] {
    return Seconds(fs::file_time_type::clock::now() - fs::last_write_time(file)).count();
  };
  WriteFileAtomically(file, "");
  const double skew = age();
  if (std::abs(skew) > kClockSkew) {
    return Failed(kName, fmt::format("the clock of the file system is {:.0f} s off; ages that "
                                     "`lfiw cache prune` goes by would be wrong",
                                     skew));
  }
  fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  if (age() < 3000.0) return Failed(kName, "the time of a file cannot be set");
  fs::last_write_time(file, fs::file_time_type::clock::now());
  if (age() > kClockSkew) return Failed(kName, "the time of a file cannot be set to now");
  return Passed(kName,
                fmt::format("times of files follow the clock within {:.2f} s", std::abs(skew)));
}

bool HasOption(const std::string& options, const std::string& wanted) {
  std::istringstream all(options);
  for (std::string option; std::getline(all, option, ',');) {
    if (option == wanted) return true;
  }
  return false;
}

}  // namespace

Mount MountOf(const std::string& path, std::string_view table) {
  Mount best;
  std::istringstream lines{std::string(table)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string device;
    Mount mount;
    if (!(fields >> device >> mount.folder >> mount.type >> mount.options)) continue;
    const bool above =
        mount.folder == "/" || path == mount.folder || path.starts_with(mount.folder + "/");
    if (above && mount.folder.size() >= best.folder.size()) best = mount;
  }
  return best;
}

FileSystemCheck JudgeMount(const Mount& mount) {
  constexpr const char* kName = "file system";
  const std::string where = fmt::format("{} at {}", mount.type.empty() ? "unknown" : mount.type,
                                        mount.folder.empty() ? "?" : mount.folder);
  const auto local = [&](const char* option, const char* cure) {
    return Failed(kName, fmt::format("{}, mounted with {}: locks hold on one machine only; {}",
                                     where, option, cure));
  };
  if (mount.type == "nfs" || mount.type == "nfs4") {
    for (const char* option : {"nolock", "local_lock=all", "local_lock=flock"}) {
      if (HasOption(mount.options, option)) return local(option, "mount it without");
    }
    if (mount.type == "nfs") {
      return Passed(kName, where +
                               ": locks between machines need its lock service (NFS 3); "
                               "NFS 4 has its own");
    }
    return Passed(kName, where + ": locks between machines are the server's");
  }
  if (mount.type == "lustre") {
    if (HasOption(mount.options, "localflock")) return local("localflock", "mount it with flock");
    if (!HasOption(mount.options, "flock")) {
      return Failed(kName, where + ", mounted without flock: there are no locks; mount it with it");
    }
    return Passed(kName, where + " with flock: locks hold between machines");
  }
  if (mount.type == "beegfs") {
    return Passed(kName, where +
                             ": locks hold between machines with tuneUseGlobalFileLocks = true "
                             "in beegfs-client.conf, on one machine only without");
  }
  if (mount.type == "gpfs") return Passed(kName, where + ": try locks from two machines (docs)");
  return Passed(kName, where + ": taken as local to this machine");
}

std::vector<FileSystemCheck> CheckCacheFolder(const std::string& folder) {
  CreateDirectories(folder);
  const std::string absolute = fs::canonical(folder).string();
  const std::string scratch = fmt::format("{}/.doctor@{}.{}", absolute, HostName(), ::getpid());
  CreateDirectories(scratch);
  std::vector<FileSystemCheck> checks = {
      JudgeMount(MountOf(absolute, ReadFile("/proc/self/mounts"))),
      Try("locks", [&] { return CheckLocks(scratch); }),
      Try("rename", [&] { return CheckRename(scratch); }),
      Try("visibility", [&] { return CheckVisibility(scratch); }),
      Try("times", [&] { return CheckTimes(scratch); })};
  std::error_code ignored;
  fs::remove_all(scratch, ignored);
  return checks;
}

}  // namespace lfiw::core
