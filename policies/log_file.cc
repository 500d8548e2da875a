#include "policies/log_file.h"

#include <cmath>

#include "core/error.h"
#include "core/npz.h"

namespace lfiw {
namespace {

void ValidateOffsets(const EpisodeBatch& log, const std::string& source) {
  if (log.offsets.size() < 2) {
    Throw<DataError>("{}: offsets has {} values, expected the number of episodes plus one (>= 2)",
                     source, log.offsets.size());
  }
  if (log.offsets.front() != 0) {
    Throw<DataError>("{}: offsets[0] is {}, expected 0", source, log.offsets.front());
  }
  for (std::size_t e = 1; e < log.offsets.size(); ++e) {
    if (log.offsets[e] <= log.offsets[e - 1]) {
      Throw<DataError>("{}: offsets[{}] is {}, expected more than offsets[{}] ({})", source, e,
                       log.offsets[e], e - 1, log.offsets[e - 1]);
    }
  }
}

void ValidateFlags(const EpisodeBatch& log, const std::string& source) {
  for (std::size_t e = 0; e < log.terminated.size(); ++e) {
    if (log.terminated[e] > 1) {
      Throw<DataError>("{}: terminated[{}] is {}, expected 0 or 1", source, e, log.terminated[e]);
    }
  }
}

void ValidateDensities(const EpisodeBatch& log, const std::string& source) {
  if (log.behavior_log_density.empty()) return;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      const auto step = static_cast<std::size_t>(log.offsets[static_cast<std::size_t>(e)] + t);
      if (std::isfinite(log.behavior_log_density[step])) continue;
      Throw<DataError>(
          "{}: episode {}, step {}: behavior_log_density is {}, expected a finite logarithm (the "
          "logged action must have been possible)",
          source, e, t, log.behavior_log_density[step]);
    }
  }
}

void RequireDim(const std::string& source, const char* what, std::int64_t found,
                const EnvSpec& spec, std::int64_t expected) {
  if (found == expected) return;
  Throw<DataError>("{}: {} have {} columns, {} has {}", source, what, found, spec.name, expected);
}

}  // namespace

void SaveLog(const EpisodeBatch& log, const std::string& path) {
  NpzFile file;
  file.Put("observations", log.observations);
  file.Put("actions", log.actions);
  file.Put("rewards", log.rewards);
  file.Put("offsets", log.offsets);
  file.Put("terminated", log.terminated);
  if (log.aux_dim() > 0) file.Put("aux", log.aux);
  if (!log.behavior_log_density.empty()) {
    file.Put("behavior_log_density", log.behavior_log_density);
  }
  file.Write(path);
}

EpisodeBatch LoadLog(const std::string& path) {
  const NpzFile file = NpzFile::Read(path);
  EpisodeBatch log;
  log.observations = file.GetMatrix("observations");
  log.actions = file.GetMatrix("actions");
  log.rewards = file.GetDoubles("rewards");
  log.offsets = file.GetIntegers("offsets");
  log.terminated = file.GetBytes("terminated");
  log.aux.resize(log.actions.rows(), 0);
  if (file.Has("aux")) log.aux = file.GetMatrix("aux");
  if (file.Has("behavior_log_density")) {
    log.behavior_log_density = file.GetDoubles("behavior_log_density");
  }
  ValidateOffsets(log, path);
  Validate(log, path);
  ValidateFlags(log, path);
  ValidateDensities(log, path);
  return log;
}

void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source) {
  RequireDim(source, "observations", log.obs_dim(), spec, spec.obs_dim);
  RequireDim(source, "actions", log.action_dim(), spec, spec.action_dim);
  if (log.aux_dim() > 0) RequireDim(source, "aux", log.aux_dim(), spec, spec.aux_dim());
}

}  // namespace lfiw
