#include "envs/env_registry.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <string_view>

#include "core/error.h"
#include "core/nearest_name.h"
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

}  // namespace

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
  std::vector<std::string> keys;
  for (const std::string& known : names) keys.push_back(Key(known));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  Throw<ConfigError>("unknown environment \"{}\"; did you mean {}? Known: {}", name,
                     names[NearestName(key, views).value()], fmt::join(names, ", "));
}

}  // namespace lfiw::envs
