#include "ope/rollouts/lfiw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "ope/judgement/intervals.h"
#include "ope/rollouts/plain_model.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr double kZeroLogWeight = -std::numeric_limits<double>::infinity();

struct Rollouts {
  Array<double, 3> rewards;
  Array<double, 4> log_weights;
};

Rollouts RandomRollouts(std::int64_t repetitions, std::int64_t classifiers, std::int64_t n,
                        std::int64_t steps, std::uint64_t seed = 1) {
  Stream stream(seed, "rollouts");
  Rollouts rollouts{Array<double, 3>({repetitions, n, steps}),
                    Array<double, 4>({repetitions, classifiers, n, steps})};
  for (double& value : rollouts.rewards.flat()) value = 0.3 + stream.Normal();
  for (double& value : rollouts.log_weights.flat()) value = 0.4 * stream.Normal();
  return rollouts;
}

// States independent per step, model N(0, 1), truth N(shift, 1), reward the state; exact
// log-ratios.
Rollouts ShiftedNormalRollouts(double shift, std::int64_t repetitions, std::int64_t n,
                               std::int64_t steps, std::uint64_t seed) {
  Rollouts rollouts{Array<double, 3>({repetitions, n, steps}),
                    Array<double, 4>({repetitions, 1, n, steps})};
  Stream stream(seed, "shifted normal");
  stream.FillNormal(rollouts.rewards.flat());
  const auto rewards = rollouts.rewards.flat();
  std::transform(rewards.begin(), rewards.end(), rollouts.log_weights.flat().begin(),
                 [&](double x) { return shift * x - shift * shift / 2.0; });
  return rollouts;
}

LfiwResult Estimate(const Rollouts& rollouts, const LfiwOptions& options = {},
                    const ValueOptions& value = {}) {
  return EstimateLfiw(rollouts.rewards, rollouts.log_weights, value, options);
}

LfiwOptions Variant(LfiwVariant variant,
                    WeightNormalization normalization = WeightNormalization::kSelf) {
  LfiwOptions options;
  options.variant = variant;
  options.normalization = normalization;
  return options;
}

std::vector<LfiwOptions> AllVariants() {
  std::vector<LfiwOptions> all;
  for (int variant = 0; variant < 4; ++variant) {
    for (const auto normalization : {WeightNormalization::kNone, WeightNormalization::kSelf}) {
      all.push_back(Variant(static_cast<LfiwVariant>(variant), normalization));
    }
  }
  return all;
}

// ---- Limits and invariances

TEST(Lfiw, HorizonZeroIsThePlainModelBitForBit) {
  const Rollouts rollouts = RandomRollouts(7, 3, 11, 13);
  const ValueOptions value{.discount = 0.97};
  const PlainModelEstimate plain = EstimatePlainModel(rollouts.rewards, value);
  for (const LfiwOptions& options : AllVariants()) {
    const LfiwEstimate zero = Estimate(rollouts, options, value).horizons[0];
    EXPECT_EQ(*zero.value, plain.value);
    EXPECT_EQ(*zero.standard_error, *plain.standard_error);
    EXPECT_DOUBLE_EQ(*zero.se_within, plain.se_within);
    EXPECT_EQ(*zero.se_between, 0.0);
    EXPECT_EQ(zero.ess, 11.0);
    EXPECT_DOUBLE_EQ(zero.max_weight, 1.0 / 11.0);
    EXPECT_FALSE(zero.khat.has_value());
  }
}

TEST(Lfiw, AlphaZeroIsThePlainModelAtEveryHorizon) {
  Rollouts rollouts = RandomRollouts(3, 2, 9, 6);
  rollouts.log_weights(1, 1, 4, 2) = kZeroLogWeight;
  const double plain = EstimatePlainModel(rollouts.rewards, {}).value;
  for (LfiwOptions options : AllVariants()) {
    options.alpha = 0.0;
    for (const LfiwEstimate& estimate : Estimate(rollouts, options).horizons) {
      EXPECT_NEAR(*estimate.value, plain, 1e-13);
      if (options.variant == LfiwVariant::kTrajectory) {
        EXPECT_EQ(*estimate.value, plain);
      }
      EXPECT_EQ(estimate.ess, 9.0);
    }
  }
}

