#include "core/arrays/array_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <vector>

#include "core/arrays/array.h"

namespace lfiw::core {
namespace {

std::uintptr_t Address(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

TEST(ArrayMemory, AlignsSmallBlocksToACacheLineAndLargeOnesToAHugePage) {
  const std::vector<double, ArrayAllocator<double>> small(3), large(1 << 20);
  EXPECT_EQ(Address(small.data()) % 64, 0u);
  EXPECT_EQ(Address(large.data()) % (2u << 20), 0u);
}

TEST(ArrayMemory, HoldsEveryValueOfALargeArray) {
  Array<double, 2> array({1000, 777}, 1.5);
  array(999, 776) = 2.5;
  double sum = 0.0;
  for (const double value : array.flat()) sum += value;
  EXPECT_EQ(sum, 1.5 * 777'000 + 1.0);
}

TEST(ArrayMemory, ThrowsForWhatNoMemoryHolds) {
  ArrayAllocator<double> allocator;
  const std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(allocator.allocate(all), std::bad_alloc);
  EXPECT_THROW(AllocateArrayMemory(all), std::bad_alloc);
}

}  // namespace
}  // namespace lfiw::core
