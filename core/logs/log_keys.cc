#include "core/logs/log_keys.h"

#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace lfiw::core {
namespace {

using Member = std::string LogKeys::*;

constexpr std::array<std::pair<std::string_view, Member>, 11> kMapNames = {{
    {"obs", &LogKeys::observation},
    {"action", &LogKeys::action},
    {"reward", &LogKeys::reward},
    {"next_obs", &LogKeys::next_observation},
    {"terminal", &LogKeys::terminal},
    {"timeout", &LogKeys::timeout},
    {"offsets", &LogKeys::offsets},
    {"lengths", &LogKeys::lengths},
    {"density", &LogKeys::density},
    {"aux", &LogKeys::aux},
    {"position", &LogKeys::position},
}};

void SetKey(LogKeys& keys, std::string_view entry) {
  const std::size_t equals = entry.find('=');
  const std::string_view name = entry.substr(0, equals);
  for (const auto& [known, member] : kMapNames) {
    if (name != known || equals == std::string_view::npos) continue;
    keys.*member = std::string(entry.substr(equals + 1));
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [known, member] : kMapNames) names.push_back(known);
  Throw<ConfigError>("--map: '{}', expected NAME=KEY with NAME one of {}", entry,
                     fmt::join(names, ", "));
}

// The layouts that are known by their required keys; optional ones are taken when present.
LogKeys Lfiw() {
  return {.format = "npz",
          .observation = "observations",
          .action = "actions",
          .reward = "rewards",
          .terminal = "terminated",
          .offsets = "offsets",
          .density = "behavior_log_density",
          .aux = "aux"};
}

LogKeys Imitation() {
  return {.format = "imitation",
          .observation = "obs",
          .action = "acts",
          .reward = "rews",
          .terminal = "terminal",
          .offsets = "indices",
          .ends_unknown = true};
}

LogKeys Gail() {
  return {.format = "padded",
          .observation = "obs_B_T_Do",
          .action = "a_B_T_Da",
          .reward = "r_B_T",
          .lengths = "len_B"};
}

LogKeys D4rl() {
  return {.format = "D4RL",
          .observation = "observations",
          .action = "actions",
          .reward = "rewards",
          .next_observation = "next_observations",
          .terminal = "terminals",
          .timeout = "timeouts",
          .density = "infos/action_log_probs",
          .aux = "infos/aux",
          .position = "infos/qpos"};
}

// Forgets optional keys that the file lacks.
void KeepPresent(const ArrayStore& store, LogKeys& keys) {
  for (const auto& [name, member] : kMapNames) {
    if (!store.Has(keys.*member)) (keys.*member).clear();
  }
}

bool HoldsAll(const ArrayStore& store, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (!store.Has(key)) return false;
  }
  return true;
}

}  // namespace

LogKeys ParseLogMap(const std::string& map) {
  LogKeys keys{.format = "mapped"};
  std::string_view rest = map;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    SetKey(keys, rest.substr(0, comma));
    rest = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  }
  for (const auto& [name, key] :
       {std::pair{"obs", keys.observation}, std::pair{"action", keys.action},
        std::pair{"reward", keys.reward}}) {
    if (key.empty()) Throw<ConfigError>("--map '{}' lacks {}=KEY", map, name);
  }
  return keys;
}

LogKeys RecognizeLogKeys(const ArrayStore& store) {
  for (LogKeys keys : {Lfiw(), Imitation(), Gail(), D4rl()}) {
    std::vector<std::string> needed = {keys.observation, keys.action, keys.reward};
    if (keys.format != "D4RL") needed.push_back(keys.offsets + keys.lengths);
    if (!HoldsAll(store, needed)) continue;
    KeepPresent(store, keys);
    if (keys.format != "npz") keys.format += std::string(" ") + store.kind();
    return keys;
  }
  std::string names;
  for (const auto& [name, info] : store.arrays()) {
    names += (names.empty() ? "" : ", ") + name;
    if (names.size() <= 300) continue;
    names += ", ...";
    break;
  }
  Throw<DataError>(
      "{}: an {} file of no known log layout (arrays: {}); say which array is what: --map "
      "obs=KEY,action=KEY,reward=KEY,terminal=KEY",
      store.path(), store.kind(), names.empty() ? "none" : names);
}

}  // namespace lfiw::core
