#ifndef LFIW_TESTS_ENVS_REFERENCE_H_
#define LFIW_TESTS_ENVS_REFERENCE_H_

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"
#include "envs/mujoco_task.h"
#include "envs/mujoco_version.h"
#include "tests/test_paths.h"

namespace lfiw::envs {

// A file below data. Those at its top are constants and episodes recorded with MuJoCo 2.2.2 from
// gym's version 4; those in gymnasium/ are of record_gymnasium.py.
inline nlohmann::json ReadReference(const std::string& file) {
  std::ifstream stream(SourceFile("tests/envs/data/" + std::string(file)));
  return nlohmann::json::parse(stream);
}

// "HalfCheetah" -> "half_cheetah"
inline std::string ReferenceName(const MujocoTask& task) {
  std::string name;
  for (const char c : task.name) {
    if (std::isupper(static_cast<unsigned char>(c)) && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return name;
}

// Tasks whose episodes another version of MuJoCo than 2.2.2, which recorded them, does not repeat:
// it solves contacts to other last digits, which a few steps on the ground multiply. The others are
// the same to the tolerances of the tests in 2.3.7, 3.17.0 and 4.0.0.
inline constexpr std::array kOtherEpisodes = {"ant", "half_cheetah", "hopper", "humanoid"};
// Those whose constants differ: the principal axes of round bodies, which any two may be.
inline constexpr std::array kOtherConstants = {"humanoid"};

// Why a recording is not to be compared with the MuJoCo that is linked; empty where it is.
inline std::string NotComparable(const std::string& reference_name,
                                 std::span<const char* const> other_tasks) {
  if (MujocoVersion() == "2.2.2") return "";
  for (const char* task : other_tasks) {
    if (reference_name.starts_with(task)) {
      return "recorded with MuJoCo 2.2.2, this is " + MujocoVersion() +
             "; docs/environments.md says what differs";
    }
  }
  return "";
}

// gtest's name of a parameter
inline void PrintTo(const MujocoTask& task, std::ostream* out) { *out << FullName(task); }

// "Walker2d-v5" -> "Walker2d_v5"
inline std::string TestName(const MujocoTask& task) {
  std::string name = FullName(task);
  std::ranges::replace(name, '-', '_');
  return name;
}

inline const MujocoTask& FindTask(std::string_view name) {
  return *std::ranges::find(MujocoTasks(), name, FullName);
}

// The six tasks, in version 4, whose constants and episodes are at the top of data.
inline std::vector<MujocoTask> FirstTasks() {
  return {MujocoTasks().begin(), MujocoTasks().begin() + 6};
}

}  // namespace lfiw::envs

#endif  // LFIW_TESTS_ENVS_REFERENCE_H_
