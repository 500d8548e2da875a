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

// In what version 5 of Gymnasium differs from version 4, which the tasks here are, with its default
// arguments; empty where observations, dynamics, rewards and ends are the same, as Swimmer's and
// HalfCheetah's are (gymnasium/envs/mujoco of Gymnasium 1.4).
std::string DifferenceOfVersion5(const std::string& key) {
  if (key == "walker2d") {
    return "the right foot has a friction of 1.9 instead of 0.9, and the state that ends an "
           "episode earns no healthy reward";
  }
  if (key == "hopper") return "the state that ends an episode earns no healthy reward";
  if (key == "ant") {
    return "observations have 105 numbers instead of 27 (contact forces), these forces cost "
           "reward, and the state that ends an episode earns no healthy reward";
  }
  if (key == "humanoidstandup") {
    return "observations have 348 numbers instead of 376, since 28 that are always 0 are left out";
  }
  return "";
}

// The version that a name states, 0 if none.
int VersionOf(const std::string& name) {
  static const std::regex version(".*-v([0-9]{1,4})$", std::regex::icase);
  std::smatch match;
  return std::regex_match(name, match, version) ? std::stoi(match[1]) : 0;
}

void CheckVersion(const std::string& name, std::string_view known) {
  const std::string difference = VersionDifference(name);
  if (difference.empty()) return;
  Throw<ConfigError>(
      "\"{}\": lfiw has version 4 of this environment, and {}; name {} to use version 4 all the "
      "same",
      name, difference, known);
}

}  // namespace

std::string VersionDifference(const std::string& name) {
  const int version = VersionOf(name);
  if (version < 5) return "";
  const std::string key = Key(name);
  const auto is_task = [&](const MujocoTask& task) { return Key(std::string(task.name)) == key; };
  if (std::ranges::none_of(MujocoTasks(), is_task)) return "";
  if (version > 5) return fmt::format("what version {} changes is not known", version);
  const std::string difference = DifferenceOfVersion5(key);
  return difference.empty() ? "" : "version 5 differs: " + difference;
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
    if (Key(std::string(task.name)) != key) continue;
    CheckVersion(name, task.name);
    return MakeMujocoFactory(task);
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
