#include "policies/mean_policy.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/error.h"
#include "tests/policies/fake_policy.h"

namespace lfiw::policies {
namespace {

TEST(MeanPolicyTest, SamplesTheMeanWithoutNoiseAndHasNoDensity) {
  const MeanPolicy policy(std::make_unique<ProportionalPolicy>(2.0f));
  const MatrixF observations{{1.0f, 3.0f, 0.0f}};
  MatrixF actions(1, 2);
  policy.Sample(observations, std::vector<std::int64_t>{0}, MatrixF(1, 0), actions);
  EXPECT_EQ(actions, (MatrixF{{4.0f, 0.0f}}));
  EXPECT_EQ(policy.noise_dim(), 0);
  EXPECT_FALSE(policy.has_density());
  EXPECT_EQ(policy.Description(), "mean action of proportional");
  std::vector<double> density(1);
  EXPECT_THROW(policy.LogDensity(observations, std::vector<std::int64_t>{0}, actions, VectorD(2),
                                 VectorD(2), density),
               PolicyError);
}

}  // namespace
}  // namespace lfiw::policies
