#ifndef LFIW_POLICIES_LOG_COMPATIBILITY_H_
#define LFIW_POLICIES_LOG_COMPATIBILITY_H_

#include <string>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "envs/env.h"

namespace lfiw::policies {

// Throws DataError unless the log's sizes are the environment's. A log without aux fits.
void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_LOG_COMPATIBILITY_H_