TEST(Lfiw, BetaZeroEqualsDefaultAndBetaCountsWhatItRaises) {
  const Rollouts rollouts = RandomRollouts(2, 2, 50, 4);
  LfiwOptions clipped;
  clipped.beta = 1.0;
  const LfiwResult result = Estimate(rollouts, clipped);
  EXPECT_EQ(result.horizons[0].clip_rate, 0.0);
  EXPECT_NEAR(result.horizons[1].clip_rate, 0.5, 0.15);  // half of symmetric log-weights
  EXPECT_EQ(static_cast<double>(result.horizons[1].clipped) / 200.0, result.horizons[1].clip_rate);
  clipped.beta = 0.0;
  EXPECT_EQ(*Estimate(rollouts, clipped).horizons[4].value, *Estimate(rollouts).horizons[4].value);
}

TEST(Lfiw, SelfNormalizedEstimatesIgnoreAConstantFactorOfTheWeights) {
  const Rollouts rollouts = RandomRollouts(2, 2, 30, 8);
  Rollouts shifted = rollouts;
  // a classifier that saw four model transitions per real one, without the correction
  for (double& value : shifted.log_weights.flat()) value -= std::log(4.0);
  for (const LfiwOptions& options : AllVariants()) {
    const LfiwResult a = Estimate(rollouts, options), b = Estimate(shifted, options);
    for (std::size_t h = 0; h < a.horizons.size(); ++h) {
      if (options.normalization == WeightNormalization::kSelf) {
        EXPECT_NEAR(*a.horizons[h].value, *b.horizons[h].value, 1e-12);
      }
      EXPECT_NEAR(a.horizons[h].ess, b.horizons[h].ess, 1e-10);
    }
  }
}

TEST(Lfiw, OrderOfEpisodesDoesNotMatter) {
  const Rollouts rollouts = RandomRollouts(2, 2, 12, 5);
  Rollouts reversed = rollouts;
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t i = 0; i < 12; ++i) {
      for (std::int64_t t = 0; t < 5; ++t) {
        reversed.rewards(r, i, t) = rollouts.rewards(r, 11 - i, t);
        for (std::int64_t c = 0; c < 2; ++c) {
          reversed.log_weights(r, c, i, t) = rollouts.log_weights(r, c, 11 - i, t);
        }
      }
    }
  }
  for (const LfiwOptions& options : AllVariants()) {
    const LfiwResult a = Estimate(rollouts, options), b = Estimate(reversed, options);
    for (std::size_t h = 0; h < a.horizons.size(); ++h) {
      EXPECT_NEAR(*a.horizons[h].value, *b.horizons[h].value, 1e-12);
      EXPECT_NEAR(*a.horizons[h].se_within, *b.horizons[h].se_within, 1e-12);
    }
  }
}

TEST(Lfiw, ScalesAndShiftsWithTheRewards) {
  const Rollouts rollouts = RandomRollouts(2, 2, 12, 5);
  Rollouts moved = rollouts;
  for (double& value : moved.rewards.flat()) value = 3.0 * value + 1.0;
  for (int variant = 0; variant < 4; ++variant) {
    const LfiwOptions options = Variant(static_cast<LfiwVariant>(variant));
    const LfiwResult a = Estimate(rollouts, options), b = Estimate(moved, options);
    for (std::size_t h = 0; h < a.horizons.size(); ++h) {
      EXPECT_NEAR(*b.horizons[h].value, 3.0 * *a.horizons[h].value + 5.0, 1e-12);
      EXPECT_NEAR(*b.horizons[h].standard_error, 3.0 * *a.horizons[h].standard_error, 1e-12);
    }
  }
}

