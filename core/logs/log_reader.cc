#include "core/logs/log_reader.h"

#include <cmath>

#include "core/error.h"

namespace lfiw::core {
namespace {

void ValidateDensities(const EpisodeBatch& log, const LogInfo& info, const std::string& source) {
  if (log.behavior_log_density.empty()) return;
  // what rounding leaves above a probability of 1
  constexpr double kSlack = 1e-4;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      const double value = log.behavior_log_density[static_cast<std::size_t>(
          log.offsets[static_cast<std::size_t>(e)] + t)];
      if (!std::isfinite(value)) {
        Throw<DataError>(
            "{}: episode {}, step {}: behavior_log_density is {}, expected a finite logarithm (the "
            "logged action must have been possible)",
            source, e, t, value);
      }
      if (info.discrete_actions > 0 && value > kSlack) {
        Throw<DataError>(
            "{}: episode {}, step {}: behavior_log_density is {}, a probability of {}, expected at "
            "most 1",
            source, e, t, value, std::exp(value));
      }
    }
  }
}

// Networks and their moments are of single precision: squares of what is scaled overflow from some
// 1e19 on, and deviations of a cloned policy are bounded at e^20. Returns add up rewards.
constexpr double kLargestState = 1e15, kLargestAction = 1e8, kLargestReward = 1e30;

void RequireSize(double value, double largest, const std::string& source, std::int64_t episode,
                 std::int64_t step, const std::string& what, const char* unit) {
  if (std::abs(value) <= largest) return;
  Throw<DataError>(
      "{}: episode {}, step {}: {} is {:.6g}, and fits follow numbers of up to {:g}: repair it or "
      "drop the episode; if the whole column is so, divide it ({})",
      source, episode, step, what, value, largest, unit);
}

}  // namespace

void ValidateSizes(const EpisodeBatch& log, const std::string& source) {
  const auto check = [&](const MatrixF& values, std::int64_t row, double largest, std::int64_t e,
                         std::int64_t t, const char* name) {
    if (values.cols() == 0) return;
    Eigen::Index j = 0;
    const auto worst = static_cast<double>(values.row(row).cwiseAbs().maxCoeff(&j));
    if (worst <= largest) return;
    RequireSize(static_cast<double>(values(row, j)), largest, source, e, t,
                fmt::format("{}[{}]", name, j), "the policy must have the same unit");
  };
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t <= log.Length(e); ++t) {
      check(log.observations, log.ObservationRow(e, t), kLargestState, e, t, "observation");
      if (t == log.Length(e)) break;
      const std::int64_t step = log.offsets[static_cast<std::size_t>(e)] + t;
      check(log.actions, step, kLargestAction, e, t, "action");
      check(log.aux, step, kLargestState, e, t, "aux");
      RequireSize(log.rewards[static_cast<std::size_t>(step)], kLargestReward, source, e, t,
                  "the reward", "values are then in that unit");
    }
  }
}

void ValidateLog(const EpisodeBatch& log, const LogInfo& info, const std::string& source) {
  Validate(log, source);
  for (std::size_t e = 0; e < log.terminated.size(); ++e) {
    if (log.terminated[e] > 1) {
      Throw<DataError>("{}: terminated[{}] is {}, expected 0 or 1", source, e, log.terminated[e]);
    }
  }
  ValidateDensities(log, info, source);
}

}  // namespace lfiw::core
