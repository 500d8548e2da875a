#include "models/episode_split.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

namespace lfiw::models {

EpisodeSplit SplitEpisodes(std::span<const std::int64_t> episodes, double share, Stream stream,
                           const char* purpose) {
  std::vector<std::int64_t> distinct(episodes.begin(), episodes.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const auto count = std::ssize(distinct);
  if (count < 2) {
    Throw<DataError>("{}: {} distinct episodes, expected at least 2 (one is held out)", purpose,
                     count);
  }
  const std::int64_t held_out =
      std::clamp<std::int64_t>(std::llround(share * static_cast<double>(count)), 1, count - 1);
  const auto order = stream.Permutation(count);
  std::vector<std::int64_t> validation;
  for (std::int64_t i = 0; i < held_out; ++i) {
    validation.push_back(distinct[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
  }
  std::sort(validation.begin(), validation.end());

  EpisodeSplit split;
  for (const std::int64_t e : episodes) {
    const bool held = std::binary_search(validation.begin(), validation.end(), e);
    (held ? split.validation : split.train).push_back(e);
  }
  return split;
}

std::vector<std::int64_t> EpisodesWithout(std::span<const std::int64_t> episodes,
                                          std::span<const std::int64_t> skipped) {
  std::vector<std::int64_t> rest(episodes.begin(), episodes.end());
  std::erase_if(rest,
                [&](std::int64_t e) { return std::ranges::find(skipped, e) != skipped.end(); });
  return rest;
}

std::vector<std::int64_t> Subsample(const std::vector<std::int64_t>& values, std::int64_t count,
                                    Stream stream) {
  const auto order = stream.Permutation(std::ssize(values));
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < std::min(count, std::ssize(values)); ++i) {
    chosen.push_back(values[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
  }
  return chosen;
}

}  // namespace lfiw::models
