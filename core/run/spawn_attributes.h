#ifndef LFIW_CORE_RUN_SPAWN_ATTRIBUTES_H_
#define LFIW_CORE_RUN_SPAWN_ATTRIBUTES_H_

#include <signal.h>
#include <spawn.h>

#include "core/layers.h"

namespace lfiw::core {

// With which posix_spawn starts a program that gets its signals as from a shell: none is held, as
// this program holds Ctrl-C, and none is ignored.
class SpawnAttributes {
 public:
  // `flags` are further ones of posix_spawn, such as POSIX_SPAWN_SETPGROUP.
  explicit SpawnAttributes(short flags = 0) {
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM}) sigaddset(&signals, number);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_SPAWN_ATTRIBUTES_H_
