#include "experiments/image_gof/resampling_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

TEST(ConditionLines, SayWhatHoldsAndByHowMuch) {
  const std::vector<double> data = {0.4, 0.6}, model = {-0.1, 0.1};
  const auto lines = ConditionLines(CheckResampling(data, model), EstimateLogPartition(model));
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], HasSubstr("holds, margin 0.50 ± 0.14 nats"));
  EXPECT_THAT(lines[3], HasSubstr("log Z of the resampled model: 0.005 ± 0.100 nats"));
}

TEST(ConditionLines, SayWhyAConditionIsNotKnown) {
  const std::vector<double> zero = {0.0, -std::numeric_limits<double>::infinity()};
  const std::vector<double> model = {0.0, 0.0};
  const ResamplingConditions conditions = CheckResampling(zero, model);
  EXPECT_THAT(ConditionLines(conditions, EstimateLogPartition(model))[0],
              HasSubstr("not known, a real"));
  const auto json = ConditionsJson(conditions, EstimateLogPartition(model));
  EXPECT_TRUE(json["divergence"]["margin"].is_null());
  EXPECT_EQ(json["log_partition"], 0.0);
}

}  // namespace
}  // namespace lfiw::experiments