TEST(Lfiw, NormalizedScaleDividesByTheSumOfDiscounts) {
  const Rollouts rollouts = RandomRollouts(2, 1, 12, 3);
  ValueOptions sum{.discount = 0.5}, mean{.discount = 0.5, .scale = ValueScale::kNormalized};
  EXPECT_NEAR(*Estimate(rollouts, {}, mean).horizons[2].value,
              *Estimate(rollouts, {}, sum).horizons[2].value / 1.75, 1e-14);
}

TEST(Lfiw, PaddingAfterTerminationChangesNothing) {
  const Rollouts rollouts = RandomRollouts(2, 2, 10, 4);
  Rollouts padded{Array<double, 3>({2, 10, 6}), Array<double, 4>({2, 2, 10, 6})};
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t i = 0; i < 10; ++i) {
      std::copy_n(rollouts.rewards.Row(r, i).begin(), 4, padded.rewards.Row(r, i).begin());
      for (std::int64_t c = 0; c < 2; ++c) {
        std::copy_n(rollouts.log_weights.Row(r, c, i).begin(), 4,
                    padded.log_weights.Row(r, c, i).begin());
      }
    }
  }
  for (const LfiwOptions& options : AllVariants()) {
    if (options.variant == LfiwVariant::kStepwiseBatch) continue;  // its normalizer counts steps
    EXPECT_NEAR(*Estimate(padded, options).horizons[6].value,
                *Estimate(rollouts, options).horizons[4].value, 1e-12);
  }
}

// ---- Several classifiers

TEST(Lfiw, AveragesEstimatesAndSplitsTheirError) {
  const Rollouts rollouts = RandomRollouts(2, 3, 20, 4);
  const LfiwEstimate last = Estimate(rollouts).horizons[4];
  ASSERT_EQ(last.estimates.shape(), (Array<double, 2>::Shape{2, 3}));
  double sum = 0.0;
  std::vector<double> by_repetition(2, 0.0);
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      sum += last.estimates(r, c);
      by_repetition[static_cast<std::size_t>(r)] += last.estimates(r, c) / 3.0;
    }
  }
  EXPECT_NEAR(*last.value, sum / 6.0, 1e-14);
  EXPECT_NEAR(*last.standard_error, std::abs(by_repetition[0] - by_repetition[1]) / 2.0, 1e-14);
  EXPECT_GT(*last.se_between, 0.0);
}

TEST(Lfiw, EqualClassifiersAverageToOneOfThem) {
  const Rollouts single = RandomRollouts(2, 1, 20, 4);
  Rollouts triple{single.rewards, Array<double, 4>({2, 3, 20, 4})};
  for (std::int64_t r = 0; r < 2; ++r) {
    for (std::int64_t c = 0; c < 3; ++c) {
      for (std::int64_t i = 0; i < 20; ++i) {
        std::copy_n(single.log_weights.Row(r, 0, i).begin(), 4,
                    triple.log_weights.Row(r, c, i).begin());
      }
    }
  }
  const double expected = *Estimate(single).horizons[4].value;
  for (const auto average : {ClassifierAverage::kEstimates, ClassifierAverage::kLogWeights}) {
    LfiwOptions options;
    options.average = average;
    EXPECT_NEAR(*Estimate(triple, options).horizons[4].value, expected, 1e-13);
  }
}

TEST(Lfiw, AveragedLogWeightsAreTheGeometricMeanOfWeights) {
  Rollouts rollouts = RandomRollouts(1, 2, 20, 3);
  LfiwOptions options;
  options.average = ClassifierAverage::kLogWeights;
  const LfiwEstimate averaged = Estimate(rollouts, options).horizons[3];
  Rollouts mean{rollouts.rewards, Array<double, 4>({1, 1, 20, 3})};
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t t = 0; t < 3; ++t) {
      mean.log_weights(0, 0, i, t) =
          0.5 * (rollouts.log_weights(0, 0, i, t) + rollouts.log_weights(0, 1, i, t));
    }
  }
  EXPECT_NEAR(*averaged.value, *Estimate(mean).horizons[3].value, 1e-14);
  EXPECT_FALSE(averaged.se_between.has_value());
}

