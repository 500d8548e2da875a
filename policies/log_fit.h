#ifndef LFIW_POLICIES_LOG_FIT_H_
#define LFIW_POLICIES_LOG_FIT_H_

#include <string>

#include "core/episode_batch.h"
#include "envs/env.h"

namespace lfiw {

// Throws DataError unless the log's sizes are the environment's. A log without aux fits.
void CheckFits(const EpisodeBatch& log, const EnvSpec& spec, const std::string& source);

}  // namespace lfiw

#endif  // LFIW_POLICIES_LOG_FIT_H_
