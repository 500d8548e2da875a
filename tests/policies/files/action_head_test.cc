#include "policies/files/action_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "core/rng.h"
#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::array<double, 2> kLow = {-1.0, -1.0}, kHigh = {1.0, 1.0};

ActionHead Head(OutputKind kind, Squash squash) {
  ActionHead head;
  head.kind = kind;
  head.action_dim = 2;
  head.squash = squash;
  head.low = VectorF{{-1.0f, -2.0f}};
  head.high = VectorF{{1.0f, 4.0f}};
  head.log_std = VectorF{{-0.5f, 0.25f}};
  return head;
}

std::array<float, 2> Draw(const ActionHead& head, const std::vector<float>& outputs,
                          const std::vector<float>& noise) {
  std::array<float, 2> action;
  head.Draw(outputs.data(), noise.data(), action.data());
  return action;
}

TEST(ActionHeadTest, GaussianDrawsAreMeanPlusDeviationTimesNoise) {
  const auto fixed = Draw(Head(OutputKind::kMean, Squash::kNone), {0.5f, -1.0f}, {2.0f, -1.0f});
  EXPECT_FLOAT_EQ(fixed[0], static_cast<float>(0.5 + 2.0 * std::exp(-0.5)));
  EXPECT_FLOAT_EQ(fixed[1], static_cast<float>(-1.0 - std::exp(0.25)));
  // predicted deviations, one above the clamp at 2
  const auto predicted =
      Draw(Head(OutputKind::kMeanLogStd, Squash::kNone), {0.5f, -1.0f, -1.0f, 7.0f}, {1.0f, 1.0f});
  EXPECT_FLOAT_EQ(predicted[0], static_cast<float>(0.5 + std::exp(-1.0)));
  EXPECT_FLOAT_EQ(predicted[1], static_cast<float>(-1.0 + std::exp(2.0)));
}

TEST(ActionHeadTest, SquashedAndClippedDrawsStayWithinTheHeadsBounds) {
  const auto tanh = Draw(Head(OutputKind::kMean, Squash::kTanh), {0.5f, 99.0f}, {0.0f, 0.0f});
  EXPECT_FLOAT_EQ(tanh[0], std::tanh(0.5f));
  EXPECT_EQ(tanh[1], 4.0f);
  const auto clip = Draw(Head(OutputKind::kMean, Squash::kClip), {0.5f, -99.0f}, {0.0f, 0.0f});
  EXPECT_THAT(clip, ElementsAre(0.5f, -2.0f));
}

TEST(ActionHeadTest, AnActionNeedsNoNoiseAndHasNoDensity) {
  const ActionHead head = Head(OutputKind::kAction, Squash::kNone);
  EXPECT_EQ(head.noise_dim(), 0);
  EXPECT_FALSE(head.has_density());
  EXPECT_THAT(Draw(head, {0.25f, 3.0f}, {}), ElementsAre(0.25f, 3.0f));
}

TEST(ActionHeadTest, DensityOfASquashedActionIncludesTheScaleOfItsBounds) {
  const ActionHead head = Head(OutputKind::kMean, Squash::kTanh);
  const std::vector<float> outputs = {0.3f, -0.2f}, action = {0.6f, 0.5f};
  const std::array<double, 2> low = {-9.0, -9.0}, high = {9.0, 9.0};
  // the second dimension maps [-1, 1] to [-2, 4]
  const double expected =
      LogSquashedDensity(0.6f, {0.3f, std::exp(-0.5)}, -kInfinity, kInfinity) +
      LogSquashedDensity(-1.0 / 6.0, {-0.2f, std::exp(0.25)}, -kInfinity, kInfinity) -
      std::log(3.0);
  EXPECT_NEAR(head.LogDensity(outputs.data(), action.data(), low.data(), high.data()), expected,
              1e-9);
}

TEST(ActionHeadTest, IdenticalSquashedPoliciesHaveRatioOneAtTheEndsOfTheRange) {
  const ActionHead a = Head(OutputKind::kMeanLogStd, Squash::kTanh), b = a;
  const std::vector<float> outputs = {0.3f, -25.0f, -0.7f, -4.0f};
  const std::array<double, 2> low = {-1.0, -2.0}, high = {1.0, 4.0};
  for (const float end : {-1.0f, 1.0f}) {
    const std::vector<float> action = {end, end > 0.0f ? 4.0f : -2.0f};
    const double pa = a.LogDensity(outputs.data(), action.data(), low.data(), high.data());
    const double pb = b.LogDensity(outputs.data(), action.data(), low.data(), high.data());
    EXPECT_TRUE(std::isfinite(pa));
    EXPECT_EQ(std::exp(pa - pb), 1.0);
  }
}

