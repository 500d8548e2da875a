#ifndef LFIW_TESTS_CONFORMANCE_LOG_CASE_H_
#define LFIW_TESTS_CONFORMANCE_LOG_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/arrays/hdf5_writer.h"
#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/layers.h"
#include "core/logs/log_reader.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/conformance/case_reader.h"
#include "tests/core/test_dir.h"

// Cases of log files: what episodes a reader finds in them, or why it refuses.
namespace lfiw::ope::log_case {

using ::testing::Contains;
using ::testing::HasSubstr;

template <class T>
NpzArray PackArray(const std::string& type, std::vector<std::int64_t> shape,
                   const std::vector<double>& leaves) {
  const std::vector<T> values(leaves.begin(), leaves.end());
  const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
  return {type, std::move(shape), {bytes, bytes + values.size() * sizeof(T)}};
}

// Whether all numbers or flags of an array are of one kind.
inline bool AllLeaves(const Json& json, bool (Json::*kind)() const noexcept) {
  if (!json.is_array()) return (json.*kind)();
  return std::ranges::all_of(json, [&](const Json& item) { return AllLeaves(item, kind); });
}

// Booleans, whole numbers or doubles, as they are written.
inline NpzArray ReadNpzArray(const Json& json) {
  std::vector<std::int64_t> shape;
  for (const Json* level = &json; level->is_array(); level = &level->at(0)) {
    shape.push_back(std::ssize(*level));
  }
  std::vector<double> leaves;
  if (AllLeaves(json, &Json::is_boolean)) {
    for (const Json& flag : json) leaves.push_back(flag.get<bool>() ? 1.0 : 0.0);
    return PackArray<std::uint8_t>("b1", shape, leaves);
  }
  AppendLeaves(json, leaves);
  if (AllLeaves(json, &Json::is_number_integer)) {
    return PackArray<std::int64_t>("i8", shape, leaves);
  }
  return PackArray<double>("f8", shape, leaves);
}

// Lines of text, arrays in HDF5, or the same in npz; returns what to open.
inline std::string WriteLog(const Json& json, const TestDir& dir) {
  RequireKnownFields(json, {"lines", "hdf5", "npz", "metadata"});
  const std::string path = dir / "main_data.hdf5";
  if (json.contains("lines")) {
    std::string text;
    for (const Json& line : json.at("lines")) text += line.get<std::string>() + "\n";
    WriteFileAtomically(path, text);
  } else if (json.contains("npz")) {
    NpzFile file;
    for (const auto& [name, array] : json.at("npz").items()) file.Put(name, ReadNpzArray(array));
    file.Write(path);
  } else {
    Hdf5Writer writer(path);
    for (const auto& [name, array] : json.at("hdf5").items()) {
      writer.Append(name, ReadNpzArray(array));
    }
    writer.Close();
  }
  if (!json.contains("metadata")) return path;
  WriteFileAtomically(dir / "metadata.json", json.at("metadata").dump());
  return dir.path();
}

inline void CheckNumbers(std::span<const double> numbers, const Json& expect, const char* name) {
  if (!expect.contains(name)) return;
  std::vector<double> expected;
  AppendLeaves(expect.at(name), expected);
  ASSERT_EQ(numbers.size(), expected.size()) << name;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    EXPECT_NEAR(numbers[k], expected[k], 1e-6) << name << " " << k;
  }
}

inline void CheckMatrix(const MatrixF& matrix, const Json& expect, const char* name) {
  const std::vector<double> flat(matrix.data(), matrix.data() + matrix.size());
  CheckNumbers(flat, expect, name);
}

inline void CheckEpisodes(const LoadedLog& log, const Json& expect) {
  const EpisodeBatch& batch = log.batch;
  std::vector<std::int64_t> lengths;
  for (std::int64_t e = 0; e < batch.episodes(); ++e) lengths.push_back(batch.Length(e));
  EXPECT_EQ(lengths, expect.at("lengths").get<std::vector<std::int64_t>>());
  EXPECT_EQ(batch.terminated, expect.at("terminated").get<std::vector<std::uint8_t>>());
  CheckMatrix(batch.observations, expect, "observations");
  CheckMatrix(batch.actions, expect, "actions");
  CheckNumbers(batch.rewards, expect, "rewards");
  CheckNumbers(batch.behavior_log_density, expect, "behavior_log_density");
  if (expect.contains("note")) {
    EXPECT_THAT(log.info.notes, Contains(HasSubstr(expect.at("note").get<std::string>())));
  }
  if (expect.contains("discrete_actions")) {
    EXPECT_EQ(log.info.discrete_actions, expect.at("discrete_actions").get<std::int64_t>());
  }
}

inline void RunCase(const Json& json) {
  RequireKnownFields(json, {"name", "shows", "log_file", "max_episode_steps", "expect"});
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"lengths", "terminated", "observations", "actions", "rewards",
                              "behavior_log_density", "discrete_actions", "note", "error"});
  const TestDir dir;
  const std::string path = WriteLog(json.at("log_file"), dir);
  LogReadOptions options;
  options.max_episode_steps = json.value("max_episode_steps", options.max_episode_steps);
  std::string message;
  try {
    const LoadedLog log = LoadLog(path, options);
    if (!expect.contains("error")) CheckEpisodes(log, expect);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::string expected = expect.value("error", std::string());
  EXPECT_EQ(message.empty(), expected.empty()) << message;
  EXPECT_THAT(message, HasSubstr(expected));
}

}  // namespace lfiw::ope::log_case

#endif  // LFIW_TESTS_CONFORMANCE_LOG_CASE_H_
