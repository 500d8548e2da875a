#include "experiments/calibration/verdict_cases.h"

#include <gtest/gtest.h>

#include <cmath>

#include "envs/linear_gaussian_env.h"

namespace lfiw::experiments {
namespace {

constexpr std::uint64_t kSeed = 7;

TEST(DrawCase, EveryPlantIsAsStrongAsItsLabelDemands) {
  for (std::size_t p = 0; p < EnumNames(PlantedFailure{}).size(); ++p) {
    const auto plant = static_cast<PlantedFailure>(p);
    for (std::uint64_t index = 0; index < 5; ++index) {
      const VerdictCase c = DrawCase(CaseKind::kGood, plant, kSeed, index);
      EXPECT_GE(PlantStrength(c), RequiredStrength(plant)) << EnumName(plant);
      EXPECT_TRUE(std::isfinite(c.Truth())) << EnumName(plant);
      EXPECT_NO_THROW(Validate(c.system)) << EnumName(plant);
    }
  }
}

TEST(DrawCase, FollowsFromSeedAndIndexAlone) {
  const auto truth = [](std::uint64_t seed, std::uint64_t index) {
    return DrawCase(CaseKind::kSupportGap, PlantedFailure::kStateGap, seed, index).Truth();
  };
  EXPECT_EQ(truth(1, 2), truth(1, 2));
  EXPECT_NE(truth(1, 2), truth(1, 3));
  EXPECT_NE(truth(1, 2), truth(2, 2));
}

TEST(PlantStrength, OfAPolicyThatIsTheLoggedOneIsNearlyZero) {
  VerdictCase c = DrawCase(CaseKind::kSupportGap, PlantedFailure::kConstantGap, kSeed, 0);
  c.evaluation = c.behavior;
  EXPECT_LT(PlantStrength(c), 1e-9);
}

TEST(PlantStrength, OfASystemThatIsBelievedRightlyIsZero) {
  for (const PlantedFailure plant :
       {PlantedFailure::kOtherSystem, PlantedFailure::kDegenerateWeights}) {
    VerdictCase c = DrawCase(CaseKind::kWrongDynamics, plant, kSeed, 0);
    c.believed = c.system;
    EXPECT_EQ(PlantStrength(c), 0.0) << EnumName(plant);
  }
}

// x' = x / 2 + N(0, 1) from x = 2, believed to be x' = x + N(0, 1): the means differ by x / 2, so
// the divergence of two steps is (E[x0^2] + E[x1^2]) / 8 = (4 + (1 + 1)) / 8.
TEST(PlantStrength, OfDegenerateWeightsIsTheDivergenceOfAnEpisode) {
  VerdictCase c{.kind = CaseKind::kLongHorizon, .plant = PlantedFailure::kDegenerateWeights};
  c.system = ZeroLinearGaussian(1, 1);
  c.system.state_matrix(0, 0) = 0.5;
  c.system.noise_covariance(0, 0) = 1.0;
  c.system.initial_mean(0) = 2.0;
  c.believed = c.system;
  c.believed->state_matrix(0, 0) = 1.0;
  c.evaluation = {MatrixD::Zero(1, 1), VectorD::Zero(1), MatrixD::Zero(1, 1)};
  c.horizon = 2;
  EXPECT_NEAR(PlantStrength(c), 0.75, 1e-12);
}

}  // namespace
}  // namespace lfiw::experiments
