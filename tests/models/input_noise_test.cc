#include "models/input_noise.h"

#include <gtest/gtest.h>

namespace lfiw::models {
namespace {

TEST(AddInputNoise, HasTheDeviationThatIsAsked) {
  MatrixF inputs = MatrixF::Constant(200, 50, 3.0f);
  AddInputNoise(0.5, Stream(1, "noise"), inputs);
  const MatrixF noise = inputs.array() - 3.0f;
  EXPECT_NEAR(noise.mean(), 0.0, 0.02);  // four standard errors
  EXPECT_NEAR(noise.squaredNorm() / 10'000.0f, 0.25, 0.015);
}

TEST(AddInputNoise, NoneLeavesInputsAsTheyAre) {
  MatrixF inputs = MatrixF::Constant(4, 3, 1.5f);
  AddInputNoise(0.0, Stream(1, "noise"), inputs);
  EXPECT_EQ(inputs, MatrixF::Constant(4, 3, 1.5f));
}

}  // namespace
}  // namespace lfiw::models
