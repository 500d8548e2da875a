#include "models/torch_threads.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <thread>

namespace lfiw::models {
namespace {

TEST(PinTorchToOneThread, LibTorchHasOneThreadOnWhicheverThreadUsesIt) {
  PinTorchToOneThread();
  EXPECT_EQ(at::get_num_threads(), 1);
  int threads = 0, widest = 0;
  std::thread other([&] {
    PinTorchToOneThread();
    threads = at::get_num_threads();
    at::parallel_for(0, 1000, 1, [&](std::int64_t begin, std::int64_t end) {
      widest = static_cast<int>(end - begin);
    });
  });
  other.join();
  EXPECT_EQ(threads, 1);
  EXPECT_EQ(widest, 1000) << "a loop was split";
}

}  // namespace
}  // namespace lfiw::models
