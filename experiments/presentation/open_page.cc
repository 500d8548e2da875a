#include "experiments/presentation/open_page.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/run/spawn_attributes.h"
#include "experiments/presentation/subprocess.h"

namespace lfiw::experiments {

void OpenPage(const std::string& path) {
  std::string program = "xdg-open", file = path;
  char* const arguments[] = {program.data(), file.data(), nullptr};
  pid_t child = 0;
  const SpawnAttributes attributes;
  if (posix_spawnp(&child, program.c_str(), nullptr, attributes.get(), arguments, environ) != 0) {
    Throw<ProgramError>("xdg-open: not found; open {} in a browser", path);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    Throw<ProgramError>("xdg-open: failed; open {} in a browser", path);
  }
}

}  // namespace lfiw::experiments
