#include "envs/env.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <regex>

#include "core/error.h"
#include "envs/linear_gaussian_env.h"
#include "envs/mujoco_env.h"

namespace lfiw::envs {
namespace {

// The part of a name that counts: no version, no underscores, lower case.
std::string Key(const std::string& name) {
  static const std::regex version("-v[0-9]+$", std::regex::icase);
  std::string key = std::regex_replace(name, version, "");
  std::erase(key, '_');
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return key;
}

// Levenshtein distance: insertions, deletions and substitutions that turn `a` into `b`.
std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

void ClipActions(const EnvSpec& spec, MatrixRef actions) {
  const VectorF low = spec.action_low.cast<float>();
  const VectorF high = spec.action_high.cast<float>();
  for (Eigen::Index i = 0; i < actions.rows(); ++i) {
    for (Eigen::Index j = 0; j < actions.cols(); ++j) {
      // unlike Eigen's min and max, this keeps NaN for the step to refuse
      actions(i, j) = std::clamp(actions(i, j), low(j), high(j));
    }
  }
}

std::vector<std::string> EnvNames() {
  std::vector<std::string> names;
  for (const MujocoTask& task : MujocoTasks()) names.emplace_back(task.name);
  names.emplace_back(kLinearGaussianName);
  return names;
}

std::shared_ptr<const EnvFactory> FindEnv(const std::string& name) {
  const std::string key = Key(name);
  for (const MujocoTask& task : MujocoTasks()) {
    if (Key(std::string(task.name)) == key) return MakeMujocoFactory(task);
  }
  if (Key(kLinearGaussianName) == key) return MakeLinearGaussianFactory(ScalarLinearGaussian());

  const std::vector<std::string> names = EnvNames();
  const std::string& nearest = *std::ranges::min_element(
      names, {}, [&](const std::string& known) { return EditDistance(key, Key(known)); });
  Throw<ConfigError>("unknown environment \"{}\"; did you mean {}? Known: {}", name, nearest,
                     fmt::join(names, ", "));
}

}  // namespace lfiw::envs
