#include "core/run/progress.h"

#include <gtest/gtest.h>

namespace lfiw::core {
namespace {

TEST(ProgressTest, InterruptFlagStartsClearAndIsShared) {
  EXPECT_FALSE(InterruptRequested());
  InterruptRequested() = true;
  EXPECT_TRUE(InterruptRequested());
  InterruptRequested() = false;
}

}  // namespace
}  // namespace lfiw::core
