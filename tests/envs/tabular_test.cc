#include "envs/tabular.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw::envs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

void FillProbabilities(Stream& stream, std::span<double> row) {
  double sum = 0.0;
  for (double& p : row) sum += p = 0.1 + stream.Uniform();
  for (double& p : row) p /= sum;
}

// A system in which no number is special; the last state is terminal, the first two look alike.
TabularSystem RandomSystem(Stream& stream) {
  constexpr std::int64_t kStates = 5, kActions = 3;
  TabularSystem system = ZeroTabular(kStates, kActions);
  for (std::int64_t s = 0; s < kStates; ++s) {
    for (std::int64_t a = 0; a < kActions; ++a)
      FillProbabilities(stream, system.transitions.Row(s, a));
  }
  for (double& reward : system.rewards.flat()) reward = stream.Normal();
  FillProbabilities(stream, std::span(system.initial).first(kStates - 1));
  system.terminal.back() = 1;
  system.observations = {0, 0, 1, 2, 3};
  return system;
}

TabularPolicy RandomPolicy(Stream& stream) {
  TabularPolicy policy({4, 3});
  for (std::int64_t o = 0; o < 4; ++o) FillProbabilities(stream, policy.Row(o));
  return policy;
}

// Sum over steps of discount^t E r_t, forward in time.
double ValueByVisitation(const TabularSystem& system, const TabularPolicy& policy,
                         std::int64_t horizon, double discount) {
  const Array<double, 3> visited = Visitation(system, policy, horizon);
  const std::vector<double> nothing(system.terminal.size(), 0.0);
  const Array<double, 2> reward = LookAhead(system, nothing, discount);
  double value = 0.0, factor = 1.0;
  for (std::int64_t t = 0; t < horizon; ++t, factor *= discount) {
    for (std::int64_t s = 0; s < system.states(); ++s) {
      for (std::int64_t a = 0; a < system.actions(); ++a) {
        value += factor * visited(t, s, a) * reward(s, a);
      }
    }
  }
  return value;
}

class TabularTest : public testing::Test {
 protected:
  Stream stream_{5, "tabular test"};
  TabularSystem system_ = RandomSystem(stream_);
  TabularPolicy policy_ = RandomPolicy(stream_);
};

TEST_F(TabularTest, BackwardAndForwardInTimeGiveTheSameValue) {
  for (const std::int64_t horizon : {1, 2, 7}) {
    for (const double discount : {0.0, 0.9, 1.0}) {
      EXPECT_NEAR(ExpectedValue(system_, FiniteHorizonValues(system_, policy_, horizon, discount)),
                  ValueByVisitation(system_, policy_, horizon, discount), 1e-12);
    }
  }
}

TEST_F(TabularTest, AnInfiniteHorizonIsTheLimitOfFiniteOnes) {
  for (const double discount : {0.0, 0.9, 1.0}) {
    const TabularValues infinite = InfiniteHorizonValues(system_, policy_, discount);
    const TabularValues finite = FiniteHorizonValues(system_, policy_, 1000, discount);
    EXPECT_TRUE(infinite.stationary());
    EXPECT_FALSE(finite.stationary());
    for (std::int64_t s = 0; s < system_.states(); ++s) {
      EXPECT_NEAR(infinite.V(17, s), finite.V(0, s), 1e-10);
      for (std::int64_t a = 0; a < system_.actions(); ++a) {
        EXPECT_NEAR(infinite.Q(17, s, a), finite.Q(0, s, a), 1e-10);
      }
    }
  }
}

TEST_F(TabularTest, AnEndlessSystemHasNoUndiscountedValue) {
  std::ranges::fill(system_.transitions.Row(1, 0), 0.0);
  system_.transitions(1, 0, 1) = 1.0;
  std::ranges::copy(std::vector{1.0, 0.0, 0.0}, policy_.Row(0).begin());
  EXPECT_THAT([&] { InfiniteHorizonValues(system_, policy_, 1.0); },
              ThrowsMessage<NumericError>(HasSubstr("from state 1 may never end")));
  EXPECT_NO_THROW(InfiniteHorizonValues(system_, policy_, 0.99));
}

TEST_F(TabularTest, NoPolicyExceedsTheOptimalValues) {
  const std::vector<double> best = OptimalValues(system_, 0.9);
  for (int k = 0; k < 20; ++k) {
    const TabularValues values = InfiniteHorizonValues(system_, RandomPolicy(stream_), 0.9);
    for (std::size_t s = 0; s < best.size(); ++s) {
      EXPECT_LE(values.V(0, static_cast<std::int64_t>(s)), best[s] + 1e-12);
    }
  }
  const Array<double, 2> q = LookAhead(system_, best, 0.9);
  EXPECT_NEAR(std::ranges::max(q.Row(2)), best[2], 1e-12);
}

