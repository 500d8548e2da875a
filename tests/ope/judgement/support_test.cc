#include "ope/judgement/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Pairs {
  MatrixF states, actions;
};

// Independent states (N(1, 2^2), N(0, 0.1^2), 7) and actions N(0, 1).
Pairs NormalPairs(std::int64_t count, std::uint64_t seed) {
  Stream stream(seed, "pairs");
  Pairs pairs{MatrixF(count, 3), MatrixF(count, 1)};
  const auto normal = [&] { return static_cast<float>(stream.Normal()); };
  for (Eigen::Index i = 0; i < count; ++i) {
    pairs.states.row(i) << 1.0f + 2.0f * normal(), 0.1f * normal(), 7.0f;
    pairs.actions(i, 0) = normal();
  }
  return pairs;
}

// Pairs as a log of episodes of `length` steps whose last observations are far away.
EpisodeBatch LogOf(const Pairs& pairs, std::int64_t length) {
  EpisodeBatch log;
  const std::int64_t episodes = pairs.states.rows() / length;
  log.observations = MatrixF::Constant(pairs.states.rows() + episodes, pairs.states.cols(), 1e6f);
  log.actions = pairs.actions;
  log.aux.resize(pairs.states.rows(), 0);
  log.rewards.assign(static_cast<std::size_t>(pairs.states.rows()), 0.0);
  log.terminated.assign(static_cast<std::size_t>(episodes), 0);
  for (std::int64_t e = 0; e < episodes; ++e) {
    log.observations.middleRows(e * (length + 1), length) =
        pairs.states.middleRows(e * length, length);
    log.offsets.push_back((e + 1) * length);
  }
  return log;
}

// One measurement of pairs that are visited at the steps 0, 1, ...
SupportCheck MeasureSupport(const EpisodeBatch& log, const MatrixF& states, const MatrixF& actions,
                            const SupportOptions& options, std::uint64_t seed) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(states.rows()));
  std::iota(steps.begin(), steps.end(), std::int64_t{0});
  return LogSupport(log, options, seed).Measure({states, actions, steps, states.rows()});
}

