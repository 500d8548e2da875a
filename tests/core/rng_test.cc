#include "core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace lfiw::core {
namespace {

TEST(Stream, SameNameGivesSameDraws) {
  Stream a(7, "member", {3}), b(7, "member", {3});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.NextBits(), b.NextBits());
}

TEST(Stream, NamesThatDifferInOnePartGiveUnrelatedDraws) {
  const Stream base(7, "member", {3, 4});
  for (Stream other : {Stream(8, "member", {3, 4}), Stream(7, "memberx", {3, 4}),
                       Stream(7, "member", {4, 3}), Stream(7, "member", {3})}) {
    Stream a = base;
    int equal = 0;
    for (int i = 0; i < 1000; ++i) equal += a.NextBits() == other.NextBits();
    EXPECT_LE(equal, 1);
  }
}

TEST(Stream, ChildIsTheStreamWithOneMoreIndex) {
  Stream child = Stream(1, "p", {5}).Child(9);
  Stream direct(1, "p", {5, 9});
  EXPECT_EQ(child.NextBits(), direct.NextBits());
}

TEST(Stream, SeekReplaysFromAnyPosition) {
  Stream stream(1, "p");
  for (int i = 0; i < 7; ++i) stream.NextBits();
  const std::uint64_t position = stream.position();
  const std::uint32_t expected = stream.NextBits();
  Stream other(1, "p");
  other.Seek(position);
  EXPECT_EQ(other.NextBits(), expected);
}

// mean within 5 standard errors, variance within 5 of its own (fixed seed, so exact repeats)
template <class T>
void ExpectStandardNormal(const std::vector<T>& x) {
  const auto n = static_cast<double>(x.size());
  double mean = 0.0, square = 0.0, fourth = 0.0;
  for (const T v : x) {
    const auto d = static_cast<double>(v);
    mean += d / n;
    square += d * d / n;
    fourth += d * d * d * d / n;
  }
  EXPECT_NEAR(mean, 0.0, 5.0 / std::sqrt(n));
  EXPECT_NEAR(square, 1.0, 5.0 * std::sqrt(2.0 / n));
  EXPECT_NEAR(fourth, 3.0, 5.0 * std::sqrt(96.0 / n));
}

TEST(Stream, BulkAndSingleNormalsHaveNormalMoments) {
  Stream stream(11, "normal");
  std::vector<float> bulk(200'000);
  stream.FillNormal(bulk);
  ExpectStandardNormal(bulk);
  std::vector<double> single(200'000);
  for (double& x : single) x = stream.Normal();
  ExpectStandardNormal(single);
}

TEST(Stream, FillBelowIsBelowRepeated) {
  // the last bound rejects almost half of the words
  for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{10'000},
                                    std::uint64_t{1} << 40, (std::uint64_t{1} << 63) + 1}) {
    for (const std::uint64_t position : {0, 1, 2, 6}) {
      for (const std::size_t count : {0, 1, 63, 64, 65, 1000}) {
        Stream single(3, "below"), bulk(3, "below");
        single.Seek(position);
        bulk.Seek(position);
        std::vector<std::uint64_t> expected(count), drawn(count);
        for (std::uint64_t& value : expected) value = single.Below(bound);
        bulk.FillBelow(bound, drawn);
        EXPECT_EQ(drawn, expected) << bound << " " << position << " " << count;
        EXPECT_EQ(bulk.position(), single.position());
        EXPECT_EQ(bulk.NextBits(), single.NextBits());
      }
    }
  }
}

TEST(Stream, BelowIsUniform) {
  Stream stream(5, "below");
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[stream.Below(7)];
  // 5 standard deviations of a binomial count
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 5 * std::sqrt(10'000.0 * 6 / 7));
}

TEST(Stream, UniformStaysInHalfOpenRange) {
  Stream stream(5, "uniform");
  double sum = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    const double u = stream.Uniform(-1.0, 3.0);
    ASSERT_GE(u, -1.0);
    ASSERT_LT(u, 3.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100'000, 1.0, 5 * 4 / std::sqrt(12.0 * 100'000));
}

TEST(Stream, PermutationHoldsEveryIndexOnce) {
  Stream stream(5, "permutation");
  std::vector<std::int64_t> order = stream.Permutation(1000), sorted(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  std::sort(order.begin(), order.end());
  std::iota(sorted.begin(), sorted.end(), 0);
  EXPECT_EQ(order, sorted);
}

}  // namespace
}  // namespace lfiw::core
