#include "core/logs/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "tests/core/logs/log_samples.h"

namespace lfiw::core {
namespace {

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

}  // namespace
}  // namespace lfiw::core
