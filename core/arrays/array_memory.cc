#include "core/arrays/array_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace lfiw::core {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
// From here on the waste of whole huge pages is small.
constexpr std::size_t kLarge = 2 * kHugePage;

std::size_t RoundUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

void* AllocateArrayMemory(std::size_t bytes) {
  const std::size_t unit = bytes >= kLarge ? kHugePage : kCacheLine;
  const std::size_t rounded = RoundUp(bytes, unit);
  void* memory = rounded < bytes ? nullptr : std::aligned_alloc(unit, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  // a wish: where it cannot be had, memory is as it was
  if (bytes >= kLarge) ::madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

void FreeArrayMemory(void* memory) { std::free(memory); }

}  // namespace lfiw::core
