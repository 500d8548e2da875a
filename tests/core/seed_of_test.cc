#include "core/seed_of.h"

#include <gtest/gtest.h>

#include <set>

namespace lfiw::core {
namespace {

TEST(SeedOf, DiffersByRootPurposeAndIndex) {
  const std::set<std::uint64_t> seeds = {SeedOf(1, "a", 0), SeedOf(1, "a", 1), SeedOf(1, "b", 0),
                                         SeedOf(2, "a", 0)};
  EXPECT_EQ(seeds.size(), 4u);
  EXPECT_EQ(SeedOf(1, "a", 1), SeedOf(1, "a", 1));
}

}  // namespace
}  // namespace lfiw::core
