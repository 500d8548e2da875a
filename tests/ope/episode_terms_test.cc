#include "ope/episode_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// n episodes, K columns of random positive denominators and any numerators.
EpisodeTerms RandomTerms(std::int64_t n, std::int64_t columns, std::uint64_t seed = 1) {
  EpisodeTerms terms{Array<double, 2>({n, columns}), Array<double, 2>({n, columns})};
  Stream stream(seed, "terms");
  for (double& x : terms.denominators.flat()) x = 0.1 + stream.Uniform();
  for (std::size_t i = 0; i < terms.numerators.flat().size(); ++i) {
    terms.numerators.flat()[i] = terms.denominators.flat()[i] * (2.0 + stream.Normal());
  }
  return terms;
}

EpisodeTerms PlainTerms(const std::vector<double>& values) {
  EpisodeTerms terms{Array<double, 2>({std::ssize(values), 1}),
                     Array<double, 2>({std::ssize(values), 0})};
  std::ranges::copy(values, terms.numerators.flat().begin());
  return terms;
}

// The terms without some episodes, or with repeated ones.
EpisodeTerms Pick(const EpisodeTerms& terms, const std::vector<std::int64_t>& episodes) {
  EpisodeTerms out{Array<double, 2>({std::ssize(episodes), terms.columns()}),
                   Array<double, 2>({std::ssize(episodes), terms.denominators.shape()[1]})};
  for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    std::ranges::copy(terms.numerators.Row(e), out.numerators.Row(i).begin());
    std::ranges::copy(terms.denominators.Row(e), out.denominators.Row(i).begin());
  }
  return out;
}

TEST(ValueOf, SumsRatiosOfSums) {
  EpisodeTerms terms{Array<double, 2>({2, 2}), Array<double, 2>({2, 2})};
  terms.numerators(0, 0) = 1.0;
  terms.numerators(1, 0) = 5.0;
  terms.denominators(0, 0) = 1.0;
  terms.denominators(1, 0) = 2.0;
  terms.numerators(1, 1) = 3.0;
  terms.denominators(0, 1) = 6.0;
  EXPECT_DOUBLE_EQ(*ValueOf(terms), 6.0 / 3.0 + 3.0 / 6.0);
}

// Three episodes; a second column to which the first alone contributes, or none does.
EpisodeTerms SparseTerms(double contribution, EmptyColumns empty_columns) {
  EpisodeTerms terms{Array<double, 2>({3, 2}), Array<double, 2>({3, 2}), empty_columns};
  for (std::int64_t i = 0; i < 3; ++i) {
    terms.numerators(i, 0) = static_cast<double>(i);
    terms.denominators(i, 0) = 1.0;
  }
  terms.numerators(0, 1) = 4.0 * contribution;
  terms.denominators(0, 1) = contribution;
  return terms;
}

TEST(ValueOf, TakesEmptyColumnsAsItIsTold) {
  EXPECT_FALSE(ValueOf(SparseTerms(0.0, EmptyColumns::kUndefined)));
  EXPECT_EQ(*ValueOf(SparseTerms(0.0, EmptyColumns::kNothing)), 1.0);
  EXPECT_EQ(*ValueOf(SparseTerms(0.5, EmptyColumns::kNothing)), 5.0);
}

TEST(BootstrapValues, KeepsResamplesWhoseColumnIsEmptyWhereItAddsNothing) {
  EXPECT_LT(BootstrapValues(SparseTerms(0.5, EmptyColumns::kUndefined), 300, 1).size(), 250u);
  const std::vector<double> values =
      BootstrapValues(SparseTerms(0.5, EmptyColumns::kNothing), 300, 1);
  EXPECT_EQ(values.size(), 300u);
  // without the first episode the mean is of episodes 1 and 2 alone; with it the column adds 4
  EXPECT_LT(*std::ranges::min_element(values), 2.5);
  EXPECT_GT(*std::ranges::max_element(values), 4.0);
}

TEST(StandardErrorOf, IsThatOfTheOtherColumnsWhereOneIsEmpty) {
  EXPECT_DOUBLE_EQ(*StandardErrorOf(SparseTerms(0.0, EmptyColumns::kNothing)),
                   *StandardErrorOf(PlainTerms({0.0, 1.0, 2.0})));
}

