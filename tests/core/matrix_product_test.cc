#include "core/matrix_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

class MatrixProductTest : public testing::TestWithParam<ProductLibrary> {};

INSTANTIATE_TEST_SUITE_P(
    Libraries, MatrixProductTest,
    testing::Values(ProductLibrary::kOneDnn, ProductLibrary::kOpenBlas, ProductLibrary::kEigen),
    [](const auto& instance) {
      return std::string(EnumNames(ProductLibrary{})[static_cast<std::size_t>(instance.param)]);
    });

TEST_P(MatrixProductTest, IsRightOnThisCpu) { EXPECT_TRUE(ComputesRightProducts(GetParam())); }

TEST_P(MatrixProductTest, MultipliesByHand) {
  const std::vector<float> a = {1, 2, 3, 4, 5, 6}, b = {1, 0, 0, 1, 2, 2};
  std::vector<float> c(4, 7.0f);
  MatrixProductOf(GetParam(), 2, 3, 2, {a.data(), 3}, {b.data(), 2}, c.data(), 2, false);
  EXPECT_THAT(c, ElementsAre(7, 8, 16, 17));
  MatrixProductOf(GetParam(), 2, 3, 2, {a.data(), 3}, {b.data(), 2}, c.data(), 2, true);
  EXPECT_THAT(c, ElementsAre(14, 16, 32, 34));
  // a as [3, 2] transposed, b as [2, 3] transposed
  MatrixProductOf(GetParam(), 2, 3, 2, {a.data(), 2, true}, {b.data(), 3, true}, c.data(), 2,
                  false);
  EXPECT_THAT(c, ElementsAre(1, 17, 2, 22));
}

TEST_P(MatrixProductTest, LeavesAloneWhatLiesBetweenRows) {
  const std::vector<float> a = {1, 9, 2, 9}, b = {3, 4};
  std::vector<float> c(6, -1.0f);
  MatrixProductOf(GetParam(), 2, 1, 2, {a.data(), 2}, {b.data(), 2}, c.data(), 3, false);
  EXPECT_THAT(c, ElementsAre(3, 4, -1, 6, 8, -1));
}

TEST_P(MatrixProductTest, OfNoTermsIsZero) {
  std::vector<float> c(4, 7.0f);
  MatrixProductOf(GetParam(), 2, 0, 2, {nullptr, 1}, {nullptr, 2}, c.data(), 2, true);
  EXPECT_THAT(c, Each(7.0f));
  MatrixProductOf(GetParam(), 2, 0, 2, {nullptr, 1}, {nullptr, 2}, c.data(), 2, false);
  EXPECT_THAT(c, Each(0.0f));
}

TEST(ProductLibraryText, NamesALibraryThatIsRight) {
  EXPECT_THAT(ProductLibraryText(),
              AnyOf(StartsWith("oneDNN "), StartsWith("OpenBLAS "), StartsWith("Eigen ")));
  EXPECT_TRUE(ComputesRightProducts(ChosenProductLibrary()));
}

// In processes of their own, since the choice is made once.
TEST(MatrixProductDeathTest, FollowsTheEnvironmentVariable) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("LFIW_PRODUCTS", "eigen", 1);
        std::exit(ChosenProductLibrary() == ProductLibrary::kEigen ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
  EXPECT_EXIT(
      {
        setenv("LFIW_PRODUCTS", "mkl", 1);
        try {
          ChosenProductLibrary();
        } catch (const ConfigError& error) {
          std::fputs(error.what(), stderr);
          std::exit(3);
        }
      },
      testing::ExitedWithCode(3), "LFIW_PRODUCTS is 'mkl'; it can be onednn, openblas or eigen");
}

}  // namespace
}  // namespace lfiw::core
