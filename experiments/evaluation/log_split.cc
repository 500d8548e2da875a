#include "experiments/evaluation/log_split.h"

#include <algorithm>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::experiments {

namespace {

std::vector<std::vector<std::int64_t>> SkipInTurn(const std::vector<std::int64_t>& order,
                                                  std::int64_t folds, std::int64_t members) {
  std::vector<std::vector<std::int64_t>> skipped(static_cast<std::size_t>(members));
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (auto k = static_cast<std::int64_t>(i) % folds; k < members; k += folds) {
      skipped[static_cast<std::size_t>(k)].push_back(order[i]);
    }
  }
  return skipped;
}

std::vector<std::int64_t> SplitOrder(std::int64_t episodes, std::uint64_t seed) {
  return Stream(seed, "episode split").Permutation(episodes);
}

}  // namespace

std::vector<std::vector<std::int64_t>> SkipFolds(std::int64_t episodes, std::int64_t folds,
                                                 std::int64_t members, std::uint64_t seed) {
  folds = std::min(folds, members);
  if (folds < 2) return {};
  return SkipInTurn(SplitOrder(episodes, seed), folds, members);
}

LogSplit SplitLog(std::int64_t episodes, const LogOptions& options, std::int64_t members,
                  std::uint64_t seed) {
  if (episodes < 2) {
    Throw<DataError>(
        "the log has {} episode{}, but one part of the episodes trains the dynamics and the other "
        "the classifiers, "
        "which takes at least two; log more episodes",
        episodes, episodes == 1 ? "" : "s");
  }
  const std::vector<std::int64_t> order = SplitOrder(episodes, seed);
  if (const std::int64_t folds = std::min(options.cross_fit, members); folds > 1) {
    return {order, order, SkipInTurn(order, folds, members)};
  }
  const auto share =
      static_cast<std::int64_t>(options.dynamics_fraction * static_cast<double>(episodes));
  const std::ptrdiff_t cut = std::clamp<std::int64_t>(share, 1, episodes - 1);
  return {{order.begin(), order.begin() + cut}, {order.begin() + cut, order.end()}, {}};
}

LogSplit ResampleLog(const LogSplit& split, std::uint64_t seed, std::uint64_t replicate) {
  Stream stream(seed, "pipeline bootstrap", {replicate});
  const auto resample = [&](const std::vector<std::int64_t>& episodes) {
    std::vector<std::int64_t> drawn(episodes.size());
    for (std::int64_t& e : drawn) {
      e = episodes[static_cast<std::size_t>(stream.Below(drawn.size()))];
    }
    return drawn;
  };
  LogSplit out;
  out.dynamics = resample(split.dynamics);
  out.classifiers = split.skipped.empty() ? resample(split.classifiers) : out.dynamics;
  out.skipped = split.skipped;
  return out;
}

}  // namespace lfiw::experiments
