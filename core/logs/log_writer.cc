#include "core/logs/log_writer.h"

#include "core/arrays/npz.h"

namespace lfiw::core {

MatrixF ObservationsToWrite(const EpisodeBatch& batch) {
  MatrixF observations = batch.observations;
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    if (batch.EndRecorded(e)) continue;
    observations.row(batch.ObservationRow(e, batch.Length(e))).setConstant(kUnrecorded);
  }
  return observations;
}

void SaveLog(const EpisodeBatch& log, const std::string& path, const LogInfo& info) {
  NpzFile file;
  file.Put("observations", ObservationsToWrite(log));
  file.Put("actions", log.actions);
  file.Put("rewards", log.rewards);
  file.Put("offsets", log.offsets);
  file.Put("terminated", log.terminated);
  if (log.aux_dim() > 0) file.Put("aux", log.aux);
  if (!log.behavior_log_density.empty()) {
    file.Put("behavior_log_density", log.behavior_log_density);
  }
  if (info.discrete_actions > 0) {
    file.Put("discrete_actions", std::vector<std::int64_t>{info.discrete_actions});
  }
  if (!info.environment.empty()) file.Put("environment", info.environment);
  file.Write(path);
}

}  // namespace lfiw::core
