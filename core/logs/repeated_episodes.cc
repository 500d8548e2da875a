#include "core/logs/repeated_episodes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace lfiw::core {
namespace {

// Two independent 64-bit hashes of a sequence.
struct TwoHashes {
  std::uint64_t first = 0x243F6A8885A308D3, second = 0x13198A2E03707344;

  void Add(std::uint64_t value) {
    first = std::rotl(first ^ value, 29) * 0x9E3779B97F4A7C15;
    second = (std::rotl(second, 17) + value) * 0xD6E8FEB86659FD93;
    second ^= second >> 32;
  }
  void Add(float value) { Add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
};

// Whether a value has more than three decimal digits.
bool IsLong(float value) {
  const double thousands = 1000.0 * static_cast<double>(value);
  return std::abs(thousands - std::round(thousands)) > 1e-6 * std::max(1.0, std::abs(thousands));
}

}  // namespace

void RepeatedEpisodes::Add(const EpisodeBatch& batch) {
  for (std::int64_t e = 0; e < batch.episodes(); ++e, ++episodes_) {
    const std::int64_t length = batch.Length(e);
    const std::int64_t first = batch.offsets[static_cast<std::size_t>(e)];
    TwoHashes hash;
    bool is_long = false;
    const auto add = [&](const MatrixF& values, std::int64_t row, std::int64_t rows) {
      const float* begin = values.data() + row * values.cols();
      for (const float value : std::span(begin, static_cast<std::size_t>(rows * values.cols()))) {
        hash.Add(value);
        is_long = is_long || IsLong(value);
      }
    };
    add(batch.observations, batch.ObservationRow(e, 0), length + 1);
    add(batch.actions, first, length);
    for (std::int64_t t = 0; t < length; ++t) {
      hash.Add(std::bit_cast<std::uint64_t>(batch.rewards[static_cast<std::size_t>(first + t)]));
    }
    hash.Add(std::uint64_t{batch.terminated[static_cast<std::size_t>(e)]});
    hash.Add(static_cast<std::uint64_t>(length));
    if (!is_long) continue;
    const auto [found, is_new] = seen_.emplace(hash.first, hash.second);
    if (!is_new && found->second == hash.second) repeats_.push_back(episodes_);
  }
}

std::int64_t DropRepeats(EpisodeBatch& log) {
  RepeatedEpisodes repeated;
  repeated.Add(log);
  const std::vector<std::int64_t>& repeats = repeated.repeats();
  if (repeats.empty()) return 0;
  std::vector<std::int64_t> kept;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (!std::ranges::binary_search(repeats, e)) kept.push_back(e);
  }
  log = SelectEpisodes(log, kept);
  return std::ssize(repeats);
}

}  // namespace lfiw::core