TEST_F(TabularTest, LogsHaveTheExactVisitationAndRewards) {
  constexpr std::int64_t kEpisodes = 40'000, kSteps = 4;
  const TabularLog log = SampleLog(system_, policy_, kEpisodes, kSteps, Stream(1, "log"));
  const Array<double, 3> visited = Visitation(system_, policy_, kSteps);
  Array<double, 3> counted(visited.shape());
  double total = 0.0;
  for (std::int64_t i = 0; i < kEpisodes; ++i) {
    for (std::int64_t t = 0; t < log.lengths[static_cast<std::size_t>(i)]; ++t) {
      counted(t, log.states(i, t), log.actions(i, t)) += 1.0 / kEpisodes;
      EXPECT_EQ(log.observations(i, t),
                system_.observations[static_cast<std::size_t>(log.states(i, t))]);
      EXPECT_EQ(log.rewards(i, t),
                system_.rewards(log.states(i, t), log.actions(i, t), log.states(i, t + 1)));
      total += log.rewards(i, t);
    }
  }
  // five standard errors of a share, and of a return of standard deviation below 3
  for (std::int64_t k = 0; k < visited.size(); ++k) {
    const double p = visited.flat()[static_cast<std::size_t>(k)];
    EXPECT_NEAR(counted.flat()[static_cast<std::size_t>(k)], p,
                5.0 * std::sqrt(p * (1.0 - p) / kEpisodes) + 1e-12);
  }
  EXPECT_NEAR(total / kEpisodes,
              ExpectedValue(system_, FiniteHorizonValues(system_, policy_, kSteps, 1.0)),
              5.0 * 3.0 / std::sqrt(kEpisodes));
}

TEST_F(TabularTest, EpisodesEndInATerminalStateOrAtTheTimeLimit) {
  const TabularLog log = SampleLog(system_, policy_, 200, 3, Stream(1, "log"));
  std::int64_t terminated = 0;
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::int64_t length = log.lengths[row];
    const bool end = system_.terminal[static_cast<std::size_t>(log.states(i, length))] != 0;
    EXPECT_EQ(log.terminated[row] != 0, end);
    EXPECT_TRUE(end || length == 3);
    EXPECT_EQ(log.ContinuesAfter(i, length - 1), !end);
    EXPECT_TRUE(length == 1 || log.ContinuesAfter(i, 0));
    for (std::int64_t t = length; t < 3; ++t) EXPECT_EQ(log.rewards(i, t), 0.0);
    terminated += end ? 1 : 0;
  }
  EXPECT_GT(terminated, 20);
  EXPECT_LT(terminated, 180);
}

TEST_F(TabularTest, AnyNumberOfThreadsGivesTheSameLog) {
  SetThreads(1);
  const TabularLog one = SampleLog(system_, policy_, 300, 6, Stream(1, "log"));
  SetThreads(2);
  const TabularLog two = SampleLog(system_, policy_, 300, 6, Stream(1, "log"));
  SetThreads(0);
  EXPECT_EQ(one.states, two.states);
  EXPECT_EQ(one.actions, two.actions);
  EXPECT_EQ(one.rewards, two.rewards);
  EXPECT_EQ(one.lengths, two.lengths);
}

TEST_F(TabularTest, ErrorsNameTheFieldAndItsRow) {
  const auto message = [this](const auto& spoil) {
    TabularSystem system = system_;
    spoil(system);
    try {
      Validate(system);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message([](TabularSystem& s) { s.transitions(2, 1, 0) += 0.25; }),
              HasSubstr("transitions[2, 1] sums to 1.25"));
  EXPECT_THAT(message([](TabularSystem& s) { s.transitions(2, 1, 0) = -0.5; }),
              HasSubstr("transitions[2, 1] has the probability -0.5"));
  EXPECT_THAT(message([](TabularSystem& s) { s.initial[0] += 0.5; }), HasSubstr("initial sums to"));
  EXPECT_THAT(message([](TabularSystem& s) { s.terminal[0] = 1; }),
              HasSubstr("although the state is terminal"));
  EXPECT_THAT(message([](TabularSystem& s) { s.observations[3] = -1; }),
              HasSubstr("observations[3] is -1"));
  EXPECT_THAT(message([](TabularSystem& s) { s.terminal.pop_back(); }),
              HasSubstr("terminal has 4 values"));
  EXPECT_THAT(message([](TabularSystem& s) { s.rewards(1, 2, 3) = std::nan(""); }),
              HasSubstr("rewards[1, 2] holds nan"));
  EXPECT_THAT(message([](TabularSystem& s) {
                s.rewards = Array<double, 3>({1, 1, 1});
              }),
              HasSubstr("rewards has shape [1, 1, 1], expected [5, 3, 5]"));
  // a terminal state's rows are not read
  EXPECT_EQ(message([](TabularSystem& s) { s.transitions(4, 0, 0) = 7.0; }), "accepted");
}

TEST_F(TabularTest, APolicyMustFitTheObservations) {
  policy_(2, 0) += 0.5;
  EXPECT_THAT([&] { Validate(system_, policy_); },
              ThrowsMessage<ConfigError>(HasSubstr("policy[2] sums to 1.5")));
  EXPECT_THAT(
      [&] {
        Validate(system_, TabularPolicy({5, 3}));
      },
      ThrowsMessage<ConfigError>(HasSubstr("shape [5, 3], expected [4, 3]")));
}

}  // namespace
}  // namespace lfiw::envs