TEST(Lfiw, DiagonalPairsRepetitionsWithClassifiers) {
  const Rollouts rollouts = RandomRollouts(3, 3, 20, 3);
  LfiwOptions options;
  options.average = ClassifierAverage::kDiagonal;
  const LfiwEstimate diagonal = Estimate(rollouts, options).horizons[3];
  const LfiwEstimate all = Estimate(rollouts).horizons[3];
  for (std::int64_t r = 0; r < 3; ++r) EXPECT_EQ(diagonal.estimates(r, 0), all.estimates(r, r));
  EXPECT_THROW(Estimate(RandomRollouts(3, 2, 5, 3), options), ConfigError);
}

// ---- Closed forms

TEST(Lfiw, ShiftedNormalFollowsTheClosedFormAtEveryHorizon) {
  const Rollouts rollouts = ShiftedNormalRollouts(0.1, 10, 2000, 100, 11);
  LfiwOptions options;
  options.khat = KhatHorizons::kListed;
  options.khat_horizons = {20};
  for (int variant = 0; variant < 4; ++variant) {
    options.variant = static_cast<LfiwVariant>(variant);
    const LfiwResult result = Estimate(rollouts, options);
    for (const std::size_t h : {0u, 20u, 40u, 80u, 100u}) {
      const LfiwEstimate& estimate = result.horizons[h];
      EXPECT_NEAR(*estimate.value, 0.1 * static_cast<double>(h), 4.0 * *estimate.standard_error)
          << EnumName(options.variant) << " H " << h;
      const bool product = options.variant == LfiwVariant::kTrajectory ||
                           options.variant == LfiwVariant::kPerDecision;
      // population values e^{-H d^2} and e^{-d^2}; the error of 20,000 draws grows with H
      const double fraction = product ? std::exp(-0.01 * static_cast<double>(h))
                              : h > 0 ? std::exp(-0.01)
                                      : 1.0;
      EXPECT_NEAR(estimate.ess / 2000.0, fraction, 0.03) << EnumName(options.variant) << h;
    }
    EXPECT_LT(*result.horizons[20].khat, 0.7);
  }
}

TEST(Lfiw, UnnormalizedExactWeightsAreUnbiasedAndNoisier) {
  const Rollouts rollouts = ShiftedNormalRollouts(0.1, 10, 2000, 40, 12);
  for (const auto variant :
       {LfiwVariant::kTrajectory, LfiwVariant::kPerDecision, LfiwVariant::kStepwise}) {
    const LfiwEstimate last =
        Estimate(rollouts, Variant(variant, WeightNormalization::kNone)).horizons[40];
    EXPECT_NEAR(*last.value, 4.0, 4.0 * *last.standard_error) << EnumName(variant);
  }
}

// x' = a x + N(0, s^2) from x = 1, reward x'; truth a = 0.8, model a = 0.7, exact ratios.
TEST(Lfiw, IntervalsOfALinearSystemCoverTheClosedFormValue) {
  constexpr double kTruth = 0.8, kModel = 0.7, kSd = 1.0;
  constexpr std::int64_t kRepetitions = 10, kEpisodes = 200, kSteps = 8;
  double expected = 0.0;
  for (std::int64_t t = 1; t <= kSteps; ++t) expected += std::pow(kTruth, static_cast<double>(t));
  LfiwOptions options;
  options.khat = KhatHorizons::kListed;
  int covered = 0, plain_covered = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Stream stream(seed, "linear");
    Rollouts rollouts{Array<double, 3>({kRepetitions, kEpisodes, kSteps}),
                      Array<double, 4>({kRepetitions, 1, kEpisodes, kSteps})};
    for (std::int64_t r = 0; r < kRepetitions; ++r) {
      for (std::int64_t i = 0; i < kEpisodes; ++i) {
        double x = 1.0;
        for (std::int64_t t = 0; t < kSteps; ++t) {
          const double noise = kSd * stream.Normal(), next = kModel * x + noise;
          const double gap = next - kTruth * x;
          rollouts.rewards(r, i, t) = next;
          rollouts.log_weights(r, 0, i, t) = (noise * noise - gap * gap) / (2.0 * kSd * kSd);
          x = next;
        }
      }
    }
    const LfiwResult result = Estimate(rollouts, options);
    const auto covers = [&](std::size_t horizon) {
      const Interval interval = MonteCarloInterval(result.horizons[horizon].estimates.flat());
      return interval.low <= expected && expected <= interval.high;
    };
    covered += covers(kSteps);
    plain_covered += covers(0);
  }
  EXPECT_GE(covered, 90);
  EXPECT_LE(plain_covered, 10);
}

