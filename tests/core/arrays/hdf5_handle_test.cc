#include "core/arrays/hdf5_handle.h"

#include <gtest/gtest.h>

#include <utility>

namespace lfiw::core {
namespace {

int closed = 0;

herr_t CountClose(hid_t /*id*/) {
  ++closed;
  return 0;
}

TEST(Hdf5Handle, ClosesOnceWhoeverOwnsIt) {
  closed = 0;
  {
    Hdf5Handle first(5, CountClose);
    const Hdf5Handle second(std::move(first));
    EXPECT_EQ(second.get(), 5);
  }
  EXPECT_EQ(closed, 1);
}

TEST(Hdf5Handle, AFailedCallLeavesNothingToClose) {
  closed = 0;
  { const Hdf5Handle failed(-1, CountClose); }
  EXPECT_EQ(closed, 0);
}

}  // namespace
}  // namespace lfiw::core
