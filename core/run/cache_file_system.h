#ifndef LFIW_CORE_RUN_CACHE_FILE_SYSTEM_H_
#define LFIW_CORE_RUN_CACHE_FILE_SYSTEM_H_

#include <string>
#include <string_view>
#include <vector>

namespace lfiw::core {

// What a stage cache needs of the file system that it lies on, for processes of one machine and of
// several.

// One thing that was tried.
struct FileSystemCheck {
  std::string name;
  bool passed = false;
  std::string detail;  // what was seen, or what failed and the cure
};

// Where a path lies, as the system's table of mounts says.
struct Mount {
  std::string folder, type, options;
};

// Finds the mount of an absolute path in the text of /proc/self/mounts: that with the longest
// folder above it, the last of several.
Mount MountOf(const std::string& path, std::string_view table);

// Judges by its kind and options whether locks on a mount hold between machines.
FileSystemCheck JudgeMount(const Mount& mount);

// Tries everything in `folder`, which is created if missing, beside a child process: locks between
// two processes, also after the sudden end of one, the atomic rename of files and folders, whether
// one process sees at once what the other wrote, and the times of files. Leaves nothing behind but
// the folder. Throws DataError when nothing can be written there.
std::vector<FileSystemCheck> CheckCacheFolder(const std::string& folder);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CACHE_FILE_SYSTEM_H_