// ---- Extremes

TEST(Lfiw, ProductsThatUnderflowStillAverage) {
  // 2 episodes, 1000 steps whose ratios multiply to 0.3^1000 each
  Rollouts rollouts{Array<double, 3>({1, 2, 1000}),
                    Array<double, 4>({1, 1, 2, 1000}, std::log(0.3))};
  rollouts.rewards(0, 0, 999) = rollouts.rewards(0, 1, 999) = 1.0;
  const LfiwEstimate self = Estimate(rollouts).horizons[1000];
  EXPECT_EQ(*self.value, 1.0);
  EXPECT_EQ(self.ess, 2.0);
  EXPECT_FALSE(self.log10_value.has_value());
  const LfiwEstimate none =
      Estimate(rollouts, Variant(LfiwVariant::kTrajectory, WeightNormalization::kNone))
          .horizons[1000];
  EXPECT_EQ(*none.value, 0.0);
  EXPECT_NEAR(*none.log10_value, 1000.0 * std::log10(0.3), 1e-6);
}

TEST(Lfiw, ProductsThatOverflowReportTheirMagnitude) {
  Rollouts rollouts{Array<double, 3>({1, 2, 2000}),
                    Array<double, 4>({1, 1, 2, 2000}, std::log(2.0))};
  rollouts.rewards(0, 0, 1999) = 3.0;
  rollouts.rewards(0, 1, 1999) = 5.0;
  const LfiwEstimate self = Estimate(rollouts).horizons[2000];
  EXPECT_EQ(*self.value, 4.0);
  EXPECT_EQ(self.ess, 2.0);
  for (const auto variant : {LfiwVariant::kTrajectory, LfiwVariant::kPerDecision}) {
    const LfiwResult result = Estimate(rollouts, Variant(variant, WeightNormalization::kNone));
    const LfiwEstimate& none = result.horizons[2000];
    EXPECT_FALSE(none.value.has_value());
    EXPECT_FALSE(none.se_within.has_value());
    EXPECT_TRUE(none.estimates.empty());
    EXPECT_NEAR(*none.log10_value, 2000.0 * std::log10(2.0) + std::log10(4.0), 1e-6);
    EXPECT_THAT(none.reason, HasSubstr("not finite in double: 10^602.66"));
    // 4 * 2^1000 is representable and stays exact
    EXPECT_NEAR(*result.horizons[1000].value / std::exp2(1002.0), 1.0, 1e-10);
  }
}

