#include "experiments/image_gof/sample_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<double> kLogs = {std::log(1.0), std::log(2.0), std::log(5.0)};

std::vector<double> Values(const SampleWeights& weights) {
  return {weights.values.begin(), weights.values.end()};
}

WeightVariant Variant(double alpha, double beta, WeightScale scale) {
  return {.name = "", .params = "", .alpha = alpha, .beta = beta, .scale = scale};
}

TEST(PaperVariants, AreTheRowsOfItsTable) {
  const auto variants = PaperVariants(std::vector{0.0, 0.5}, std::vector{0.1});
  ASSERT_EQ(variants.size(), 5u);
  EXPECT_EQ(variants[0].name, "default");
  EXPECT_EQ(variants[1].scale, WeightScale::kSum);
  EXPECT_EQ(variants[3].params, "alpha=0.5");
  EXPECT_EQ(variants[4].name, "clipped");
  EXPECT_EQ(variants[4].scale, WeightScale::kNumber);
}

TEST(TemperedAlpha, IsTheLargestThatLeavesTheShareOfTheSamples) {
  Stream stream(5, "log weights");
  std::vector<double> logs;
  for (int i = 0; i < 2000; ++i) logs.push_back(6.0 * stream.Normal());
  const WeightVariant tempered = TemperedVariants(std::vector{0.2}).front();
  EXPECT_EQ(tempered.params, "ess=0.2");
  const SampleWeights weights = MakeWeights(logs, tempered);
  EXPECT_NEAR(weights.ess, 400.0, 1e-3);
  EXPECT_NEAR(weights.values.sum(), 1.0, 1e-12);
  EXPECT_EQ(weights.alpha, TemperedAlpha(logs, 0.2));
  // of normal log-weights with deviation s the effective share is exp(-(alpha s)^2)
  EXPECT_NEAR(weights.alpha, std::sqrt(std::log(5.0)) / 6.0, 0.03);
  EXPECT_GT(TemperedAlpha(logs, 0.05), weights.alpha);
}

TEST(TemperedAlpha, LeavesWeightsAsTheyAreThatAreWorthEnough) {
  EXPECT_EQ(TemperedAlpha(kLogs, 0.5), 1.0);
  const SampleWeights weights = MakeWeights(kLogs, TemperedVariants(std::vector{0.5}).front());
  EXPECT_THAT(Values(weights), ElementsAre(0.125, 0.25, 0.625));
}

TEST(TemperedAlpha, IsZeroWhereZerosLeaveTooFewSamples) {
  const std::vector<double> logs = {0.0, -HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
  EXPECT_LT(TemperedAlpha(logs, 0.5), 1e-6);
}

TEST(MakeWeights, DefaultDividesByTheNumberAndSelfNormalizedByTheSum) {
  const SampleWeights plain = MakeWeights(kLogs, Variant(1.0, 0.0, WeightScale::kNumber));
  EXPECT_NEAR(plain.values[2], 5.0 / 3.0, 1e-15);
  const SampleWeights self = MakeWeights(kLogs, Variant(1.0, 0.0, WeightScale::kSum));
  EXPECT_NEAR(self.values[2], 5.0 / 8.0, 1e-15);
  EXPECT_NEAR(self.ess, 64.0 / 30.0, 1e-12);
  EXPECT_NEAR(plain.ess, self.ess, 1e-12);
  EXPECT_NEAR(self.max_weight, 5.0 / 8.0, 1e-15);
}

TEST(MakeWeights, FlattensThenClips) {
  const SampleWeights weights = MakeWeights(kLogs, Variant(2.0, 3.0, WeightScale::kNumber));
  EXPECT_NEAR(weights.values[0], 1.0, 1e-14);
  EXPECT_NEAR(weights.values[1], 4.0 / 3.0, 1e-14);
  EXPECT_NEAR(weights.values[2], 25.0 / 3.0, 1e-14);
  EXPECT_EQ(weights.clipped, 1);
}

TEST(MakeWeights, AlphaZeroIsUniform) {
  EXPECT_EQ(Values(MakeWeights(kLogs, Variant(0.0, 0.0, WeightScale::kNumber))),
            Values(UniformWeights(3)));
}

TEST(MakeWeights, HugeLogitsAreFineWhenNormalizedAndRefusedWhenNot) {
  const std::vector<double> huge = {1000.0, 1000.0};
  EXPECT_THAT(Values(MakeWeights(huge, Variant(1.0, 0.0, WeightScale::kSum))),
              ElementsAre(0.5, 0.5));
  EXPECT_THAT([&] { MakeWeights(huge, Variant(1.0, 0.0, WeightScale::kNumber)); },
              ThrowsMessage<NumericError>(HasSubstr("not finite")));
}

TEST(MakeWeights, NoSupportIsRefused) {
  const std::vector<double> none(3, -std::numeric_limits<double>::infinity());
  EXPECT_THAT([&] { MakeWeights(none, Variant(1.0, 0.0, WeightScale::kSum)); },
              ThrowsMessage<NumericError>(HasSubstr("all 3 weights are 0")));
}

TEST(TakeWeights, NormalizesAnewOrKeepsTheMeanWeight) {
  const std::vector<std::int64_t> last = {1, 2};
  const SampleWeights self =
      TakeWeights(MakeWeights(kLogs, Variant(1.0, 0.0, WeightScale::kSum)), last);
  EXPECT_NEAR(self.values[1], 5.0 / 7.0, 1e-15);
  const SampleWeights plain =
      TakeWeights(MakeWeights(kLogs, Variant(1.0, 0.0, WeightScale::kNumber)), last);
  EXPECT_NEAR(plain.values[1], 5.0 / 2.0, 1e-14);
  EXPECT_NEAR(plain.ess, 49.0 / 29.0, 1e-12);
}

}  // namespace
}  // namespace lfiw::experiments