TEST(ValueOf, IsAPlainMeanWithoutDenominators) {
  EXPECT_DOUBLE_EQ(*ValueOf(PlainTerms({1.0, 2.0, 6.0})), 3.0);
}

TEST(ValueOf, IsAbsentWithoutSupportOrBeyondDouble) {
  EpisodeTerms terms = RandomTerms(3, 2);
  for (std::int64_t i = 0; i < 3; ++i) terms.denominators(i, 1) = 0.0;
  EXPECT_FALSE(ValueOf(terms));
  EXPECT_FALSE(ValueOf(PlainTerms({1e308, 1e308, 1e308})));
}

TEST(ValueOf, DoesNotDependOnTheScaleOfAColumn) {
  EpisodeTerms terms = RandomTerms(20, 3);
  const double before = *ValueOf(terms);
  for (std::int64_t i = 0; i < 20; ++i) {
    terms.numerators(i, 1) *= 1e150;
    terms.denominators(i, 1) *= 1e150;
  }
  EXPECT_NEAR(*ValueOf(terms), before, 1e-12);
}

TEST(StandardErrorOf, IsThatOfAMeanForPlainTerms) {
  const std::vector<double> values = {1.0, 2.0, 6.0, 4.0};
  EXPECT_DOUBLE_EQ(*StandardErrorOf(PlainTerms(values)), StandardError(values));
  EXPECT_FALSE(StandardErrorOf(PlainTerms({1.0})));
}

// Values without one episode each, [n].
std::vector<double> Jackknife(const EpisodeTerms& terms) {
  std::vector<double> values;
  for (std::int64_t left_out = 0; left_out < terms.episodes(); ++left_out) {
    std::vector<std::int64_t> kept = IndexList(terms.episodes());
    kept.erase(kept.begin() + left_out);
    values.push_back(*ValueOf(Pick(terms, kept)));
  }
  return values;
}

TEST(StandardErrorOf, AgreesWithTheBootstrapAndTheJackknife) {
  const EpisodeTerms terms = RandomTerms(400, 5);
  const double error = *StandardErrorOf(terms);
  // 4000 resamples fix a standard deviation to about 1 %
  EXPECT_NEAR(StandardDeviation(BootstrapValues(terms, 4000, 3)), error, 0.06 * error);
  const double jackknife = StandardDeviation(Jackknife(terms)) * (400 - 1) / std::sqrt(400.0);
  EXPECT_NEAR(jackknife, error, 0.02 * error);
}

TEST(BootstrapValues, AreValuesOfResampledEpisodes) {
  const EpisodeTerms terms = RandomTerms(30, 4);
  const std::vector<double> values = BootstrapValues(terms, 70, 9);
  ASSERT_EQ(values.size(), 70u);
  for (const std::uint64_t r : {0u, 69u}) {
    Stream stream(9, "episode bootstrap", {r});
    std::vector<std::int64_t> drawn;
    for (int i = 0; i < 30; ++i) drawn.push_back(static_cast<std::int64_t>(stream.Below(30)));
    EXPECT_NEAR(values[r], *ValueOf(Pick(terms, drawn)), 1e-12);
  }
}

TEST(BootstrapValues, LeaveOutResamplesWithoutSupport) {
  EpisodeTerms terms = RandomTerms(3, 1);
  terms.denominators(0, 0) = terms.denominators(1, 0) = 0.0;
  // the third episode is in a resample with probability 1 - (2 / 3)^3 = 0.70
  const auto kept = static_cast<double>(BootstrapValues(terms, 2000, 1).size());
  EXPECT_NEAR(kept / 2000.0, 1.0 - 8.0 / 27.0, 0.04);
}

TEST(BootstrapValues, AreTheSameForAnyNumberOfThreads) {
  const EpisodeTerms terms = RandomTerms(50, 4);
  SetThreads(1);
  const auto one = BootstrapValues(terms, 300, 2);
  SetThreads(2);
  EXPECT_EQ(one, BootstrapValues(terms, 300, 2));
  SetThreads(0);
}

}  // namespace
}  // namespace lfiw::ope
