#include "ope/judgement/episode_intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

EpisodeTerms PlainTerms(const std::vector<double>& values) {
  EpisodeTerms terms{Array<double, 2>({std::ssize(values), 1}),
                     Array<double, 2>({std::ssize(values), 0})};
  std::ranges::copy(values, terms.numerators.flat().begin());
  return terms;
}

// Exponential values of mean 1, skewed.
std::vector<double> Skewed(std::int64_t n, std::uint64_t seed) {
  Stream stream(seed, "skewed");
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(-std::log(1.0 - stream.Uniform()));
  return values;
}

EpisodeIntervalOptions Options(EpisodeIntervalMethod method) {
  EpisodeIntervalOptions options;
  options.method = method;
  options.resamples = 500;
  return options;
}

TEST(MakeEpisodeInterval, StudentTIsTheTextbookInterval) {
  const EpisodeInterval interval =
      MakeEpisodeInterval(PlainTerms({1.0, 2.0, 3.0}), Options(EpisodeIntervalMethod::kStudentT));
  // t(2) at 0.975 is 4.302653, the standard error 1 / sqrt(3)
  EXPECT_NEAR(*interval.low, 2.0 - 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(*interval.high, 2.0 + 4.302653 / std::sqrt(3.0), 1e-5);
}

TEST(MakeEpisodeInterval, BcaShiftsTowardsTheLongTail) {
  const EpisodeTerms terms = PlainTerms(Skewed(40, 3));
  const EpisodeInterval plain =
      MakeEpisodeInterval(terms, Options(EpisodeIntervalMethod::kPercentile));
  const EpisodeInterval bca = MakeEpisodeInterval(terms, Options(EpisodeIntervalMethod::kBca));
  EXPECT_GT(*bca.low, *plain.low);
  EXPECT_GT(*bca.high, *plain.high);
}

TEST(MakeEpisodeInterval, BcaScalesWithTheValuesHoweverLargeOrSmallTheyAre) {
  const std::vector<double> values = Skewed(40, 3);
  const auto options = Options(EpisodeIntervalMethod::kBca);
  const EpisodeInterval expected = MakeEpisodeInterval(PlainTerms(values), options);
  for (const double scale : {1e-200, 1e200}) {
    std::vector<double> scaled = values;
    for (double& value : scaled) value *= scale;
    const EpisodeInterval interval = MakeEpisodeInterval(PlainTerms(scaled), options);
    ASSERT_TRUE(interval.low && interval.high) << interval.reason;
    EXPECT_NEAR(*interval.low / scale, *expected.low, 1e-9);
    EXPECT_NEAR(*interval.high / scale, *expected.high, 1e-9);
  }
}

TEST(MakeEpisodeInterval, CoversTheMeanOfSkewedValuesAboutAsOftenAsItSays) {
  // 300 simulated logs of 60 episodes: 3 binomial standard errors of 95 % are 3.8 %
  for (const EpisodeIntervalMethod method :
       {EpisodeIntervalMethod::kStudentT, EpisodeIntervalMethod::kBca}) {
    int covered = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      const EpisodeInterval interval =
          MakeEpisodeInterval(PlainTerms(Skewed(60, seed)), Options(method));
      covered += *interval.low <= 1.0 && 1.0 <= *interval.high;
    }
    EXPECT_GT(covered, 300 * 0.90) << EnumName(method);
    EXPECT_LT(covered, 300 * 0.99) << EnumName(method);
  }
}

TEST(MakeEpisodeInterval, HoeffdingAndBernsteinAreTheirFormulas) {
  const std::vector<double> values = {0.0, 1.0, 1.0, 0.0};
  const ReturnRange range{0.0, 1.0};
  const EpisodeInterval hoeffding =
      MakeEpisodeInterval(PlainTerms(values), Options(EpisodeIntervalMethod::kHoeffding), range);
  EXPECT_NEAR(*hoeffding.high - *hoeffding.low, 2.0 * std::sqrt(std::log(40.0) / 8.0), 1e-12);
  const EpisodeInterval bernstein = MakeEpisodeInterval(
      PlainTerms(values), Options(EpisodeIntervalMethod::kEmpiricalBernstein), range);
  const double l = std::log(80.0);
  EXPECT_NEAR(*bernstein.high - 0.5, std::sqrt(2.0 * l / 3.0 / 4.0) + 7.0 * l / 9.0, 1e-12);
  EXPECT_TRUE(bernstein.conservative);
}

TEST(MakeEpisodeInterval, HcopeBoundsTheMeanOfHeavyTailsFromBelow) {
  // weights exp(z), z ~ N(-2, 4), of mean 1: their range is unbounded
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Stream stream(seed, "heavy");
    std::vector<double> values;
    for (int i = 0; i < 500; ++i) values.push_back(std::exp(-2.0 + 2.0 * stream.Normal()));
    const EpisodeInterval interval = MakeEpisodeInterval(
        PlainTerms(values), Options(EpisodeIntervalMethod::kHcope), ReturnRange{0.0, 0.0});
    EXPECT_FALSE(interval.high);
    wrong += *interval.low > 1.0;
  }
  EXPECT_LE(wrong, 5);
}

TEST(MakeEpisodeInterval, RefusesBoundsForSelfNormalizedTermsAndWithoutARange) {
  EpisodeTerms terms = PlainTerms({1.0, 2.0});
  const auto options = Options(EpisodeIntervalMethod::kHoeffding);
  EXPECT_THAT(MakeEpisodeInterval(terms, options).reason, HasSubstr("needs bounds"));
  terms.denominators = Array<double, 2>({2, 1}, 1.0);
  EXPECT_THAT(MakeEpisodeInterval(terms, options, ReturnRange{0, 3}).reason,
              HasSubstr("self-normalized"));
}

TEST(MakeEpisodeInterval, RefusesASingleEpisodeAndABootstrapWithoutSupport) {
  const auto options = Options(EpisodeIntervalMethod::kPercentile);
  EXPECT_THAT(MakeEpisodeInterval(PlainTerms({1.0}), options).reason, HasSubstr("single episode"));
  EpisodeTerms terms{Array<double, 2>({3, 1}, 1.0), Array<double, 2>({3, 1})};
  terms.denominators(0, 0) = 1.0;
  EXPECT_THAT(MakeEpisodeInterval(terms, options).reason, HasSubstr("have no support"));
}

TEST(MakeEpisodeInterval, RefusesALevelOutsideZeroToOne) {
  auto options = Options(EpisodeIntervalMethod::kBca);
  options.level = 1.0;
  EXPECT_THROW(MakeEpisodeInterval(PlainTerms({1.0, 2.0}), options), ConfigError);
}

}  // namespace
}  // namespace lfiw::ope
