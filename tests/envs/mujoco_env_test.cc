#include "envs/mujoco_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/error.h"
#include "envs/mujoco_shared.h"
#include "tests/envs/reference.h"

namespace lfiw::envs {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

using Vector = std::vector<double>;

// An environment with buffers of the right sizes.
struct Fixture {
  explicit Fixture(const MujocoTask& task)
      : env(LoadMujocoTask(task)),
        observation(static_cast<std::size_t>(env.spec().obs_dim)),
        aux(static_cast<std::size_t>(env.spec().aux_dim())) {}
  StepResult Step(const Vector& action) { return env.Step(action, observation, aux); }
  Vector Action(double value) const {
    return Vector(static_cast<std::size_t>(env.spec().action_dim), value);
  }

  MujocoEnv env;
  Vector observation;
  Vector aux;
};

void ExpectNear(const Vector& seen, const Vector& expected, double tolerance,
                const std::string& place) {
  ASSERT_EQ(seen.size(), expected.size()) << place;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_NEAR(seen[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << place << ", entry " << i;
  }
}

class MujocoTaskEnv : public testing::TestWithParam<MujocoTask> {};

TEST_P(MujocoTaskEnv, RepeatsTheRecordedEpisode) {
  const nlohmann::json reference = ReadReference(ReferenceName(GetParam()) + ".json");
  Fixture f(GetParam());
  ASSERT_EQ(GetParam().frame_skip, reference["frame_skip"]);
  f.env.ResetTo(reference["qpos0"].get<Vector>(), reference["qvel0"].get<Vector>(), f.observation);
  ExpectNear(f.observation, reference["obs0"], 1e-12, "first observation");
  const nlohmann::json& steps = reference["steps"];
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const StepResult result = f.Step(steps[t]["action"]);
    const double tolerance = t < 10 ? 1e-9 : 1e-6;
    const std::string place = "step " + std::to_string(t);
    ExpectNear(f.observation, steps[t]["obs"], tolerance, place);
    ExpectNear({result.reward}, {steps[t]["reward"].get<double>()}, tolerance, place + ", reward");
    ASSERT_EQ(result.terminated, steps[t]["terminated"].get<bool>()) << place;
  }
}

TEST_P(MujocoTaskEnv, RepeatsAnEpisodeFromEqualStreams) {
  Fixture a(GetParam());
  Fixture b(GetParam());
  b.env.Reset(*std::make_unique<Stream>(7, "other"), b.observation);
  b.Step(b.Action(0.3));
  for (Fixture* f : {&a, &b}) {
    Stream stream(1, "episode", {3});
    f->env.Reset(stream, f->observation);
    for (int t = 0; t < 5; ++t) f->Step(f->Action(0.1 * t));
  }
  EXPECT_EQ(a.observation, b.observation);
}

TEST_P(MujocoTaskEnv, ClipsActionsBeforePhysicsAndCost) {
  Fixture wild(GetParam());
  Fixture bounded(GetParam());
  Stream stream(1, "clip");
  Stream copy = stream;
  wild.env.Reset(stream, wild.observation);
  bounded.env.Reset(copy, bounded.observation);
  const double high = bounded.env.spec().action_high(0);
  for (int t = 0; t < 3; ++t) {
    EXPECT_EQ(wild.Step(wild.Action(50.0)).reward, bounded.Step(bounded.Action(high)).reward);
    EXPECT_EQ(wild.observation, bounded.observation);
  }
}

TEST_P(MujocoTaskEnv, ThrowsWhenTheStateIsHugeAndRecoversAfterReset) {
  Fixture f(GetParam());
  const auto model = LoadMujocoTask(GetParam())->model;
  const Vector positions(model->qpos0, model->qpos0 + model->nq);
  Vector velocities(static_cast<std::size_t>(model->nv));
  velocities[1] = 1e11;
  f.env.ResetTo(positions, velocities, f.observation);
  EXPECT_THAT([&] { f.Step(f.Action(0.0)); },
              ThrowsMessage<NumericError>(
                  AllOf(HasSubstr(std::string(GetParam().name)), HasSubstr("velocity 1"))));
  velocities[1] = 0.0;
  f.env.ResetTo(positions, velocities, f.observation);
  EXPECT_NO_THROW(f.Step(f.Action(0.0)));
}

TEST_P(MujocoTaskEnv, RefusesAnActionThatIsNotANumber) {
  Fixture f(GetParam());
  Stream stream(1, "nan");
  f.env.Reset(stream, f.observation);
  Vector action = f.Action(0.0);
  action[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { f.Step(action); }, ThrowsMessage<NumericError>(HasSubstr("action 1 is nan")));
}

TEST_P(MujocoTaskEnv, ResetNoiseHasTheRightRangeAndSpread) {
  Fixture f(GetParam());
  const auto shared = LoadMujocoTask(GetParam());
  const double noise = GetParam().reset_noise;
  const bool normal = GetParam().velocity_noise == VelocityNoise::kNormal;
  const auto first_velocity = static_cast<std::size_t>(shared->positions());
  double sum = 0.0;
  double squares = 0.0;
  constexpr int kResets = 4000;
  for (int i = 0; i < kResets; ++i) {
    Stream stream(1, "noise", {static_cast<std::uint64_t>(i)});
    f.env.Reset(stream, f.observation);
    const double height_noise =
        f.observation[0] - shared->model->qpos0[GetParam().hidden_positions];
    ASSERT_LE(std::abs(height_noise), noise);
    const double v = f.observation[first_velocity];
    ASSERT_TRUE(normal || std::abs(v) <= noise);
    sum += v / noise;
    squares += v / noise * v / noise;
  }
  // standard errors of the mean and of the mean square, four of each
  const double variance = normal ? 1.0 : 1.0 / 3.0;
  const double fourth_moment = normal ? 3.0 : 0.2;
  EXPECT_NEAR(sum / kResets, 0.0, 4.0 * std::sqrt(variance / kResets));
  EXPECT_NEAR(squares / kResets, variance,
              4.0 * std::sqrt((fourth_moment - variance * variance) / kResets));
}

INSTANTIATE_TEST_SUITE_P(All, MujocoTaskEnv,
                         testing::ValuesIn(MujocoTasks().begin(), MujocoTasks().end()),
                         [](const auto& task) { return std::string(task.param.name); });

TEST(MujocoEnv, ObservesTheKnownNumberOfDimensions) {
  const std::vector<std::array<std::int64_t, 3>> expected = {{8, 2, 1},  {17, 6, 1}, {376, 17, 0},
                                                             {11, 3, 1}, {17, 6, 1}, {27, 8, 1}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const EnvSpec spec = LoadMujocoTask(MujocoTasks()[i])->spec;
    EXPECT_EQ((std::array{spec.obs_dim, spec.action_dim, spec.aux_dim()}), expected[i])
        << spec.name;
  }
}

TEST(MujocoEnv, ObservesClippedVelocitiesButMovesByTheTrueOnes) {
  Fixture f(FindTask("Hopper"));
  f.env.ResetTo(Vector{0, 1.25, 0, 0, 0, 0}, Vector{20, 0, 0, 0, 0, 0}, f.observation);
  EXPECT_EQ(f.observation[5], 10.0);
  f.Step(f.Action(0.0));
  EXPECT_GT(f.aux[0], 15.0);
}

}  // namespace
}  // namespace lfiw::envs
