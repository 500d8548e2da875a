#include "policies/ppo/gae.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace lfiw::policies {
namespace {

const std::vector<float> kRewards = {1.0f, -2.0f, 0.5f, 3.0f, 1.5f};
const std::vector<float> kValues = {0.3f, 0.1f, -0.4f, 2.0f, 0.7f, 1.1f};

std::vector<float> Advantages(const std::vector<std::uint8_t>& ended, double discount,
                              double lambda) {
  std::vector<float> advantages(kRewards.size());
  ComputeAdvantages(kRewards, kValues, ended, discount, lambda, advantages);
  return advantages;
}

TEST(Gae, EqualsTheSumOfDecayedTemporalDifferences) {
  const std::vector<std::uint8_t> ended = {0, 0, 1, 0, 0};
  const std::vector<float> advantages = Advantages(ended, 0.9, 0.8);
  for (std::size_t t = 0; t < kRewards.size(); ++t) {
    double expected = 0.0;
    for (std::size_t k = t; k < kRewards.size(); ++k) {
      const double next = ended[k] != 0 ? 0.0 : 0.9 * kValues[k + 1];
      expected += std::pow(0.9 * 0.8, double(k - t)) * (kRewards[k] + next - kValues[k]);
      if (ended[k] != 0) break;
    }
    EXPECT_NEAR(advantages[t], expected, 1e-6);
  }
}

TEST(Gae, LambdaOneIsTheReturnMinusTheValue) {
  const std::vector<float> advantages = Advantages({0, 0, 0, 0, 0}, 1.0, 1.0);
  EXPECT_NEAR(advantages[0], 4.0 + 1.1 - 0.3, 1e-6);
}

TEST(Gae, LambdaZeroIsTheTemporalDifference) {
  const std::vector<float> advantages = Advantages({0, 1, 0, 0, 1}, 0.5, 0.0);
  EXPECT_NEAR(advantages[0], 1.0 + 0.5 * 0.1 - 0.3, 1e-6);
  EXPECT_NEAR(advantages[1], -2.0 - 0.1, 1e-6);
  EXPECT_NEAR(advantages[4], 1.5 - 0.7, 1e-6);
}

}  // namespace
}  // namespace lfiw::policies
