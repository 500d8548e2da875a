#include "ope/estimators/importance_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Matrix = Array<double, 2>;

constexpr double kNoWeight = -std::numeric_limits<double>::infinity();

Matrix Filled(std::int64_t rows, std::int64_t columns, std::initializer_list<double> values) {
  Matrix out({rows, columns});
  std::copy(values.begin(), values.end(), out.flat().begin());
  return out;
}

// Two episodes; the second ends after one step.
EstimatorInputs WeightInputs() {
  EstimatorInputs in;
  in.rewards = Matrix({2, 3});
  in.lengths = {3, 1};
  in.terminated = {0, 1};
  in.log_ratios["action"] = Filled(2, 3, {1.0, 2.0, -4.0, 0.5, 0.0, 0.0});
  return in;
}

TEST(MakeImportanceWeights, CumulatesRatiosAndCarriesTheLast) {
  const ImportanceWeights weights =
      MakeImportanceWeights(WeightInputs(), std::vector<std::int64_t>{0, 1}, {});
  EXPECT_THAT(weights.log_weights.flat(), ElementsAre(1.0, 3.0, -1.0, 0.5, 0.5, 0.5));
  EXPECT_THAT(weights.last, ElementsAre(-1.0, 0.5));
  EXPECT_TRUE(weights.notes.empty());
}

TEST(MakeImportanceWeights, HasOnlyTheStepsOfTheListedEpisodes) {
  const ImportanceWeights weights =
      MakeImportanceWeights(WeightInputs(), std::vector<std::int64_t>{1}, {});
  EXPECT_THAT(weights.log_weights.flat(), ElementsAre(0.5));
}

TEST(MakeImportanceWeights, PutsColumnsOfWeightOneFirst) {
  const ImportanceWeights weights =
      MakeImportanceWeights(WeightInputs(), std::vector<std::int64_t>{1}, {}, 1);
  EXPECT_THAT(weights.log_weights.flat(), ElementsAre(0.0, 0.5));
}

TEST(MakeEpisodeWeights, AreTheLastOfEachEpisode) {
  RatioOptions options;
  const std::vector<std::int64_t> rows = {0, 1};
  for (const double limit : {1e300, 1.1}) {
    options.max_weight = limit;
    const ImportanceWeights all = MakeImportanceWeights(WeightInputs(), rows, options);
    const ImportanceWeights last = MakeEpisodeWeights(WeightInputs(), rows, options);
    EXPECT_THAT(last.last, testing::Pointwise(testing::DoubleNear(1e-15), all.last));
    EXPECT_EQ(last.notes, all.notes);
    EXPECT_TRUE(last.log_weights.empty());
  }
}

TEST(MakeImportanceWeights, OtherRulesDropAnEndedEpisodeOrGiveItWeightOne) {
  RatioOptions options;
  options.product = RatioProduct::kStep;
  options.finished = FinishedEpisodes::kDrop;
  const std::vector<std::int64_t> rows = {0, 1};
  EXPECT_THAT(MakeImportanceWeights(WeightInputs(), rows, options).log_weights.flat(),
              ElementsAre(1.0, 2.0, -4.0, 0.5, kNoWeight, kNoWeight));
  options.finished = FinishedEpisodes::kOne;
  EXPECT_THAT(MakeImportanceWeights(WeightInputs(), rows, options).log_weights.flat(),
              ElementsAre(1.0, 2.0, -4.0, 0.5, 0.0, 0.0));
  EXPECT_EQ(Describe(options), "product=step finished=one");
}

TEST(SelfNormalizedSum, IsTheSumOfWeightedMeansAndTheBase) {
  const Matrix logs = Filled(2, 3, {0.0, std::log(3.0), 900.0, 0.0, 0.0, 900.0});
  const Matrix outcomes = Filled(2, 3, {10.0, 1.0, 5.0, 30.0, 9.0, 7.0});
  const Estimate estimate = SelfNormalizedSum({logs, outcomes, 1});
  EXPECT_NEAR(*ValueOf(estimate.terms), 20.0 + 12.0 / 4.0 + 6.0, 1e-12);
}

TEST(SelfNormalizedSum, GivesExactZerosToWeightsOfZero) {
  const Estimate estimate =
      SelfNormalizedSum({Filled(2, 1, {kNoWeight, -5000.0}), Filled(2, 1, {1e300, 2.0})});
  EXPECT_EQ(estimate.terms.denominators(0, 0), 0.0);
  EXPECT_EQ(estimate.terms.denominators(1, 0), 1.0);
  EXPECT_EQ(*ValueOf(estimate.terms), 2.0);
}

TEST(PlainSum, AgreesWithTheSumWrittenOutOnEitherPath) {
  Stream stream(3, "plain sum");
  Matrix logs({20, 6}), outcomes({20, 6});
  for (double& x : logs.flat()) x = stream.Normal();
  for (double& x : outcomes.flat()) x = stream.Normal();
  double expected = 0.0;
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t k = 0; k < 6; ++k) expected += std::exp(logs(i, k)) * outcomes(i, k) / 20.0;
  }
  EXPECT_NEAR(*ValueOf(PlainSum({logs, outcomes}).terms), expected, 1e-13);
  // weights times e^400, outcomes scaled to match: the same sum from logarithms
  for (double& x : logs.flat()) x += 400.0;
  for (double& x : outcomes.flat()) x *= std::exp(-400.0);
  EXPECT_NEAR(*ValueOf(PlainSum({logs, outcomes}).terms), expected, 1e-11);
}

TEST(PlainSum, TakesMeansOverTheCountsGiven) {
  const Matrix logs = Filled(2, 2, {0.0, 0.0, 0.0, kNoWeight});
  const Matrix outcomes = Filled(2, 2, {1.0, 5.0, 3.0, 0.0});
  const std::vector<double> counts = {2.0, 1.0};
  EXPECT_DOUBLE_EQ(*ValueOf(PlainSum({logs, outcomes}, counts).terms), 2.0 + 5.0);
}

TEST(PlainSum, GivesTheMagnitudeAndSignOfWhatDoubleCannotHold) {
  const Estimate huge = PlainSum({Filled(1, 1, {2000.0}), Filled(1, 1, {-1.0})});
  EXPECT_FALSE(huge.value);
  EXPECT_THAT(huge.reason, HasSubstr("not finite in double: -10^868.59"));
  EXPECT_NEAR(*huge.log10_value, 2000.0 / std::log(10.0), 1e-9);
  const Estimate tiny = PlainSum({Filled(1, 1, {-2000.0}), Filled(1, 1, {1.0})});
  EXPECT_EQ(*tiny.value, 0.0);
  EXPECT_NEAR(*tiny.log10_value, -2000.0 / std::log(10.0), 1e-9);
}

TEST(PlainSum, HugeTermsThatCancelAreTheirSumAndNotNaN) {
  const Estimate estimate = PlainSum({Filled(2, 1, {2000.0, 2000.0}), Filled(2, 1, {1.0, -1.0})});
  EXPECT_EQ(*estimate.value, 0.0);
  EXPECT_FALSE(estimate.log10_value);
}

TEST(PlainSum, ZeroOutcomesAreWorthZeroWhateverTheWeights) {
  const Estimate estimate = PlainSum({Filled(1, 1, {2000.0}), Filled(1, 1, {0.0})});
  EXPECT_EQ(*ValueOf(estimate.terms), 0.0);
}

}  // namespace
}  // namespace lfiw::ope
