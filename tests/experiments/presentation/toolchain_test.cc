#include "experiments/presentation/toolchain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/run/system_info.h"
#include "experiments/presentation/versions.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

TEST(CurrentToolchain, HasAHashOfTheSourcesOfEachLayerThatDecidesBytes) {
  const Toolchain toolchain = CurrentToolchain();
  // all but the experiments, whose stages have versions
  ASSERT_EQ(toolchain.sources.size(), EnumNames(Layer{}).size() - 1);
  EXPECT_THAT(toolchain.sources, Each(MatchesRegex("[0-9a-f]{64}")));
  EXPECT_EQ(std::set<std::string>(toolchain.sources.begin(), toolchain.sources.end()).size(), 5u);
}

TEST(CurrentToolchain, NamesWhatComputes) {
  const Toolchain toolchain = CurrentToolchain();
  const SystemInfo system = QuerySystem();
  EXPECT_EQ(toolchain.computed_with.at("compiler"), system.compiler);
  EXPECT_EQ(toolchain.computed_with.at("BLAS"), system.openblas_config);
  EXPECT_THAT(toolchain.computed_with.at("CPU"),
              AllOf(HasSubstr(system.cpu_model), HasSubstr(system.cpu_features)));
  for (const auto& [name, version] : LibraryVersions()) {
    EXPECT_EQ(toolchain.computed_with.at(name), version);
  }
}

TEST(CurrentToolchain, IsTheSameEveryTime) {
  const Toolchain one = CurrentToolchain();
  const Toolchain two = CurrentToolchain();
  EXPECT_EQ(one.sources, two.sources);
  EXPECT_EQ(one.computed_with, two.computed_with);
}

}  // namespace
}  // namespace lfiw::experiments
