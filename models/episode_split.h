#ifndef LFIW_MODELS_EPISODE_SPLIT_H_
#define LFIW_MODELS_EPISODE_SPLIT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "core/layers.h"
#include "core/logs/episode_batch.h"
#include "core/rng.h"

namespace lfiw::models {

struct EpisodeSplit {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
};

// Holds out `share` of the distinct episodes, at least one, so that no episode is on both sides.
// Episodes that are listed repeatedly stay so, on their side. Throws DataError naming `purpose`
// when fewer than two distinct episodes are given.
EpisodeSplit SplitEpisodes(std::span<const std::int64_t> episodes, double share, Stream stream,
                           const char* purpose);

// The episodes that are not among `skipped`, in their order.
std::vector<std::int64_t> EpisodesWithout(std::span<const std::int64_t> episodes,
                                          std::span<const std::int64_t> skipped);

// `count` of `values` without replacement, in random order; all of them if there are fewer.
std::vector<std::int64_t> Subsample(const std::vector<std::int64_t>& values, std::int64_t count,
                                    Stream stream);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_EPISODE_SPLIT_H_
