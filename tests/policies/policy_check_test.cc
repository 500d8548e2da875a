#include "policies/policy_check.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "policies/files/network_policy.h"
#include "policies/normal_density.h"
#include "tests/policies/fake_policy.h"

namespace lfiw::policies {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The mean is the observation, the deviation 0.5.
NetworkPolicy IdentityGaussian() {
  NetworkPolicyParts parts;
  parts.network = std::make_unique<DenseNetwork>(
      std::vector<DenseLayer>{{MatrixF::Identity(1, 1), VectorF::Zero(1)}}, Activation::kTanh, "");
  parts.head.kind = OutputKind::kMean;
  parts.head.action_dim = 1;
  parts.head.log_std = VectorF{{std::log(0.5f)}};
  return NetworkPolicy(std::move(parts), "");
}

const ActionBounds kBounds = {VectorD{{-1.0}}, VectorD{{1.0}}};

TEST(PolicyCheckTest, DifferencesRangesAndSharesAreThoseOfTheSteps) {
  const NetworkPolicy policy = IdentityGaussian();
  PolicyChecker checker(policy, kBounds);
  const std::vector<std::int64_t> steps(4);
  const MatrixF observations{{0.0f}, {0.5f}, {3.0f}, {-0.25f}};
  const MatrixF actions{{0.25f}, {1.0f}, {1.0f}, {-1.0f}};
  checker.Add(observations, steps, actions, {});
  const PolicyCheck check = checker.Result();
  const ActionDimensionCheck& d = check.dimensions[0];
  EXPECT_EQ(check.steps, 4);
  EXPECT_EQ(d.log_low, -1.0);
  EXPECT_EQ(d.policy_low, -0.25);
  // the policy's 3 is clipped to 1
  EXPECT_EQ(d.policy_high, 1.0);
  EXPECT_DOUBLE_EQ(d.mean_difference, (0.25 + 0.5 + 0.0 + 0.75) / 4);
  EXPECT_DOUBLE_EQ(d.log_share_at_bounds, 0.75);
  EXPECT_DOUBLE_EQ(d.policy_share_at_bounds, 0.25);
  const double expected = (LogNormalDensity(0.25, 0.0, 0.5) + LogNormalCdf(-1.0) +
                           LogNormalCdf(4.0) + LogNormalCdf(-1.5)) /
                          4;
  EXPECT_NEAR(check.density->mean, expected, 1e-6);
  EXPECT_EQ(check.density->share_not_finite, 0.0);
  EXPECT_FALSE(check.stored.has_value());
}

TEST(PolicyCheckTest, PiecesGiveWhatTheWholeGives) {
  const NetworkPolicy policy = IdentityGaussian();
  const MatrixF observations = MatrixF::Random(1000, 1), actions = MatrixF::Random(1000, 1);
  const std::vector<std::int64_t> steps(1000);
  const std::vector<double> stored(1000, -0.5);
  PolicyChecker whole(policy, kBounds), pieces(policy, kBounds);
  whole.Add(observations, steps, actions, stored);
  for (Eigen::Index i = 0; i < 1000; i += 125) {
    pieces.Add(observations.middleRows(i, 125), std::span(steps).first(125),
               actions.middleRows(i, 125), std::span(stored).first(125));
  }
  const PolicyCheck a = whole.Result(), b = pieces.Result();
  EXPECT_EQ(a.density->mean, b.density->mean);
  EXPECT_EQ(a.stored->max_error, b.stored->max_error);
  EXPECT_EQ(a.dimensions[0].mean_difference, b.dimensions[0].mean_difference);
}

TEST(PolicyCheckTest, StoredDensitiesAreCompared) {
  const NetworkPolicy policy = IdentityGaussian();
  PolicyChecker checker(policy, {VectorD{{-kInfinity}}, VectorD{{kInfinity}}});
  const MatrixF observations = MatrixF::Zero(2, 1);
  const double density = LogNormalDensity(0.0, 0.0, 0.5);
  checker.Add(observations, std::vector<std::int64_t>(2), observations,
              std::vector<double>{density, density + 0.5});
  const PolicyCheck check = checker.Result();
  EXPECT_EQ(check.stored->steps, 2);
  EXPECT_NEAR(check.stored->mean_error, 0.25, 1e-6);
  EXPECT_NEAR(check.stored->max_error, 0.5, 1e-6);
}

TEST(PolicyCheckTest, WithoutADensityOnlyActionsAreCompared) {
  const ProportionalPolicy policy;
  PolicyChecker checker(policy, BoundsOfActions(MatrixF::Zero(1, 2)));
  checker.Add(MatrixF::Zero(3, 3), std::vector<std::int64_t>(3), MatrixF::Ones(3, 2),
              std::vector<double>(3));
  const PolicyCheck check = checker.Result();
  EXPECT_FALSE(check.density.has_value());
  EXPECT_FALSE(check.stored.has_value());
  EXPECT_EQ(check.dimensions[0].mean_difference, 1.0);
}

TEST(PolicyCheckTest, BoundsAreExtremesThatAreReachedRepeatedly) {
  const ActionBounds bounds = BoundsOfActions(MatrixF{{-0.5f, 0.1f, 0.99999994f, 2.0f},
                                                      {0.5f, 0.2f, 0.99999994f, 2.0f},
                                                      {0.5f, 0.3f, -1.0f, 2.0f},
                                                      {0.4f, 0.4f, -1.0f, 2.0f}});
  EXPECT_EQ(bounds.low, (VectorD{{-kInfinity, -kInfinity, -1.0, -kInfinity}}));
  EXPECT_EQ(bounds.high, (VectorD{{0.5, kInfinity, 1.0, kInfinity}}));
}

TEST(PolicyCheckTest, BoundsOfPiecesAreThoseOfTheWhole) {
  const MatrixF actions{{0.5f, -1.0f}, {1.0f, 0.2f}, {1.0f, -1.0f}, {-2.0f, 0.1f}, {-2.0f, 0.0f}};
  const ActionBounds whole = BoundsOfActions(actions);
  for (const Eigen::Index cut : {0, 1, 2, 4, 5}) {
    ActionRange range;
    range.Add(actions.topRows(cut));
    range.Add(actions.bottomRows(5 - cut));
    EXPECT_EQ(range.Bounds().low, whole.low) << cut;
    EXPECT_EQ(range.Bounds().high, whole.high) << cut;
  }
}

TEST(PolicyCheckTest, TheActionRateIsAPositiveNumber) {
  EXPECT_GT(MeasureActionRate(ProportionalPolicy(), MatrixF::Zero(1, 3)), 0.0);
}

}  // namespace
}  // namespace lfiw::policies
