// checks of bounds are compiled into builds without NDEBUG only
#undef NDEBUG
#include "core/arrays/array.h"

#include <gtest/gtest.h>

namespace lfiw::core {
namespace {

// A type of this file alone, so that no other file compiles the same arrays without checks.
struct Item {
  int value = 0;
  bool operator==(const Item&) const = default;
};
using Table = Array<Item, 2>;

TEST(ArrayTest, TheLastIndexIsTheFastest) {
  Array<Item, 3> array({2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) array.flat()[i].value = static_cast<int>(i);
  EXPECT_EQ(array(1, 2, 3).value, 23);
  EXPECT_EQ(array(1, 0, 2).value, 14);
  EXPECT_EQ(array.Row(0, 2)[1].value, 9);
  EXPECT_EQ(array.Row(0, 2).size(), 4U);
}

TEST(ArrayTest, RowsOfNoItemsAreEmpty) {
  const Table array({3, 0});
  EXPECT_TRUE(array.Row(2).empty());
  EXPECT_TRUE(array.empty());
}

TEST(ArrayDeathTest, AnIndexOutsideTheShapeAsserts) {
  Table array({2, 3});
  EXPECT_DEATH(array(2, 0).value = 1, "broken invariant");
  EXPECT_DEATH(array(0, 3).value = 1, "broken invariant");
  EXPECT_DEATH(array(-1, 0).value = 1, "broken invariant");
  EXPECT_DEATH(array.Row(2), "broken invariant");
}

}  // namespace
}  // namespace lfiw::core
