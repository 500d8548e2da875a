#include "core/index_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(IndexList, CountsFromZeroOrFromItsBegin) {
  EXPECT_THAT(IndexList(std::int64_t{3}), ElementsAre(0, 1, 2));
  EXPECT_THAT(IndexList(std::int64_t{5}, std::int64_t{7}), ElementsAre(5, 6));
  EXPECT_THAT(IndexList(std::size_t{0}), IsEmpty());
}

}  // namespace
}  // namespace lfiw::core
