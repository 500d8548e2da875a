#include "models/image/parameter_average.h"

#include <gtest/gtest.h>

namespace lfiw::models {
namespace {

VectorF ParametersOf(float value) { return VectorF::Constant(3, value); }

// The mean, seen by a swap with parameters of its own.
float MeanOf(ParameterAverage average) {
  VectorF out = ParametersOf(0.0f);
  average.Swap(out);
  return out[0];
}

TEST(ParameterAverageTest, LateStepsKeepTheirShareOfTheMean) {
  ParameterAverage average(ParametersOf(1.0f), 0.9);
  average.Move(ParametersOf(2.0f), 10'000);
  EXPECT_FLOAT_EQ(MeanOf(average), 0.9f * 1.0f + 0.1f * 2.0f);
}

TEST(ParameterAverageTest, EarlyStepsForgetTheInitialValues) {
  ParameterAverage average(ParametersOf(1.0f), 0.999);
  average.Move(ParametersOf(2.0f), 0);  // keeps a tenth
  EXPECT_FLOAT_EQ(MeanOf(average), 1.9f);
}

TEST(ParameterAverageTest, WithoutDecayItFollowsTheParameters) {
  ParameterAverage average(ParametersOf(1.0f), 0.0);
  average.Move(ParametersOf(5.0f), 7);
  EXPECT_FLOAT_EQ(MeanOf(average), 5.0f);
}

TEST(ParameterAverageTest, SavedOnesGoOn) {
  ParameterAverage average(ParametersOf(3.0f), 0.9), loaded(ParametersOf(0.0f), 0.9);
  NpzFile file;
  average.Save("mean", file);
  loaded.Load(file, "mean");
  EXPECT_EQ(MeanOf(loaded), 3.0f);
}

}  // namespace
}  // namespace lfiw::models
