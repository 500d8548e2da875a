#include "envs/vector_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/array.h"
#include "core/error.h"
#include "core/parallel.h"

namespace lfiw {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Stream> Streams(std::int64_t slots) {
  std::vector<Stream> streams;
  for (std::int64_t i = 0; i < slots; ++i) {
    streams.emplace_back(11, "episode", std::initializer_list{static_cast<std::uint64_t>(i)});
  }
  return streams;
}

// What a rollout of a few steps writes.
struct Rollout {
  Rollout(const EnvSpec& spec, std::int64_t slots)
      : observations(slots, spec.obs_dim),
        aux(slots, spec.aux_dim()),
        actions(slots, spec.action_dim),
        rewards(static_cast<std::size_t>(slots)),
        terminated(static_cast<std::size_t>(slots)) {
    for (Eigen::Index i = 0; i < slots; ++i)
      actions.row(i).setConstant(0.1f * static_cast<float>(i % 7) - 0.3f);
  }
  StepOutputs Outputs() { return {observations, aux, rewards, terminated}; }
  bool operator==(const Rollout&) const = default;

  MatrixF observations, aux, actions;
  std::vector<double> rewards;
  std::vector<std::uint8_t> terminated;
};

Rollout RunSteps(const EnvFactory& factory, std::int64_t slots,
                 const VectorEnvOptions& options = {}) {
  VectorEnv envs(factory, slots, options);
  Rollout rollout(factory.spec(), slots);
  auto streams = Streams(slots);
  envs.Reset(streams, rollout.observations);
  for (int t = 0; t < 5; ++t) envs.Step(rollout.actions, rollout.Outputs());
  return rollout;
}

TEST(VectorEnv, EqualsStepsOfSingleEnvironments) {
  const auto factory = FindEnv("HalfCheetah");
  constexpr std::int64_t kSlots = 6;
  const Rollout batch = RunSteps(*factory, kSlots);
  auto streams = Streams(kSlots);
  for (std::int64_t i = 0; i < kSlots; ++i) {
    const auto env = factory->Make();
    std::vector<double> observation(17), aux(1), action(6, batch.actions(i, 0));
    env->Reset(streams[static_cast<std::size_t>(i)], observation);
    StepResult result;
    for (int t = 0; t < 5; ++t) result = env->Step(action, observation, aux);
    EXPECT_EQ(batch.rewards[static_cast<std::size_t>(i)], result.reward);
    EXPECT_EQ(batch.aux(i, 0), static_cast<float>(aux[0]));
    for (std::size_t j = 0; j < observation.size(); ++j) {
      EXPECT_EQ(batch.observations(i, static_cast<Eigen::Index>(j)),
                static_cast<float>(observation[j]));
    }
  }
}

TEST(VectorEnv, GivesTheSameBytesForAnyThreadsAndTaskSize) {
  const auto factory = FindEnv("Hopper");
  const Rollout expected = RunSteps(*factory, 9);
  for (const int threads : {1, 2, 8}) {
    SetThreads(threads);
    for (const std::int64_t slots_per_task : {1, 4, 100}) {
      EXPECT_EQ(RunSteps(*factory, 9, {.slots_per_task = slots_per_task}), expected);
    }
  }
  SetThreads(0);
}

TEST(VectorEnv, LeavesInactiveSlotsAlone) {
  const auto factory = FindEnv("Swimmer");
  VectorEnv envs(*factory, 3);
  Rollout rollout(factory->spec(), 3);
  auto streams = Streams(3);
  envs.Reset(streams, rollout.observations);
  const Rollout before = rollout;
  envs.Step(rollout.actions, std::vector<std::uint8_t>{1, 0, 1}, rollout.Outputs());
  EXPECT_EQ(rollout.observations.row(1), before.observations.row(1));
  EXPECT_NE(rollout.observations.row(0), before.observations.row(0));
  EXPECT_NE(rollout.observations.row(2), before.observations.row(2));
}

TEST(VectorEnv, ResetsOneSlotAlone) {
  const auto factory = FindEnv("Swimmer");
  VectorEnv envs(*factory, 2);
  Rollout rollout(factory->spec(), 2);
  auto streams = Streams(2);
  envs.Reset(streams, rollout.observations);
  const Rollout before = rollout;
  envs.Step(rollout.actions, rollout.Outputs());
  auto again = Streams(2);
  envs.ResetSlot(1, again[1], {rollout.observations.row(1).data(), 8});
  EXPECT_EQ(rollout.observations.row(1), before.observations.row(1));
  EXPECT_NE(rollout.observations.row(0), before.observations.row(0));
}

TEST(VectorEnv, WritesIntoAnArrayOfWholeEpisodes) {
  const auto factory = FindEnv("Swimmer");
  constexpr std::int64_t kSlots = 3, kSteps = 5, kDim = 8;
  Array<float, 3> episodes({kSlots, kSteps + 1, kDim});
  // the rows of all slots at time t, [slots, obs_dim]
  const auto at = [&](std::int64_t t) {
    return Eigen::Map<MatrixF, 0, Eigen::OuterStride<>>(&episodes(0, t, 0), kSlots, kDim,
                                                        Eigen::OuterStride<>((kSteps + 1) * kDim));
  };
  VectorEnv envs(*factory, kSlots);
  Rollout rollout(factory->spec(), kSlots);
  auto streams = Streams(kSlots);
  envs.Reset(streams, at(0));
  for (std::int64_t t = 0; t < kSteps; ++t) {
    envs.Step(rollout.actions, {at(t + 1), rollout.aux, rollout.rewards, rollout.terminated});
  }
  EXPECT_EQ(MatrixF(at(kSteps)), RunSteps(*factory, kSlots).observations);
}

TEST(VectorEnv, NamesTheFirstFailingSlot) {
  const auto factory = FindEnv("Swimmer");
  VectorEnv envs(*factory, 12);
  Rollout rollout(factory->spec(), 12);
  auto streams = Streams(12);
  envs.Reset(streams, rollout.observations);
  rollout.actions(10, 0) = std::nanf("");
  rollout.actions(5, 1) = std::nanf("");
  EXPECT_THAT([&] { envs.Step(rollout.actions, rollout.Outputs()); },
              ThrowsMessage<NumericError>(HasSubstr("slot 5: Swimmer: action 1 is nan")));
}

}  // namespace
}  // namespace lfiw