TEST(MeasureSupport, PairsOfTheLogsOwnDistributionAreOutsideAsOftenAsTheQuantileSays) {
  const EpisodeBatch log = LogOf(NormalPairs(20'000, 1), 20);
  const Pairs queries = NormalPairs(5000, 2);
  for (const std::uint64_t seed : {0, 1, 2}) {
    const SupportCheck check = MeasureSupport(log, queries.states, queries.actions, {}, seed);
    EXPECT_EQ(check.queries, 2000);
    // the share and the quantile have 2000 pairs each: a standard error of
    // sqrt(2 * 0.01 * 0.99 / 2000) = 0.0031; five of them
    EXPECT_NEAR(check.outside, 0.01, 0.016);
    EXPECT_NEAR(check.median_ratio, 1.0, 0.1);
  }
}

TEST(MeasureSupport, PairsFarFromTheLogAreOutside) {
  const EpisodeBatch log = LogOf(NormalPairs(20'000, 1), 20);
  Pairs queries = NormalPairs(1000, 2);
  // ten deviations of the dimension with the smallest values
  queries.states.col(1).array() += 1.0f;
  const SupportCheck check = MeasureSupport(log, queries.states, queries.actions, {}, 0);
  EXPECT_EQ(check.outside, 1.0);
  EXPECT_GT(check.median_ratio, 10.0);
  EXPECT_EQ(check.queries, 1000);
}

TEST(MeasureSupport, AQuarterOfTheStepsThatLeavesTheLogIsFoundByItself) {
  const EpisodeBatch log = LogOf(NormalPairs(20'000, 1), 20);
  Pairs queries = NormalPairs(1000, 2);
  queries.actions.bottomRows(250).array() += 10.0f;
  const SupportCheck check = MeasureSupport(log, queries.states, queries.actions, {}, 0);
  EXPECT_NEAR(check.outside, 0.25, 0.02);
  EXPECT_EQ(check.worst_quarter, 1.0);
}

TEST(MeasureSupport, ActionsBeyondTheLogsAreOutsideToo) {
  const EpisodeBatch log = LogOf(NormalPairs(20'000, 1), 20);
  Pairs queries = NormalPairs(1000, 2);
  queries.actions.array() += 10.0f;
  EXPECT_EQ(MeasureSupport(log, queries.states, queries.actions, {}, 0).outside, 1.0);
}

TEST(MeasureSupport, APairThatDiffersWhereTheLogIsConstantIsOutside) {
  const Pairs logged = NormalPairs(1000, 1);
  const EpisodeBatch log = LogOf(logged, 20);
  Pairs queries{logged.states.topRows(4), logged.actions.topRows(4)};
  const SupportOptions options{.quantile = 1.0};
  EXPECT_EQ(MeasureSupport(log, queries.states, queries.actions, options, 0).outside, 0.0);
  queries.states(1, 2) = 7.01f;
  queries.states(2, 2) = std::nextafter(7.0f, 8.0f);
  EXPECT_EQ(MeasureSupport(log, queries.states, queries.actions, options, 0).outside, 0.25);
  queries.states.col(2).setConstant(8.0f);
  const SupportCheck check = MeasureSupport(log, queries.states, queries.actions, options, 0);
  EXPECT_EQ(check.outside, 1.0);
  EXPECT_EQ(check.median_ratio, kInfinity);
}

TEST(MeasureSupport, DiscretePairsAreInsideWhereTheyRepeatTheLogs) {
  // three states, two one-hot actions; the pair (2, second) never occurs
  Pairs logged{MatrixF(600, 1), MatrixF::Zero(600, 2)};
  Stream stream(1, "discrete");
  for (Eigen::Index i = 0; i < 600; ++i) {
    const std::uint64_t state = stream.Below(3), action = state == 2 ? 0 : stream.Below(2);
    logged.states(i, 0) = 0.3f * static_cast<float>(state);
    logged.actions(i, static_cast<Eigen::Index>(action)) = 1.0f;
  }
  const EpisodeBatch log = LogOf(logged, 20);
  const SupportCheck same = MeasureSupport(log, logged.states, logged.actions, {}, 0);
  EXPECT_EQ(same.outside, 0.0);
  EXPECT_EQ(same.median_ratio, 1.0);
  const MatrixF states{{0.6f}, {0.6f}, {0.6f}, {0.0f}};
  const MatrixF actions{{0.0f, 1.0f}, {0.0f, 1.0f}, {1.0f, 0.0f}, {0.0f, 1.0f}};
  EXPECT_EQ(MeasureSupport(log, states, actions, {}, 0).outside, 0.5);
}

// The two episodes of `log` are reference and held out, in this order or the other.
SupportCheck Slow(const EpisodeBatch& log, const Pairs& queries, std::int64_t reference,
                  double quantile) {
  const auto pair = [](const auto& states, const auto& actions) {
    VectorD row(states.size() + actions.size());
    row << states.transpose().template cast<double>(), actions.transpose().template cast<double>();
    return row;
  };
  std::vector<std::vector<VectorD>> rows(2);
  for (const std::int64_t e : {0, 1}) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      rows[static_cast<std::size_t>(e)].push_back(pair(
          log.observations.row(log.ObservationRow(e, t)), log.actions.row(log.Length(0) * e + t)));
    }
  }
  const auto& from = rows[static_cast<std::size_t>(reference)];
  const auto& held_out = rows[static_cast<std::size_t>(1 - reference)];
  VectorD mean = VectorD::Zero(4), square = VectorD::Zero(4);
  const auto n = static_cast<double>(log.steps());
  for (const auto& side : rows) {
    for (const VectorD& row : side) mean += row / n;
  }
  for (const auto& side : rows) {
    for (const VectorD& row : side) square += (row - mean).cwiseAbs2() / n;
  }
  square(2) = kInfinity;  // the constant dimension
  const auto distance = [&](const VectorD& row) {
    double nearest = kInfinity;
    for (const VectorD& other : from) {
      nearest = std::min(nearest, std::sqrt((row - other).cwiseAbs2().cwiseQuotient(square).sum()));
    }
    return nearest;
  };
  std::vector<double> own, queried;
  for (const VectorD& row : held_out) own.push_back(distance(row));
  for (Eigen::Index i = 0; i < queries.states.rows(); ++i) {
    queried.push_back(distance(pair(queries.states.row(i), queries.actions.row(i))));
  }
  const double limit = Quantile(own, quantile);
  const auto outside = std::ranges::count_if(queried, [&](double d) { return d > limit; });
  return {.outside = static_cast<double>(outside) / static_cast<double>(queried.size()),
          .median_ratio = Quantile(queried, 0.5) / Quantile(own, 0.5),
          .queries = std::ssize(queried)};
}

TEST(MeasureSupport, AgreesWithTheObviousWay) {
  const EpisodeBatch log = LogOf(NormalPairs(600, 1), 300);
  Pairs queries = NormalPairs(301, 2);
  queries.states *= 1.3f;
  queries.states.col(2).setConstant(7.0f);
  const SupportOptions options{.reference_rows = 1000, .query_rows = 1000, .quantile = 0.9};
  const SupportCheck fast = MeasureSupport(log, queries.states, queries.actions, options, 0);
  const SupportCheck first = Slow(log, queries, 0, 0.9), second = Slow(log, queries, 1, 0.9);
  const SupportCheck& slow = std::abs(fast.median_ratio - first.median_ratio) <
                                     std::abs(fast.median_ratio - second.median_ratio)
                                 ? first
                                 : second;
  EXPECT_NEAR(fast.median_ratio, slow.median_ratio, 1e-5);
  EXPECT_EQ(fast.outside, slow.outside);
  EXPECT_GT(fast.outside, 0.05);
  EXPECT_LT(fast.outside, 0.95);
}

TEST(MeasureSupport, OrderOfRowsDoesNotMatterWhereAllAreUsed) {
  const Pairs logged = NormalPairs(400, 1), queries = NormalPairs(200, 2);
  const EpisodeBatch log = LogOf(logged, 20);
  // reversed steps within each episode, reversed queries
  Pairs reversed = logged;
  for (Eigen::Index e = 0; e < 20; ++e) {
    reversed.states.middleRows(20 * e, 20) =
        logged.states.middleRows(20 * e, 20).colwise().reverse();
    reversed.actions.middleRows(20 * e, 20) =
        logged.actions.middleRows(20 * e, 20).colwise().reverse();
  }
  const SupportOptions options{.quantile = 0.8};
  const SupportCheck one = MeasureSupport(log, queries.states, queries.actions, options, 3);
  const SupportCheck other = MeasureSupport(LogOf(reversed, 20), queries.states.colwise().reverse(),
                                            queries.actions.colwise().reverse(), options, 3);
  EXPECT_EQ(one.outside, other.outside);
  EXPECT_NEAR(one.median_ratio, other.median_ratio, 1e-5);
}

TEST(MeasureSupport, SameBitsForAnyNumberOfThreads) {
  const EpisodeBatch log = LogOf(NormalPairs(2000, 1), 20);
  const Pairs queries = NormalPairs(500, 2);
  SetThreads(1);
  const SupportCheck one = MeasureSupport(log, queries.states, queries.actions, {}, 0);
  SetThreads(2);
  const SupportCheck two = MeasureSupport(log, queries.states, queries.actions, {}, 0);
  SetThreads(0);
  EXPECT_EQ(one.outside, two.outside);
  EXPECT_EQ(one.median_ratio, two.median_ratio);
}

std::string ErrorOf(const EpisodeBatch& log, const Pairs& queries) {
  try {
    MeasureSupport(log, queries.states, queries.actions, {}, 0);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(MeasureSupport, PairsThatDoNotFitAreErrors) {
  const EpisodeBatch log = LogOf(NormalPairs(40, 1), 20);
  Pairs queries = NormalPairs(5, 2);
  EXPECT_THAT(ErrorOf(LogOf(NormalPairs(20, 1), 20), queries), HasSubstr("1 distinct episodes"));
  EXPECT_THAT(ErrorOf(log, {MatrixF(0, 3), MatrixF(0, 1)}), HasSubstr("0 states"));
  EXPECT_THAT(ErrorOf(log, {queries.states, MatrixF::Zero(5, 2)}), HasSubstr("3 + 2 dimensions"));
  queries.states(4, 1) = std::nanf("");
  EXPECT_THAT(ErrorOf(log, queries), HasSubstr("pair 4 is not finite"));
}

}  // namespace
}  // namespace lfiw::ope
