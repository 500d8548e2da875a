#ifndef LFIW_CORE_ARRAYS_ARRAY_MEMORY_H_
#define LFIW_CORE_ARRAYS_ARRAY_MEMORY_H_

#include <cstddef>
#include <new>

namespace lfiw::core {

// Memory for `bytes`, aligned to a cache line; large blocks lie on huge pages where the system has
// them, which spares most of the page faults of fresh memory. Throws std::bad_alloc.
void* AllocateArrayMemory(std::size_t bytes);
void FreeArrayMemory(void* memory);

// Allocator of standard containers that takes such memory.
template <class T>
struct ArrayAllocator {
  using value_type = T;

  ArrayAllocator() = default;
  template <class U>
  ArrayAllocator(const ArrayAllocator<U>&) {}  // NOLINT(google-explicit-constructor): as required

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(AllocateArrayMemory(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) { FreeArrayMemory(memory); }

  bool operator==(const ArrayAllocator&) const = default;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_ARRAY_MEMORY_H_
