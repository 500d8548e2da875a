#ifndef LFIW_TESTS_ENVS_REFERENCE_H_
#define LFIW_TESTS_ENVS_REFERENCE_H_

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"
#include "envs/mujoco_task.h"
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