TEST(ActionHeadTest, ClippedDensityIsCensoredByPolicyAndEnvironment) {
  const ActionHead head = Head(OutputKind::kMean, Squash::kClip);
  const std::vector<float> outputs = {0.0f, 0.0f};
  const double s0 = std::exp(-0.5), s1 = std::exp(0.25);
  // the environment's bound of the second action lies within the policy's
  const std::vector<float> action = {-1.0f, 1.0f};
  EXPECT_NEAR(head.LogDensity(outputs.data(), action.data(), kLow.data(), kHigh.data()),
              LogNormalCdf(-1.0 / s0) + LogNormalCdf(-1.0 / s1), 1e-7);
  const std::vector<float> impossible = {1.5f, 0.0f};
  const std::array<double, 2> wide = {9.0, 9.0};
  EXPECT_EQ(head.LogDensity(outputs.data(), impossible.data(), kLow.data(), wide.data()),
            -kInfinity);
}

TEST(ActionHeadTest, CategoricalDrawsHaveTheProbabilitiesOfTheLogits) {
  ActionHead head;
  head.kind = OutputKind::kLogits;
  head.action_dim = 3;
  EXPECT_EQ(head.noise_dim(), 1);
  const std::vector<float> logits = {1.0f, 1.0f + std::log(2.0f), 1.0f + std::log(5.0f)};
  constexpr int kDraws = 100'000;
  std::vector<float> noise(kDraws);
  Stream(3, "noise").FillNormal(std::span<float>(noise));
  std::array<double, 3> counts = {};
  for (const float z : noise) {
    std::array<float, 3> action;
    head.Draw(logits.data(), &z, action.data());
    EXPECT_EQ(action[0] + action[1] + action[2], 1.0f);
    for (std::size_t k = 0; k < 3; ++k) counts[k] += static_cast<double>(action[k]);
  }
  // four standard errors of a share are below 0.0064
  EXPECT_NEAR(counts[0] / kDraws, 1.0 / 8, 0.0064);
  EXPECT_NEAR(counts[1] / kDraws, 2.0 / 8, 0.0064);
  EXPECT_NEAR(counts[2] / kDraws, 5.0 / 8, 0.0064);
}

TEST(ActionHeadTest, CategoricalLogProbabilityIsTheLogSoftmax) {
  ActionHead head;
  head.kind = OutputKind::kLogits;
  head.action_dim = 3;
  const std::vector<float> logits = {-1000.0f, 0.0f, 1000.0f};
  const auto log_probability = [&](const std::vector<float>& action) {
    return head.LogDensity(logits.data(), action.data(), nullptr, nullptr);
  };
  EXPECT_EQ(log_probability({0.0f, 0.0f, 1.0f}), 0.0);
  EXPECT_EQ(log_probability({1.0f, 0.0f, 0.0f}), -2000.0);
  EXPECT_THAT(
      [&] {
        log_probability({0.5f, 0.0f, 0.5f});
      },
      ThrowsMessage<PolicyError>(HasSubstr("a single 1")));
  std::array<float, 3> likeliest;
  head.Mean(logits.data(), likeliest.data());
  EXPECT_THAT(likeliest, ElementsAre(0.0f, 0.0f, 1.0f));
}

TEST(ActionHeadTest, LogitsOfMinusInfinityForbidActionsButNotAllOfThem) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  ActionHead head;
  head.kind = OutputKind::kLogits;
  head.action_dim = 3;
  const float masked[] = {-kInfinite, 0.5f, -kInfinite};
  EXPECT_EQ(head.FaultOf(masked), "");
  for (const float noise : {-9.0f, 0.0f, 9.0f}) {
    float action[3];
    head.Draw(masked, &noise, action);
    EXPECT_EQ(action[1], 1.0f);
  }
  const float none[] = {-kInfinite, -kInfinite, -kInfinite};
  EXPECT_THAT(head.FaultOf(none), testing::HasSubstr("every action"));
  const float sure[] = {kInfinite, 0.0f, 0.0f};
  EXPECT_THAT(head.FaultOf(sure), testing::HasSubstr("+infinity"));
  const float nan[] = {0.0f, std::numeric_limits<float>::quiet_NaN(), 0.0f};
  EXPECT_THAT(head.FaultOf(nan), testing::HasSubstr("NaN"));
}

TEST(ActionHeadTest, MeansMustBeFiniteAndDeviationsNumbers) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  ActionHead head;
  head.kind = OutputKind::kMeanLogStd;
  head.action_dim = 1;
  const float sharp[] = {1.0f, -kInfinite};  // clamped
  EXPECT_EQ(head.FaultOf(sharp), "");
  const float far[] = {kInfinite, 0.0f};
  EXPECT_THAT(head.FaultOf(far), testing::HasSubstr("not finite"));
  const float nan[] = {0.0f, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(head.FaultOf(nan), testing::HasSubstr("NaN"));
}

}  // namespace
}  // namespace lfiw::policies
