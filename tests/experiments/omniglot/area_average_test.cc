#include "experiments/omniglot/area_average.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/rng.h"

namespace lfiw::experiments {
namespace {

std::vector<std::uint8_t> Noise(std::int64_t side, std::uint64_t seed) {
  Stream stream(seed, "noise");
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(side * side));
  for (std::uint8_t& pixel : pixels) pixel = static_cast<std::uint8_t>(stream.Below(256));
  return pixels;
}

std::vector<std::uint8_t> Averaged(const std::vector<std::uint8_t>& in, std::int64_t from,
                                   std::int64_t to) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(to * to));
  AverageAreas(in, from, out, to);
  return out;
}

// Every pixel split into to x to equal parts, then from x from of them averaged.
std::vector<std::uint8_t> SlowlyAveraged(const std::vector<std::uint8_t>& in, std::int64_t from,
                                         std::int64_t to) {
  std::vector<std::uint8_t> out;
  for (std::int64_t y = 0; y < to; ++y) {
    for (std::int64_t x = 0; x < to; ++x) {
      double sum = 0.0;
      for (std::int64_t v = y * from; v < (y + 1) * from; ++v) {
        for (std::int64_t u = x * from; u < (x + 1) * from; ++u) {
          sum += in[static_cast<std::size_t>(v / to * from + u / to)];
        }
      }
      out.push_back(static_cast<std::uint8_t>(std::floor(sum / double(from * from) + 0.5)));
    }
  }
  return out;
}

TEST(AverageAreas, EqualsTheMeanOfEquallySmallParts) {
  for (const auto& [from, to] : {std::pair<std::int64_t, std::int64_t>{15, 4}, {7, 3}, {8, 4}}) {
    const std::vector<std::uint8_t> in = Noise(from, 1);
    EXPECT_EQ(Averaged(in, from, to), SlowlyAveraged(in, from, to)) << from << " to " << to;
  }
}

TEST(AverageAreas, OfTheSameSideChangesNothing) {
  const std::vector<std::uint8_t> in = Noise(9, 2);
  EXPECT_EQ(Averaged(in, 9, 9), in);
}

TEST(AverageAreas, OfAConstantIsTheConstant) {
  const std::vector<std::uint8_t> in(105 * 105, 255);
  const std::vector<std::uint8_t> out = Averaged(in, 105, 28);
  EXPECT_TRUE(std::ranges::all_of(out, [](std::uint8_t value) { return value == 255; }));
}

}  // namespace
}  // namespace lfiw::experiments
