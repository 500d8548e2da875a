#include "envs/mujoco_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "envs/env_registry.h"
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

class FirstTaskEnv : public testing::TestWithParam<MujocoTask> {};

TEST_P(FirstTaskEnv, RepeatsTheRecordedEpisode) {
  if (const std::string reason = NotComparable(ReferenceName(GetParam()), kOtherEpisodes);
      !reason.empty())
    GTEST_SKIP() << reason;
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

INSTANTIATE_TEST_SUITE_P(All, FirstTaskEnv, testing::ValuesIn(FirstTasks()),
                         [](const auto& task) { return TestName(task.param); });

// The name of an environment with the arguments that a recording was made with.
std::string NameWithArguments(const nlohmann::json& reference) {
  std::string name = reference["env"];
  for (const auto& [argument, value] : reference["arguments"].items()) {
    name += ":" + argument + "=" + value.dump();
  }
  return name;
}

class GymnasiumEnv : public testing::TestWithParam<std::string> {};

TEST_P(GymnasiumEnv, GivesTheSameObservationsRewardsAndEnds) {
  if (const std::string reason = NotComparable(GetParam(), kOtherEpisodes); !reason.empty())
    GTEST_SKIP() << reason;
  const nlohmann::json reference = ReadReference("gymnasium/" + GetParam() + ".json");
  const auto factory = FindEnv(NameWithArguments(reference));
  const auto made = factory->Make();
  auto& env = dynamic_cast<MujocoEnv&>(*made);
  const EnvSpec& spec = factory->spec();
  EXPECT_NEAR(spec.step_seconds,
              reference["timestep"].get<double>() * reference["frame_skip"].get<double>(), 1e-12);
  Vector observation(reference["obs0"].size()), aux(static_cast<std::size_t>(spec.aux_dim()));
  ASSERT_EQ(spec.obs_dim, std::ssize(observation));
  env.ResetTo(reference["qpos0"].get<Vector>(), reference["qvel0"].get<Vector>(), observation);
  // numbers are recorded with 13 digits
  ExpectNear(observation, reference["obs0"], 1e-11, "first observation");
  const nlohmann::json& steps = reference["steps"];
  for (std::size_t t = 0; t < steps.size(); ++t) {
    const Vector action = steps[t]["action"];
    const StepResult result = env.Step(action, observation, aux);
    const double tolerance = t < 10 ? 1e-9 : 1e-6;
    const std::string place = "step " + std::to_string(t);
    ExpectNear(observation, steps[t]["obs"], tolerance, place);
    ExpectNear({result.reward}, {steps[t]["reward"].get<double>()}, tolerance, place + ", reward");
    ASSERT_EQ(result.terminated, steps[t]["terminated"].get<bool>()) << place;
  }
}

std::vector<std::string> Recordings() {
  std::vector<std::string> names;
  const std::filesystem::path folder = SourceFile("tests/envs/data/gymnasium");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".model.json")) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, GymnasiumEnv, testing::ValuesIn(Recordings()),
                         [](const auto& test) { return test.param; });

TEST(GymnasiumEnv, EveryVersionIsRecorded) {
  const std::vector<std::string> names = Recordings();
  for (const MujocoTask& task : MujocoTasks()) {
    const std::string full = FullName(task);
    const std::string version = full == task.name ? "_v4" : "_" + full.substr(full.size() - 2);
    EXPECT_THAT(names, testing::Contains(ReferenceName(task) + version));
  }
}

class MujocoTaskEnv : public testing::TestWithParam<MujocoTask> {};

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
  action.back() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT([&] { f.Step(action); },
              ThrowsMessage<NumericError>(
                  HasSubstr("action " + std::to_string(action.size() - 1) + " is nan")));
}

TEST_P(MujocoTaskEnv, ResetNoiseHasTheRightRangeAndSpread) {
  if (GetParam().reset != Reset::kNoise) return;  // tested below
  Fixture f(GetParam());
  const auto shared = LoadMujocoTask(GetParam());
  const double noise = GetParam().reset_noise;
  const bool normal = GetParam().velocity_noise == VelocityNoise::kNormal;
  const bool balances = GetParam().observation == Observation::kDoublePendulum;
  const auto first_velocity = static_cast<std::size_t>(balances ? 5 : shared->positions());
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
                         [](const auto& task) { return TestName(task.param); });

