#include "ope/rollouts/one_member.h"

#include "core/error.h"
#include "core/parallel.h"
#include "core/run/progress.h"

namespace lfiw::ope {

void RollOutInEachMember(
    const RolloutInputs& inputs, std::int64_t episodes, std::int64_t horizon, std::uint64_t seed,
    const std::function<void(std::int64_t member, const BlockRollout& block)>& visit) {
  ParallelFor(inputs.dynamics.members(), [&](std::int64_t member) {
    if (InterruptRequested()) throw Interrupted();
    const OneMember model(inputs.dynamics, member);
    const RolloutInputs alone{.dynamics = model,
                              .ratios = {},
                              .policy = inputs.policy,
                              .spec = inputs.spec,
                              .functions = inputs.functions,
                              .start_states = inputs.start_states,
                              .range = inputs.range};
    BlockRollout block(alone, inputs.start_states.topRows(episodes),
                       {.first = 0, .size = episodes, .first_step = 0, .steps = horizon}, seed);
    block.Run();
    visit(member, block);
  });
}

}  // namespace lfiw::ope
