#include "core/logs/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/logs/log_samples.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(ValidateLog, FlagsAreZeroOrOne) {
  EpisodeBatch log = SampleLog({2, 1});
  EXPECT_NO_THROW(ValidateLog(log, {}, "x"));
  log.terminated[1] = 7;
  EXPECT_THAT([&] { ValidateLog(log, {}, "x"); },
              ThrowsMessage<DataError>("x: terminated[1] is 7, expected 0 or 1"));
}

TEST(ValidateLog, RoundingMayLiftAProbabilityOfADiscreteActionABitAboveOne) {
  EpisodeBatch log = SampleLog({2});
  log.behavior_log_density = {-1.0, 5e-5};
  EXPECT_NO_THROW(ValidateLog(log, {.discrete_actions = 2}, "x"));
  log.behavior_log_density = {-1.0, 2e-4};
  EXPECT_THAT([&] { ValidateLog(log, {.discrete_actions = 2}, "x"); },
              ThrowsMessage<DataError>(HasSubstr("episode 0, step 1")));
  // a density of a continuous action has no upper bound
  EXPECT_NO_THROW(ValidateLog(log, {}, "x"));
}

TEST(ValidateSizes, FiniteNumbersThatNoFitFollowAreNamedWithACure) {
  const EpisodeBatch good = SampleLog({3, 2});
  EXPECT_NO_THROW(ValidateSizes(good, "x"));
  const auto message_of = [&](const auto& spoil) -> std::string {
    EpisodeBatch log = good;
    spoil(log);
    EXPECT_NO_THROW(ValidateLog(log, {}, "x"));  // it can be converted and inspected
    try {
      ValidateSizes(log, "x");
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message_of([](EpisodeBatch& log) { log.actions(4, 0) = 1e25f; }),
              HasSubstr("x: episode 1, step 1: action[0] is 1e+25, and fits follow numbers of up "
                        "to 1e+08: repair it or drop the episode"));
  EXPECT_THAT(message_of([](EpisodeBatch& log) { log.observations.bottomRows(1)(0, 0) = -1e37f; }),
              HasSubstr("x: episode 1, step 2: observation[0] is -1e+37"));
  EXPECT_THAT(message_of([](EpisodeBatch& log) { log.rewards[2] = 1e300; }),
              AllOf(HasSubstr("x: episode 0, step 2: the reward is 1e+300"),
                    HasSubstr("values are then in that unit")));
  EXPECT_EQ(message_of([](EpisodeBatch& log) {
              log.actions *= 1e6f;
              log.observations *= 1e12f;
              log.rewards[0] = -1e25;
            }),
            "");
}

}  // namespace
}  // namespace lfiw::core
