#ifndef LFIW_EXPERIMENTS_CLI_SLURM_STATUS_H_
#define LFIW_EXPERIMENTS_CLI_SLURM_STATUS_H_

#include <string>

#include "core/layers.h"
#include "experiments/presentation/outcome.h"

namespace lfiw::experiments {

// Says what has become of the tasks that a launcher submitted from this folder: done, running,
// queued, or failed with the last line of the log. Where Slurm cannot be asked, only what is done
// is known, and said to be so. Throws DataError where nothing was launched.
Outcome SlurmStatus(const std::string& folder);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_CLI_SLURM_STATUS_H_
