#include "policies/logged_density.h"

#include <span>

#include "core/index_list.h"
#include "core/parallel.h"

namespace lfiw::policies {

std::vector<double> LoggedDensity(const EpisodeBatch& log, const Policy& policy,
                                  const EnvSpec& spec) {
  std::vector<double> density(static_cast<std::size_t>(log.steps()));
  ParallelFor(log.episodes(), [&](std::int64_t e) {
    const std::int64_t length = log.Length(e);
    const std::vector<std::int64_t> steps = IndexList(length);
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    policy.LogDensity(log.observations.middleRows(log.ObservationRow(e, 0), length), steps,
                      log.actions.middleRows(first, length), spec.action_low, spec.action_high,
                      std::span(density).subspan(static_cast<std::size_t>(first), steps.size()));
  });
  return density;
}

}  // namespace lfiw::policies
