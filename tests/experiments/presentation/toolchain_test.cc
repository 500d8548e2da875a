#include "experiments/presentation/toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;

TEST(CurrentToolchain, HasTheSourcesOfEveryLayer) {
  const Toolchain toolchain = CurrentToolchain();
  EXPECT_EQ(toolchain.sources.size(), EnumNames(Layer{}).size());
  EXPECT_THAT(toolchain.sources, Each(SizeIs(64))) << "SHA-256 in hexadecimal";
  const std::set<std::string> different(toolchain.sources.begin(), toolchain.sources.end());
  EXPECT_EQ(different.size(), toolchain.sources.size());
}

TEST(CurrentToolchain, NamesAllThatComputes) {
  const Toolchain toolchain = CurrentToolchain();
  for (const char* name : {"MuJoCo", "LibTorch", "Eigen", "oneTBB", "BLAS", "CPU", "compiler"}) {
    EXPECT_THAT(toolchain.computed_with, Contains(Key(name)));
  }
  EXPECT_THAT(toolchain.computed_with, Each(Pair(Not(IsEmpty()), Not(IsEmpty()))));
}

}  // namespace
}  // namespace lfiw::experiments