TEST(MujocoEnv, DrawsReachersTargetUniformlyFromADisc) {
  Fixture f(FindTask("Reacher"));
  double squares = 0.0;
  constexpr int kResets = 4000;
  for (int i = 0; i < kResets; ++i) {
    Stream stream(1, "target", {static_cast<std::uint64_t>(i)});
    f.env.Reset(stream, f.observation);
    const double radius = std::hypot(f.observation[4], f.observation[5]);
    ASSERT_LT(radius, 0.2);
    squares += radius * radius / 0.04;
    ASSERT_LE(std::abs(std::atan2(f.observation[2], f.observation[0])), 0.1);
    ASSERT_LE(std::abs(f.observation[6]), 0.005);
  }
  // of a uniform number: four standard errors of its mean
  EXPECT_NEAR(squares / kResets, 0.5, 4.0 * std::sqrt(1.0 / 12.0 / kResets));
}

TEST(MujocoEnv, DrawsPushersObjectAwayFromItsGoal) {
  Fixture f(FindTask("Pusher-v5"));
  double nearest = 1.0;
  double sum = 0.0;
  constexpr int kResets = 4000;
  for (int i = 0; i < kResets; ++i) {
    Stream stream(1, "object", {static_cast<std::uint64_t>(i)});
    f.env.Reset(stream, f.observation);
    const double x = f.observation[18] - f.observation[21];
    const double y = f.observation[17] - f.observation[20];
    nearest = std::min(nearest, std::hypot(x, y));
    ASSERT_TRUE(-0.3 <= x && x <= 0.0 && std::abs(y) <= 0.2) << x << " " << y;
    sum += y;
    for (std::size_t j = 0; j < 7; ++j) ASSERT_EQ(f.observation[j], 0.0);
    ASSERT_LE(std::abs(f.observation[7]), 0.005);
  }
  EXPECT_GT(nearest, 0.17);
  EXPECT_LT(nearest, 0.175);
  EXPECT_NEAR(sum / kResets, 0.0, 4.0 * 0.2 / std::sqrt(1.0 * kResets));
}

TEST(MujocoEnv, ObservesTheKnownNumberOfDimensions) {
  // observations, actions, aux
  const std::map<std::string, std::array<std::int64_t, 3>> expected = {
      {"Swimmer", {8, 2, 1}},
      {"HalfCheetah", {17, 6, 1}},
      {"HumanoidStandup", {376, 17, 0}},
      {"HumanoidStandup-v5", {348, 17, 0}},
      {"Hopper", {11, 3, 1}},
      {"Hopper-v5", {11, 3, 1}},
      {"Walker2d", {17, 6, 1}},
      {"Walker2d-v5", {17, 6, 1}},
      {"Ant", {27, 8, 1}},
      {"Ant-v2", {111, 8, 1}},
      {"Ant-v5", {105, 8, 1}},
      {"Humanoid", {376, 17, 1}},
      {"Humanoid-v5", {348, 17, 1}},
      {"Reacher", {11, 2, 0}},
      {"Reacher-v5", {10, 2, 0}},
      {"Pusher", {23, 7, 0}},
      {"Pusher-v5", {23, 7, 0}},
      {"InvertedPendulum", {4, 1, 0}},
      {"InvertedPendulum-v5", {4, 1, 0}},
      {"InvertedDoublePendulum", {11, 1, 1}},
      {"InvertedDoublePendulum-v5", {9, 1, 1}},
  };
  std::map<std::string, std::array<std::int64_t, 3>> seen;
  for (const MujocoTask& task : MujocoTasks()) {
    const EnvSpec spec = LoadMujocoTask(task)->spec;
    seen[spec.name] = {spec.obs_dim, spec.action_dim, spec.aux_dim()};
  }
  EXPECT_EQ(seen, expected);
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
