#include "experiments/cli/openblas_kernel.h"

#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

TEST(FittingOpenBlasKernel, ReplacesKernelsThatAreOlderThanTheCpu) {
  EXPECT_EQ(FittingOpenBlasKernel("Prescott", true, true), "SkylakeX");
  EXPECT_EQ(FittingOpenBlasKernel("Haswell", true, true), "SkylakeX");
  EXPECT_EQ(FittingOpenBlasKernel("Nehalem", true, false), "Haswell");
}

TEST(FittingOpenBlasKernel, LeavesTheOthers) {
  EXPECT_EQ(FittingOpenBlasKernel("Prescott", false, false), "");
  EXPECT_EQ(FittingOpenBlasKernel("Haswell", true, false), "");
  EXPECT_EQ(FittingOpenBlasKernel("Zen", true, true), "");
  EXPECT_EQ(FittingOpenBlasKernel("Cooperlake", true, true), "");
}

}  // namespace
}  // namespace lfiw::experiments
