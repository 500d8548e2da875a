#include "ope/estimators/direct_method.h"

#include <gtest/gtest.h>

namespace lfiw::ope {
namespace {

EstimatorInputs Inputs() {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 2});
  in.lengths = {2, 2};
  in.terminated = {0, 0};
  in.values["fqe"] = {Array<double, 2>({2, 2}), Array<double, 2>({2, 3}), {}};
  in.values["fqe"].v(0, 0) = 1.0;
  in.values["fqe"].v(1, 0) = 4.0;
  return in;
}

TEST(DirectMethod, IsTheMeanValueOfFirstStates) {
  const Estimator estimator = DirectMethod("fqe", "fqe", "fitted Q evaluation");
  const Estimate estimate = RunEstimator(estimator, Inputs(), {});
  EXPECT_DOUBLE_EQ(*estimate.value, 2.5);
  EXPECT_DOUBLE_EQ(*estimate.standard_error, 1.5);
  EXPECT_FALSE(estimate.ess);
}

TEST(DirectMethod, NormalizesAsTheEstimandSays) {
  Estimand estimand;
  estimand.discount = 0.5;
  estimand.scale = ValueScale::kNormalized;
  const Estimator estimator = DirectMethod("fqe", "fqe", "fitted Q evaluation");
  EXPECT_DOUBLE_EQ(*RunEstimator(estimator, Inputs(), estimand).value, 1.25);
  estimand.horizon = 2;
  EXPECT_DOUBLE_EQ(*RunEstimator(estimator, Inputs(), estimand).value, 2.5 / 1.5);
}

TEST(DirectMethod, RefusesValuesThatWereNotFitted) {
  EXPECT_EQ(RunEstimator(DirectMethod("mql", "mql", ""), Inputs(), {}).reason,
            "mql was not fitted");
}

}  // namespace
}  // namespace lfiw::ope
