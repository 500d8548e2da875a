#include "core/bfloat16_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lfiw::core {
namespace {

using testing::ElementsAre;

float ToFloat(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

class BFloat16ProductTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasBFloat16Products()) GTEST_SKIP() << "this CPU has no bfloat16 products";
  }
};

TEST_F(BFloat16ProductTest, RoundsToTheNearestAndFillsRowsWithZeros) {
  // 1 + 2^-8 lies between 1 and 1 + 2^-7 and goes to the even one; 9 stands between the rows
  const std::vector<float> values = {
      1.0f, 1.00390625f, 1.01f, 9.0f, -3e38f, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  BFloat16Matrix matrix;
  matrix.Round(2, 3, values.data(), 4);
  ASSERT_EQ(matrix.stride(), 32);
  EXPECT_EQ(ToFloat(matrix.data()[0]), 1.0f);
  EXPECT_EQ(ToFloat(matrix.data()[1]), 1.0f);
  EXPECT_EQ(ToFloat(matrix.data()[2]), 1.0078125f);
  EXPECT_NEAR(ToFloat(matrix.data()[32]), -3e38f, 3e38f / 256);
  EXPECT_TRUE(std::isnan(ToFloat(matrix.data()[33])));
  for (const int row : {0, 1}) {
    for (int j = 3; j < 32; ++j) EXPECT_EQ(matrix.data()[row * 32 + j], 0);
  }
}

TEST_F(BFloat16ProductTest, MultipliesByHandInEveryOrientation) {
  // [1 2 3; 4 5 6] [1 0; 0 1; 2 2]
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, at = {1, 4, 2, 5, 3, 6};
  const std::vector<float> b = {1, 0, 0, 1, 2, 2}, bt = {1, 0, 2, 0, 1, 2};
  BFloat16Matrix left, left_transposed, right, right_transposed;
  left.Round(2, 3, a.data(), 3);
  left_transposed.Round(3, 2, at.data(), 2);
  right.Round(3, 2, b.data(), 2);
  right_transposed.Round(2, 3, bt.data(), 3);
  for (const BFloat16Operand& x : {BFloat16Operand{left}, {left_transposed, true}}) {
    for (const BFloat16Operand& y : {BFloat16Operand{right}, {right_transposed, true}}) {
      std::vector<float> c(6, 1.0f);  // rows of two, three apart
      BFloat16Product(x, y, c.data(), 3);
      EXPECT_THAT(c, ElementsAre(7, 8, 1, 16, 17, 1));
      BFloat16Product(x, y, c.data(), 3, true);
      EXPECT_THAT(c, ElementsAre(14, 16, 1, 32, 34, 1));
    }
  }
}

TEST_F(BFloat16ProductTest, AProductOverNothingIsZero) {
  BFloat16Matrix left, right;
  left.Round(2, 0, nullptr, 0);
  right.Round(0, 1, nullptr, 1);
  std::vector<float> c = {5, 6};
  BFloat16Product({left}, {right}, c.data(), 1, true);
  EXPECT_THAT(c, ElementsAre(5, 6));
  BFloat16Product({left}, {right}, c.data(), 1);
  EXPECT_THAT(c, ElementsAre(0, 0));
}

TEST_F(BFloat16ProductTest, AMatrixOfAnotherShapeLeavesNothingBehind) {
  const std::vector<float> wide(40, 7.0f);
  BFloat16Matrix matrix;
  matrix.Round(1, 40, wide.data(), 40);
  matrix.Round(1, 2, wide.data(), 2);
  ASSERT_EQ(matrix.stride(), 32);
  EXPECT_EQ(ToFloat(matrix.data()[1]), 7.0f);
  for (int j = 2; j < 32; ++j) EXPECT_EQ(matrix.data()[j], 0);
}

TEST(BFloat16Products, AreHadWhereTheyAreFast) {
  EXPECT_TRUE(HasBFloat16Products() || !HasFastBFloat16Products());
}

}  // namespace
}  // namespace lfiw::core
