#include "core/logs/step_fields.h"

#include <gtest/gtest.h>

namespace lfiw::core {
namespace {

TEST(StepFields, NamesOfSeveralToolsMeanTheSameInAnyCase) {
  EXPECT_EQ(FieldOf("Reward"), StepField::kReward);
  EXPECT_EQ(FieldOf("terminations"), StepField::kTerminated);
  EXPECT_EQ(FieldOf("timeouts"), StepField::kTruncated);
  EXPECT_EQ(FieldOf("pscore"), StepField::kProbability);
  EXPECT_EQ(FieldOf("logp"), StepField::kLogDensity);
  EXPECT_EQ(FieldOf("done"), StepField::kDone);
  EXPECT_EQ(FieldOf("weather"), StepField::kUnknown);
  EXPECT_EQ(FieldOf(""), StepField::kUnknown);
}

}  // namespace
}  // namespace lfiw::core
