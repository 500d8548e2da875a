#include "experiments/cli/check_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/policies/fake_policy.h"

namespace lfiw::experiments {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

PolicyReport MakeReport(const Policy& policy) {
  PolicyReport report{.policy = policy,
                      .policy_path = "a.npz",
                      .data_path = "log.npz",
                      .bounds = {VectorD{{-1.0, -kInfinity}}, VectorD{{1.0, kInfinity}}},
                      .bounds_from = "the log",
                      .check = {},
                      .actions_per_second = 12345.6};
  report.check.steps = 200;
  report.check.dimensions = {{-1.0, 1.0, -0.5, 0.5, 0.125, 0.25, 0.0},
                             {-3.0, 2.0, 0.0, 0.0, 1.5, 0.0, 0.0}};
  return report;
}

TEST(CheckPolicyTest, TextNamesContractActionsAndWhyThereIsNoDensity) {
  const ProportionalPolicy policy;
  EXPECT_THAT(PolicyReportText(MakeReport(policy)),
              AllOf(HasSubstr("3 observations -> 2 actions, stochastic, continuous actions"),
                    HasSubstr("without a density"), HasSubstr("200 steps"), HasSubstr("25.0 %"),
                    HasSubstr("none: the policy is deterministic"), HasSubstr("12,346 actions/s"),
                    Not(HasSubstr("nan"))));
}

TEST(CheckPolicyTest, JsonHoldsWhatTheTextSays) {
  const ProportionalPolicy policy;
  PolicyReport report = MakeReport(policy);
  report.check.density = DensityCheck{-2.5, -7.0, 0.5};
  report.check.stored = StoredDensityCheck{100, 0.125, 0.5};
  const auto json = PolicyReportJson(report);
  EXPECT_EQ(json["obs_dim"], 3);
  EXPECT_EQ(json["actions"][0]["logged_share_at_bounds"], 0.25);
  EXPECT_TRUE(json["actions"][1]["bounds"][0].is_null());
  EXPECT_EQ(json["log_density"]["lowest"], -7.0);
  EXPECT_EQ(json["stored_log_density"]["max_absolute_error"], 0.5);
}

TEST(CheckPolicyTest, APolicyThatCannotActLikeTheLogIsSaidSo) {
  const ProportionalPolicy policy;
  PolicyReport report = MakeReport(policy);
  report.check.density = DensityCheck{0.0, kInfinity, 1.0};
  EXPECT_THAT(PolicyReportText(report),
              AllOf(HasSubstr("cannot take any"), Not(HasSubstr("inf at"))));
  EXPECT_TRUE(PolicyReportJson(report)["log_density"]["lowest"].is_null());
}

}  // namespace
}  // namespace lfiw::experiments