TEST(Lfiw, TenThousandStepsOfWildRatiosStayFinite) {
  Rollouts rollouts = RandomRollouts(1, 1, 30, 10'000);
  Stream stream(4, "signs");
  for (double& value : rollouts.log_weights.flat()) {
    value = stream.Uniform() < 0.5 ? std::log(0.3) : std::log(3.0);
  }
  for (LfiwOptions options : AllVariants()) {
    options.khat = KhatHorizons::kListed;
    options.khat_horizons = {100, 10'000};
    for (const LfiwEstimate& estimate : Estimate(rollouts, options).horizons) {
      ASSERT_TRUE(estimate.value ? std::isfinite(*estimate.value)
                                 : std::isfinite(*estimate.log10_value));
      ASSERT_TRUE(std::isfinite(estimate.se_within.value_or(0.0)));
      ASSERT_TRUE(estimate.ess >= 1.0 && estimate.ess <= 30.0);
      ASSERT_TRUE(std::isfinite(estimate.khat.value_or(0.0)));
      ASSERT_LE(estimate.max_weight, 1.0);
    }
  }
}

TEST(Lfiw, WithoutSupportThereIsAReasonAndNoValue) {
  Rollouts rollouts = RandomRollouts(2, 2, 4, 5);
  for (std::int64_t i = 0; i < 4; ++i) rollouts.log_weights(1, 0, i, 2) = kZeroLogWeight;
  for (const LfiwOptions& options : AllVariants()) {
    const LfiwResult result = Estimate(rollouts, options);
    EXPECT_TRUE(result.horizons[2].value.has_value());
    for (std::size_t h = 3; h <= 5; ++h) {
      const LfiwEstimate& estimate = result.horizons[h];
      const bool pooled = options.variant == LfiwVariant::kStepwiseBatch &&
                          options.normalization == WeightNormalization::kSelf;
      EXPECT_EQ(estimate.value.has_value(), pooled);  // other steps still have weight
      if (pooled) continue;
      EXPECT_THAT(estimate.reason, HasSubstr("no support"));
      EXPECT_THAT(estimate.reason, HasSubstr("repetition 1, classifier 0"));
    }
  }
}

TEST(Lfiw, ClippingRestoresSupport) {
  Rollouts rollouts = RandomRollouts(1, 1, 4, 3);
  std::fill(rollouts.log_weights.flat().begin(), rollouts.log_weights.flat().end(), kZeroLogWeight);
  LfiwOptions options;
  options.beta = 0.01;
  const LfiwEstimate last = Estimate(rollouts, options).horizons[3];
  EXPECT_NEAR(*last.value, EstimatePlainModel(rollouts.rewards, {}).value, 1e-14);
  EXPECT_EQ(last.clip_rate, 1.0);
}

TEST(Lfiw, HugeRewardsNeverBecomeInfinite) {
  Rollouts rollouts = RandomRollouts(2, 1, 3, 2);
  std::fill(rollouts.rewards.flat().begin(), rollouts.rewards.flat().end(), 1.5e308);
  for (const LfiwOptions& options : AllVariants()) {
    for (const LfiwEstimate& estimate : Estimate(rollouts, options).horizons) {
      EXPECT_FALSE(estimate.value.has_value());
      EXPECT_FALSE(estimate.reason.empty());
    }
  }
}

// ---- Errors

TEST(Lfiw, NamesThePlaceOfANumberThatIsNotFinite) {
  Rollouts rollouts = RandomRollouts(2, 3, 4, 5);
  rollouts.log_weights(1, 2, 3, 4) = std::numeric_limits<double>::quiet_NaN();
  try {
    Estimate(rollouts);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("repetition 1, classifier 2, episode 3, step 4"));
  }
  rollouts = RandomRollouts(2, 3, 4, 5);
  rollouts.rewards(1, 0, 2) = HUGE_VAL;
  try {
    Estimate(rollouts);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("repetition 1, episode 0, step 2"));
  }
}

TEST(Lfiw, RejectsShapesAndOptionsThatDoNotFit) {
  Rollouts rollouts = RandomRollouts(2, 2, 4, 5);
  EXPECT_THROW(EstimateLfiw(Array<double, 3>({2, 4, 6}), rollouts.log_weights, {}, {}), DataError);
  EXPECT_THROW(EstimateLfiw({}, {}, {}, {}), DataError);
  LfiwOptions options;
  options.alpha = -1.0;
  EXPECT_THROW(Estimate(rollouts, options), ConfigError);
  options = {};
  options.beta = HUGE_VAL;
  EXPECT_THROW(Estimate(rollouts, options), ConfigError);
  options = {};
  options.khat_horizons = {6};
  EXPECT_THROW(Estimate(rollouts, options), ConfigError);
  options = Variant(LfiwVariant::kStepwiseBatch);
  options.smoothing = WeightSmoothing::kPareto;
  EXPECT_THROW(Estimate(rollouts, options), ConfigError);
}

}  // namespace
}  // namespace lfiw::ope
