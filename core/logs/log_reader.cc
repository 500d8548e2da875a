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

}  // namespace

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
