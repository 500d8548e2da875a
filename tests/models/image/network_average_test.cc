#include "models/image/network_average.h"

#include <gtest/gtest.h>

namespace lfiw::models {
namespace {

Network NetworkOf(float value) {
  Network network;
  network.parameters = VectorF::Constant(3, value);
  return network;
}

// The mean, seen by a swap with a network of its own.
float MeanOf(NetworkAverage average) {
  Network out = NetworkOf(0.0f);
  average.Swap(out);
  return out.parameters[0];
}

TEST(NetworkAverageTest, LateStepsKeepTheirShareOfTheMean) {
  NetworkAverage average(NetworkOf(1.0f), 0.9);
  average.Move(NetworkOf(2.0f), 10'000);
  EXPECT_FLOAT_EQ(MeanOf(average), 0.9f * 1.0f + 0.1f * 2.0f);
}

TEST(NetworkAverageTest, EarlyStepsForgetTheInitialValues) {
  NetworkAverage average(NetworkOf(1.0f), 0.999);
  average.Move(NetworkOf(2.0f), 0);  // keeps a tenth
  EXPECT_FLOAT_EQ(MeanOf(average), 1.9f);
}

TEST(NetworkAverageTest, WithoutDecayItFollowsTheNetwork) {
  NetworkAverage average(NetworkOf(1.0f), 0.0);
  average.Move(NetworkOf(5.0f), 7);
  EXPECT_FLOAT_EQ(MeanOf(average), 5.0f);
}

TEST(NetworkAverageTest, SavedOnesGoOn) {
  NetworkAverage average(NetworkOf(3.0f), 0.9), loaded(NetworkOf(0.0f), 0.9);
  NpzFile file;
  average.Save("mean", file);
  loaded.Load(file, "mean");
  EXPECT_EQ(MeanOf(loaded), 3.0f);
}

}  // namespace
}  // namespace lfiw::models
