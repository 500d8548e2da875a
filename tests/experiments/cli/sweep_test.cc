#include "experiments/cli/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(SweepRuns, HaveTheirOverridesAndAFolderEach) {
  RunOptions options;
  options.overrides = {"seed=range(0,2)", "name=a"};
  options.out = "sweep";
  const std::vector<SweepRun> runs = RunsOf(options);
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_THAT(runs[1].overrides, ElementsAre("seed=1", "name=a"));
  EXPECT_EQ(runs[1].out, "sweep/1");
  options.out = "";
  EXPECT_EQ(RunsOf(options)[1].out, "");
}

}  // namespace
}  // namespace lfiw::experiments
