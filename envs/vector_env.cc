#include "envs/vector_env.h"

#include <algorithm>

#include "core/error.h"
#include "core/parallel.h"

namespace lfiw {
namespace {

void Narrow(const std::vector<double>& from, float* to) {
  std::ranges::transform(from, to, [](double x) { return static_cast<float>(x); });
}

}  // namespace

VectorEnv::VectorEnv(const EnvFactory& factory, std::int64_t slots, const VectorEnvOptions& options)
    : spec_(factory.spec()), options_(options) {
  LFIW_ASSERT(slots >= 1 && options.slots_per_task >= 1);
  for (std::int64_t i = 0; i < slots; ++i) {
    slots_.push_back({.env = factory.Make(),
                      .observation = std::vector<double>(static_cast<std::size_t>(spec_.obs_dim)),
                      .action = std::vector<double>(static_cast<std::size_t>(spec_.action_dim)),
                      .aux = std::vector<double>(static_cast<std::size_t>(spec_.aux_dim()))});
  }
}

void VectorEnv::Reset(std::span<Stream> streams, MatrixRef observations) {
  LFIW_ASSERT(static_cast<std::int64_t>(streams.size()) == slots());
  LFIW_ASSERT(observations.rows() == slots() && observations.cols() == spec_.obs_dim);
  ParallelBlocks(slots(), options_.slots_per_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      ResetSlot(i, streams[static_cast<std::size_t>(i)],
                {observations.row(i).data(), static_cast<std::size_t>(spec_.obs_dim)});
    }
  });
}

void VectorEnv::ResetSlot(std::int64_t slot, Stream& stream, std::span<float> observation) {
  Slot& s = slots_[static_cast<std::size_t>(slot)];
  s.env->Reset(stream, s.observation);
  Narrow(s.observation, observation.data());
}

void VectorEnv::Step(ConstMatrixRef actions, std::span<const std::uint8_t> active,
                     StepOutputs outputs) {
  LFIW_ASSERT(actions.rows() == slots() && actions.cols() == spec_.action_dim);
  LFIW_ASSERT(active.empty() || static_cast<std::int64_t>(active.size()) == slots());
  LFIW_ASSERT(outputs.observations.rows() == slots() && outputs.aux.cols() == spec_.aux_dim());
  ParallelBlocks(slots(), options_.slots_per_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (active.empty() || active[static_cast<std::size_t>(i)] != 0) StepSlot(i, actions, outputs);
    }
  });
}

void VectorEnv::StepSlot(std::int64_t slot, const ConstMatrixRef& actions, StepOutputs& outputs) {
  const auto i = static_cast<std::size_t>(slot);
  Slot& s = slots_[i];
  std::copy_n(actions.row(slot).data(), spec_.action_dim, s.action.begin());
  try {
    const StepResult result = s.env->Step(s.action, s.observation, s.aux);
    outputs.rewards[i] = result.reward;
    outputs.terminated[i] = result.terminated ? 1 : 0;
  } catch (const NumericError& error) {
    Throw<NumericError>("slot {}: {}", slot, error.what());
  }
  Narrow(s.observation, outputs.observations.row(slot).data());
  Narrow(s.aux, outputs.aux.row(slot).data());
}

}  // namespace lfiw
