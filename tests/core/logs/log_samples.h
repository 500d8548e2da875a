#ifndef LFIW_TESTS_CORE_LOGS_LOG_SAMPLES_H_
#define LFIW_TESTS_CORE_LOGS_LOG_SAMPLES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/arrays/array_store.h"
#include "core/arrays/hdf5_writer.h"
#include "core/arrays/npz.h"
#include "core/logs/episode_batch.h"
#include "core/logs/log_reader.h"

namespace lfiw::core {

// Observations count through the log, so that every one shows where it came from: observation t of
// episode e is (100 e + t, -t). Rewards are 10 e + t, actions t / 10.
inline EpisodeBatch SampleLog(const std::vector<std::int64_t>& lengths) {
  EpisodeBatch log;
  std::int64_t steps = 0;
  for (const std::int64_t length : lengths) steps += length;
  const auto episodes = static_cast<std::int64_t>(lengths.size());
  log.observations.resize(steps + episodes, 2);
  log.actions.resize(steps, 1);
  log.aux.resize(steps, 0);
  for (std::int64_t e = 0; e < episodes; ++e) {
    const std::int64_t first = log.offsets.back();
    const std::int64_t length = lengths[static_cast<std::size_t>(e)];
    for (std::int64_t t = 0; t <= length; ++t) {
      log.observations.row(first + e + t) << static_cast<float>(100 * e + t),
          static_cast<float>(-t);
      if (t == length) break;
      log.actions(first + t, 0) = static_cast<float>(t) / 10.0f;
      log.rewards.push_back(static_cast<double>(10 * e + t));
    }
    log.offsets.push_back(first + length);
    log.terminated.push_back(e % 2 == 1 ? 1 : 0);
  }
  return log;
}

template <class T>
NpzArray MakeNpzArray(const std::string& type, std::vector<std::int64_t> shape,
                      const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {type, std::move(shape), {bytes, bytes + values.size() * sizeof(T)}};
}

inline NpzArray MakeNpzArray(const MatrixF& values) {
  return MakeNpzArray<float>("f4", {values.rows(), values.cols()},
                             {values.data(), values.data() + values.size()});
}

// The arrays of a batch in D4RL's flat layout.
inline NpzFile FlatArrays(const EpisodeBatch& log) {
  NpzFile file;
  MatrixF observations(log.steps(), log.obs_dim());
  MatrixF next(log.steps(), log.obs_dim());
  std::vector<std::uint8_t> terminals, timeouts;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t length = log.Length(e);
    const std::int64_t first = log.offsets[static_cast<std::size_t>(e)];
    observations.middleRows(first, length) =
        log.observations.middleRows(log.ObservationRow(e, 0), length);
    next.middleRows(first, length) = log.observations.middleRows(log.ObservationRow(e, 1), length);
    for (std::int64_t t = 1; t <= length; ++t) {
      const bool ended = log.terminated[static_cast<std::size_t>(e)] != 0;
      terminals.push_back(t == length && ended ? 1 : 0);
      timeouts.push_back(t == length && !ended ? 1 : 0);
    }
  }
  file.Put("observations", observations);
  file.Put("next_observations", next);
  file.Put("actions", log.actions);
  file.Put("rewards", log.rewards);
  file.Put("terminals", MakeNpzArray("b1", {log.steps()}, terminals));
  file.Put("timeouts", MakeNpzArray("b1", {log.steps()}, timeouts));
  return file;
}

// `arrays` without those named, as HDF5.
inline void WriteHdf5(const NpzFile& arrays, const std::string& path,
                      const std::vector<std::string>& without = {},
                      Hdf5Compression compression = Hdf5Compression::kNone) {
  Hdf5Writer writer(path, compression);
  for (const auto& [name, array] : arrays.arrays()) {
    bool skipped = false;
    for (const std::string& other : without) skipped = skipped || other == name;
    if (!skipped && array.shape.empty()) writer.Put(name, array);
    if (!skipped && !array.shape.empty()) writer.Append(name, array);
  }
  writer.Close();
}

inline void ExpectSameLog(const EpisodeBatch& log, const EpisodeBatch& expected) {
  EXPECT_EQ(log.offsets, expected.offsets);
  EXPECT_EQ(log.terminated, expected.terminated);
  EXPECT_EQ(log.end_unrecorded, expected.end_unrecorded);
  EXPECT_EQ(log.rewards, expected.rewards);
  EXPECT_EQ(log.behavior_log_density, expected.behavior_log_density);
  EXPECT_EQ(log.observations, expected.observations);
  EXPECT_EQ(log.actions, expected.actions);
  ASSERT_EQ(log.aux_dim(), expected.aux_dim());
  EXPECT_TRUE((log.aux.array() == expected.aux.array()).all());
}

}  // namespace lfiw::core

#endif  // LFIW_TESTS_CORE_LOGS_LOG_SAMPLES_H_
