#include "ope/value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::ope {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(StepFactors, ArePowersOfTheDiscount) {
  EXPECT_THAT(StepFactors({.discount = 0.5}, 3), ElementsAre(1.0, 0.5, 0.25));
}

TEST(StepFactors, DiscountZeroKeepsTheFirstRewardOnly) {
  EXPECT_THAT(StepFactors({.discount = 0.0}, 3), ElementsAre(1.0, 0.0, 0.0));
}

TEST(StepFactors, NormalizedFactorsSumToOne) {
  const ValueOptions options{.discount = 0.5, .scale = ValueScale::kNormalized};
  EXPECT_THAT(StepFactors(options, 2),
              ElementsAre(DoubleNear(2.0 / 3.0, 1e-15), DoubleNear(1.0 / 3.0, 1e-15)));
}

TEST(StepFactors, DiscountOutsideTheUnitIntervalIsAConfigError) {
  EXPECT_THROW(StepFactors({.discount = 1.01}, 2), ConfigError);
  EXPECT_THROW(StepFactors({.discount = -0.1}, 2), ConfigError);
}

TEST(TailReturns, AreSumsFromEachStepToTheEnd) {
  const std::vector<double> rewards = {1.0, 2.0, 4.0};
  std::vector<double> tails(4);
  TailReturns(rewards, StepFactors({.discount = 0.5}, 3), tails);
  EXPECT_THAT(tails, ElementsAre(3.0, 2.0, 1.0, 0.0));
}

TEST(ValueOptions, AreReadInEitherSpellingAndWrittenInOne) {
  const auto american = LoadConfig<ValueOptions>("", {"scale=normalized"});
  const auto british = LoadConfig<ValueOptions>("", {"scale=normalised"});
  EXPECT_EQ(british.scale, ValueScale::kNormalized);
  EXPECT_EQ(CanonicalText(british), CanonicalText(american));
}

}  // namespace
}  // namespace lfiw::ope
