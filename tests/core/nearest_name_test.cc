#include "core/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

using Names = std::vector<std::string_view>;

// The definition by recursion.
std::size_t SlowDistance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  if (a[0] == b[0]) return SlowDistance(a.substr(1), b.substr(1));
  return 1 + std::min({SlowDistance(a.substr(1), b), SlowDistance(a, b.substr(1)),
                       SlowDistance(a.substr(1), b.substr(1))});
}

TEST(EditDistance, IsTheOneOfTheRecursiveDefinition) {
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  Stream stream(1, "words");
  const auto word = [&stream] {
    std::string letters(stream.Below(6), 'a');
    for (char& letter : letters) letter = static_cast<char>('a' + stream.Below(3));
    return letters;
  };
  for (int i = 0; i < 200; ++i) {
    const std::string a = word(), b = word();
    EXPECT_EQ(EditDistance(a, b), SlowDistance(a, b)) << a << " " << b;
  }
}

TEST(NearestName, IsTheFirstOfThoseAtTheSmallestDistance) {
  EXPECT_EQ(NearestName("wiss", Names{"is", "wis", "wisp"}), 1U);
  EXPECT_EQ(NearestName("x", Names{"a", "b"}), 0U);
}

TEST(NearestName, PartOfANameIsNear) {
  EXPECT_EQ(NearestName("rate", Names{"rat_of_x", "learning_rate"}), 1U);
  // too short to mean anything
  EXPECT_EQ(NearestName("lr", Names{"la", "learning_lr"}), 0U);
}

TEST(NearestName, NothingIsNearBeyondTheLargestDistanceOrAmongNoNames) {
  EXPECT_EQ(NearestName("steps", Names{"epochs"}, 2), std::nullopt);
  EXPECT_EQ(NearestName("stpes", Names{"steps"}, 2), 0U);
  EXPECT_EQ(NearestName("steps", Names{}), std::nullopt);
}

}  // namespace
}  // namespace lfiw::core
