#ifndef LFIW_EXPERIMENTS_EVALUATION_LOG_SPLIT_H_
#define LFIW_EXPERIMENTS_EVALUATION_LOG_SPLIT_H_

#include <cstdint>
#include <vector>

#include "core/layers.h"
#include "experiments/evaluation/evaluation_config.h"

namespace lfiw::experiments {

// Which episodes of the log train what. Without cross-fitting no episode is in both parts, though a
// bootstrap may repeat one within its part; with it both hold all episodes.
struct LogSplit {
  std::vector<std::int64_t> dynamics;
  std::vector<std::int64_t> classifiers;
  // For each member of the ensemble the episodes that it leaves out; empty without cross-fitting.
  std::vector<std::vector<std::int64_t>> skipped;
};

// Divides the episodes of a log at random. Throws DataError for a log of fewer than two episodes.
LogSplit SplitLog(std::int64_t episodes, const LogOptions& options, std::int64_t members,
                  std::uint64_t seed);
// Returns for each of `members` the episodes that it leaves out when `folds` of them divide the
// log's; empty for fewer than two folds. Deterministic in the seed, as SplitLog.
std::vector<std::vector<std::int64_t>> SkipFolds(std::int64_t episodes, std::int64_t folds,
                                                 std::int64_t members, std::uint64_t seed);
// Draws the episodes of both parts with replacement; cross-fitting keeps its folds.
LogSplit ResampleLog(const LogSplit& split, std::uint64_t seed, std::uint64_t replicate);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_LOG_SPLIT_H_
