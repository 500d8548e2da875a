#include "core/run/system_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace lfiw::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

SystemInfo Fast() {
  SystemInfo info;
  info.cblas_library = info.blas_library = "/usr/lib/openblas-pthread/libblas.so.3";
  info.lapack_library = "/opt/intel/libmkl_rt.so";
  return info;
}

TEST(SystemInfoTest, TellsWhatRunsHere) {
  const SystemInfo info = QuerySystem();
  EXPECT_THAT(info.version, StartsWith("0."));
  EXPECT_FALSE(info.cpu_model.empty());
  EXPECT_GE(info.cores, 1);
  EXPECT_THAT(info.cblas_library, HasSubstr("openblas"));
  EXPECT_THAT(info.openblas_config, HasSubstr("OpenBLAS"));
  EXPECT_THAT(info.compiler, HasSubstr("."));
}

TEST(MeasureProductSpeed, FindsAPeakThatProductsDoNotExceed) {
  const ProductSpeed speed = MeasureProductSpeed();
  EXPECT_GT(speed.product, 0.1);
  EXPECT_LT(speed.peak, 2000.0);
  // turbo clocks change between the turns
  EXPECT_LT(speed.Share(), 1.25);
}

TEST(PeakMemoryBytes, GrowsWithWhatIsInUse) {
  const std::int64_t before = PeakMemoryBytes();
  EXPECT_GT(before, 1 << 20);
  const std::vector<char> pages(static_cast<std::size_t>(before) + (64 << 20), 1);
  EXPECT_GE(PeakMemoryBytes(), before + (32 << 20)) << pages.size();
}

TEST(SystemInfoTest, AFastMachineGivesNoWarning) {
  EXPECT_THAT(SpeedWarnings(Fast(), {.product = 61.0, .peak = 100.0}), IsEmpty());
}

TEST(SystemInfoTest, ReferenceBlasAndALowRateAreWarnedOf) {
  SystemInfo info = Fast();
  info.blas_library = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3.11.0";
  EXPECT_THAT(SpeedWarnings(info, {.product = 4.0, .peak = 50.0}),
              ElementsAre(HasSubstr("BLAS resolves to /usr/lib/x86_64-linux-gnu/blas/"),
                          HasSubstr("reach 4 of the 50 GFLOP/s that one core can do (8 %")));
}

TEST(SystemInfoTest, ReferenceLapackIsWarnedOf) {
  SystemInfo info = Fast();
  info.lapack_library = "/usr/lib/x86_64-linux-gnu/lapack/liblapack.so.3.11.0";
  EXPECT_THAT(SpeedWarnings(info, {.product = 90.0, .peak = 100.0}),
              ElementsAre(StartsWith("LAPACK resolves to")));
}

}  // namespace
}  // namespace lfiw::core
