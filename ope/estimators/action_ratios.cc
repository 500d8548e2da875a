#include "ope/estimators/action_ratios.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace lfiw::ope {
namespace {

// Probabilities may exceed 1 by rounding.
constexpr double kLargestLogProbability = 1e-6;

struct Place {
  const std::string& source;
  std::int64_t episode, step;
};

void RequireBehavior(double value, ActionKind kind, const Place& at) {
  const char* what = kind == ActionKind::kDiscrete ? "log-probability" : "log-density";
  if (!std::isfinite(value)) {
    Throw<DataError>(
        "{}: episode {}, step {}: the behavior policy's {} of its own action is {}, expected a "
        "finite number; give the policy that wrote the log, or leave ratios out",
        at.source, at.episode, at.step, what, value);
  }
  if (kind == ActionKind::kDiscrete && value > kLargestLogProbability) {
    Throw<DataError>(
        "{}: episode {}, step {}: the behavior policy's log-probability is {}, expected at most 0; "
        "is it a probability or a density?",
        at.source, at.episode, at.step, value);
  }
}

void RequireEvaluation(double value, const Place& at) {
  if (!std::isnan(value) && value != std::numeric_limits<double>::infinity()) return;
  Throw<DataError>("{}: episode {}, step {}: the evaluation policy's log-density is {}", at.source,
                   at.episode, at.step, value);
}

}  // namespace

Array<double, 2> ActionLogRatios(const EpisodeBatch& log, std::span<const std::int64_t> episodes,
                                 std::span<const double> evaluation,
                                 std::span<const double> behavior, ActionKind kind,
                                 std::int64_t horizon, const std::string& source) {
  LFIW_ASSERT(std::ssize(evaluation) == log.steps() && std::ssize(behavior) == log.steps());
  Array<double, 2> ratios({std::ssize(episodes), horizon});
  for (std::int64_t i = 0; i < std::ssize(episodes); ++i) {
    const std::int64_t e = episodes[static_cast<std::size_t>(i)];
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    for (std::int64_t t = 0; t < std::min(log.Length(e), horizon); ++t) {
      const auto step = static_cast<std::size_t>(first + t);
      const Place at{source, e, t};
      RequireBehavior(behavior[step], kind, at);
      RequireEvaluation(evaluation[step], at);
      ratios(i, t) = evaluation[step] - behavior[step];
    }
  }
  return ratios;
}

}  // namespace lfiw::ope
