#include "policies/ppo/ppo_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/rng.h"
#include "models/tiled_product.h"

namespace lfiw::policies {
namespace {

constexpr std::int64_t kObsDim = 3, kActionDim = 2, kSteps = 16;

PpoOptions SmallOptions() {
  PpoOptions options;
  options.rollout_steps = kSteps;
  options.minibatches = 2;
  options.hidden = {6, 5};
  options.entropy_coefficient = 0.03;
  options.clip_range = 0.15;
  return options;
}

std::vector<std::int64_t> EvenRows() { return {0, 2, 4, 6, 8, 10, 12, 14}; }

// A rollout whose old densities and values lie on both sides of every clip.
PpoRollout MakeRollout(PpoLearner& learner) {
  PpoRollout rollout(kSteps, kObsDim, kActionDim);
  Stream stream(7, "rollout");
  for (float& x : rollout.observations.reshaped()) x = static_cast<float>(stream.Normal());
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const std::vector<float> noise = {static_cast<float>(stream.Normal()),
                                      static_cast<float>(stream.Normal())};
    const auto step = static_cast<std::size_t>(t);
    rollout.log_density[step] = learner.Act(rollout.observations.row(t).data(), noise.data(),
                                            rollout.actions.row(t).data()) +
                                static_cast<float>(0.3 * stream.Normal());
    rollout.advantages[step] = static_cast<float>(2.0 * stream.Normal());
  }
  learner.Values(rollout.observations, rollout.values);
  for (float& v : rollout.values) v += static_cast<float>(0.3 * stream.Normal());
  return rollout;
}

// The output of a network in double, from a flat buffer in TanhMlp's layout.
std::vector<double> SlowForward(const TanhMlp& mlp, const double* parameters,
                                std::vector<double> h) {
  for (std::size_t l = 0; l < mlp.layers().size(); ++l) {
    const auto& layer = mlp.layers()[l];
    std::vector<double> out;
    for (std::int64_t j = 0; j < layer.outputs; ++j) {
      double sum = parameters[layer.bias_offset + j];
      for (std::int64_t k = 0; k < layer.inputs; ++k) {
        sum += h[std::size_t(k)] * parameters[layer.weight_offset + k * layer.width + j];
      }
      out.push_back(l + 1 < mlp.layers().size() ? std::tanh(sum) : sum);
    }
    h = out;
  }
  return h;
}

struct SlowLosses {
  double policy = 0.0, value = 0.0, entropy = 0.0, approx_kl = 0.0, clip_fraction = 0.0;
  double Total(const PpoOptions& o) const {
    return policy - o.entropy_coefficient * entropy + o.value_coefficient * value;
  }
};

// The loss as written in the header, one sample after the other, in double.
SlowLosses SlowLoss(const PpoLearner& learner, const PpoOptions& o, const VectorD& parameters,
                    const PpoRollout& rollout, const std::vector<std::int64_t>& rows) {
  const std::int64_t actor_size = learner.actor().parameter_count();
  const double* log_std = parameters.data() + actor_size;
  const double* critic = log_std + PadToLane(kActionDim);
  const auto n = static_cast<double>(rows.size());
  double mean = 0.0, variance = 0.0;
  for (const auto r : rows) mean += rollout.advantages[std::size_t(r)] / n;
  for (const auto r : rows) variance += std::pow(rollout.advantages[std::size_t(r)] - mean, 2) / n;

  SlowLosses losses;
  for (const auto r : rows) {
    const auto i = static_cast<std::size_t>(r);
    std::vector<double> observation(kObsDim);
    for (std::int64_t k = 0; k < kObsDim; ++k) {
      observation[std::size_t(k)] = rollout.observations(r, k);
    }
    const std::vector<double> mu = SlowForward(learner.actor(), parameters.data(), observation);
    double log_density = 0.0;
    for (std::int64_t j = 0; j < kActionDim; ++j) {
      const double z = (rollout.actions(r, j) - mu[std::size_t(j)]) / std::exp(log_std[j]);
      log_density += -0.5 * z * z - log_std[j] - 0.5 * std::log(2.0 * std::numbers::pi);
    }
    const double change = log_density - rollout.log_density[i];
    const double ratio = std::exp(change);
    const double clipped = std::clamp(ratio, 1.0 - o.clip_range, 1.0 + o.clip_range);
    const double advantage = (rollout.advantages[i] - mean) / (std::sqrt(variance) + 1e-8);
    losses.policy += std::max(-advantage * ratio, -advantage * clipped) / n;
    losses.approx_kl += 0.5 * change * change / n;
    losses.clip_fraction += ratio != clipped ? 1.0 / n : 0.0;

    const double value = SlowForward(learner.critic(), critic, observation)[0];
    const double old_value = rollout.values[i];
    const double target = rollout.advantages[i] + old_value;
    const double near = old_value + std::clamp(value - old_value, -o.clip_range, o.clip_range);
    losses.value += 0.5 * std::max(std::pow(value - target, 2), std::pow(near - target, 2)) / n;
  }
  for (std::int64_t j = 0; j < kActionDim; ++j) {
    losses.entropy += log_std[j] + 0.5 * std::log(2.0 * std::numbers::pi * std::numbers::e);
  }
  return losses;
}

// A learner that is no longer at its symmetric start.
PpoLearner MakeLearner() {
  PpoLearner learner(kObsDim, kActionDim, SmallOptions(), 1);
  learner.log_std()[0] = -0.4f;
  learner.log_std()[1] = 0.2f;
  return learner;
}

TEST(PpoLearner, LossesEqualTheSlowVersion) {
  PpoLearner learner = MakeLearner();
  const PpoRollout rollout = MakeRollout(learner);
  const PpoLosses losses = learner.ComputeGradient(rollout, EvenRows());
  const SlowLosses expected =
      SlowLoss(learner, SmallOptions(), learner.parameters().cast<double>(), rollout, EvenRows());
  EXPECT_NEAR(losses.policy, expected.policy, 1e-5);
  EXPECT_NEAR(losses.value, expected.value, 1e-5);
  EXPECT_NEAR(losses.entropy, expected.entropy, 1e-5);
  EXPECT_NEAR(losses.approx_kl, expected.approx_kl, 1e-5);
  EXPECT_NEAR(losses.clip_fraction, expected.clip_fraction, 1e-12);
  EXPECT_GT(losses.clip_fraction, 0.0) << "the case must reach the clip";
  EXPECT_LT(losses.clip_fraction, 1.0);
}

TEST(PpoLearner, GradientEqualsFiniteDifferencesOfTheSlowVersion) {
  PpoLearner learner = MakeLearner();
  const PpoRollout rollout = MakeRollout(learner);
  learner.ComputeGradient(rollout, EvenRows());
  const VectorD center = learner.parameters().cast<double>();
  const auto loss = [&](Eigen::Index p, double shift) {
    VectorD moved = center;
    moved[p] += shift;
    return SlowLoss(learner, SmallOptions(), moved, rollout, EvenRows()).Total(SmallOptions());
  };
  for (Eigen::Index p = 0; p < center.size(); ++p) {
    const double expected = (loss(p, 1e-6) - loss(p, -1e-6)) / 2e-6;
    // padding has no effect on the loss, and its gradient must be exactly zero
    const double tolerance = expected == 0.0 ? 0.0 : 2e-5;
    EXPECT_NEAR(learner.gradient()[p], expected, tolerance) << "parameter " << p;
  }
}

TEST(PpoLearner, FirstStepMovesEveryParameterByTheRateAgainstItsGradient) {
  PpoLearner learner = MakeLearner();
  const PpoRollout rollout = MakeRollout(learner);
  learner.ComputeGradient(rollout, EvenRows());
  const VectorF gradient = learner.gradient(), before = learner.parameters();
  learner.Step(1e-2);
  const double scale = std::min(1.0, 0.5 / static_cast<double>(gradient.norm()));
  for (Eigen::Index p = 0; p < gradient.size(); ++p) {
    // m = 0.1 g, v = 0.001 g^2, rate sqrt(0.001) / 0.1
    const double g = scale * static_cast<double>(gradient[p]);
    const double step = 1e-2 * std::sqrt(0.001) * g / (std::sqrt(0.001) * std::abs(g) + 1e-5);
    EXPECT_NEAR(static_cast<double>(learner.parameters()[p] - before[p]), -step, 1e-6);
  }
}

TEST(PpoLearner, GradientLongerThanTheLimitIsScaledToIt) {
  PpoOptions options = SmallOptions();
  options.max_gradient_norm = 1e-3;
  PpoLearner learner(kObsDim, kActionDim, options, 1);
  const PpoRollout rollout = MakeRollout(learner);
  learner.ComputeGradient(rollout, EvenRows());
  learner.Step(1e-3);
  // the first moment is a tenth of the gradient used
  EXPECT_NEAR(learner.state().optimizer.mean.norm(), 1e-4f, 1e-8f);
}

TEST(PpoLearner, ActGivesMeanPlusNoiseAndItsDensity) {
  PpoLearner learner = MakeLearner();
  const std::vector<float> observation = {0.3f, -1.0f, 2.0f}, noise = {0.5f, -1.5f}, zero(2);
  std::vector<float> action(2), mean(2);
  const float density = learner.Act(observation.data(), noise.data(), action.data());
  learner.Act(observation.data(), zero.data(), mean.data());
  EXPECT_NEAR(action[0], mean[0] + std::exp(-0.4f) * 0.5f, 1e-6f);
  EXPECT_NEAR(action[1], mean[1] - std::exp(0.2f) * 1.5f, 1e-6f);
  const double expected = -0.5 * (0.25 + 2.25) - (-0.4 + 0.2) - std::log(2.0 * std::numbers::pi);
  EXPECT_NEAR(density, expected, 1e-5);
}

TEST(PpoLearner, StartsWithSmallMeansAndUnitDeviation) {
  PpoLearner learner(kObsDim, kActionDim, PpoOptions(), 3);
  const std::vector<float> observation = {1.0f, -1.0f, 2.0f}, zero(2);
  std::vector<float> action(2);
  learner.Act(observation.data(), zero.data(), action.data());
  EXPECT_LT(std::abs(action[0]) + std::abs(action[1]), 0.2f);
  EXPECT_EQ(learner.log_std()[0], 0.0f);
}

}  // namespace
}  // namespace lfiw::policies
