#include "core/logs/log_keys.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "core/error.h"

namespace lfiw::core {
namespace {

using Member = std::string LogKeys::*;

constexpr std::array<std::pair<std::string_view, Member>, 12> kMapNames = {{
    {"obs", &LogKeys::observation},
    {"action", &LogKeys::action},
    {"reward", &LogKeys::reward},
    {"next_obs", &LogKeys::next_observation},
    {"terminal", &LogKeys::terminal},
    {"timeout", &LogKeys::timeout},
    {"episode_id", &LogKeys::episode_id},
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

// The first of `names` that the file has, or "".
std::string FirstOf(const ArrayStore& store, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (store.Has(name)) return name;
  }
  return "";
}

// The same among arrays of one value a step.
std::string FirstFlag(const ArrayStore& store, const std::string& reward,
                      std::initializer_list<const char*> names) {
  if (reward.empty()) return "";
  const ArrayInfo& steps = store.Info(reward);
  for (const char* name : names) {
    if (!store.Has(name) || !store.arrays().at(name).unreadable.empty()) continue;
    const ArrayInfo& info = store.Info(name);
    if (info.rows() == steps.rows() && info.row_items() == steps.row_items()) return name;
  }
  return "";
}

// An array of whole numbers, as many as there are episodes, that is named for their lengths: one of
// a number for each row of flat arrays, or for none of the first two axes of others, holds
// something else.
std::string LengthsName(const ArrayStore& store, const std::string& reward) {
  if (reward.empty()) return "";
  const ArrayInfo& steps = store.Info(reward);
  const bool two_axes = steps.shape.size() >= 2 && steps.shape[1] > 1;
  for (const char* name :
       {"lengths", "episode_lengths", "episode_length", "ep_lengths", "ep_length", "ep_lens",
        "ep_len", "traj_lengths", "traj_lens", "trajectory_lengths", "path_lengths", "seq_lengths",
        "seq_lens", "lens", "length"}) {
    if (!store.Has(name) || !store.arrays().at(name).unreadable.empty()) continue;
    const ArrayInfo& info = store.Info(name);
    if (!IsIntegerType(info.type) || info.shape.empty() || info.row_items() != 1) continue;
    const bool fits = two_axes ? info.rows() == steps.shape[0] || info.rows() == steps.shape[1]
                               : info.rows() < steps.rows();
    if (fits) return name;
  }
  return "";
}

// Flat arrays under D4RL's names or those that Gymnasium, Stable-Baselines3, CleanRL, EnvPool and
// d3rlpy give them.
LogKeys FlatNames(const ArrayStore& store) {
  const std::string reward = FirstOf(store, {"rewards", "reward", "rews", "rew"});
  return {
      .format = "D4RL",
      .observation = FirstOf(store, {"observations", "observation", "obs", "states"}),
      .action = FirstOf(store, {"actions", "action", "acts", "act"}),
      .reward = reward,
      .next_observation = FirstOf(
          store, {"next_observations", "next_observation", "next_obs", "obs_next", "next_states"}),
      .terminal = FirstOf(store, {"terminals", "terminal", "terminations", "terminated",
                                  "termination", "terminates"}),
      .timeout = FirstOf(store, {"timeouts", "timeout", "truncations", "truncated", "truncation",
                                 "truncates", "trunc"}),
      .end = FirstFlag(store, reward, {"episode_terminals", "dones", "done", "dones_float"}),
      .mask = FirstFlag(store, reward, {"masks", "mask"}),
      .episode_id = FirstFlag(store, reward, {"episode_ids", "episode_id", "episode", "traj_ids"}),
      .lengths = LengthsName(store, reward),
      .density = FirstOf(store, {"infos/action_log_probs", "behavior_log_density",
                                 "action_log_probs", "logp", "log_probs"}),
      .aux = FirstOf(store, {"infos/aux"}),
      .position = FirstOf(store, {"infos/qpos"})};
}

// Refuses flags that say that an episode ended but not why.
void RequireReasons(const ArrayStore& store, const LogKeys& keys) {
  if (!keys.terminal.empty() || !keys.timeout.empty()) return;
  if (!keys.mask.empty() && keys.end.empty()) {
    Throw<DataError>(
        "{}: array '{}' says that an episode ended, but not whether the environment ended it or a "
        "time limit cut it; save the flags as terminals or timeouts (1 - {})",
        store.path(), keys.mask, keys.mask);
  }
  if (keys.end.empty() || !keys.mask.empty()) return;
  const std::string arrays =
      fmt::format("obs={},action={},reward={}{}", keys.observation, keys.action, keys.reward,
                  keys.next_observation.empty() ? "" : ",next_obs=" + keys.next_observation);
  Throw<DataError>(
      "{}: array '{}' says that an episode ended, but not whether the environment ended it or a "
      "time limit cut it; give --map {},terminal={} or --map {},timeout={}",
      store.path(), keys.end, arrays, keys.end, arrays, keys.end);
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

// d3rlpy 2 has one array an episode and column.
void RejectOneArrayAnEpisode(const ArrayStore& store) {
  if (!HoldsAll(store, {"observations_0", "actions_0", "rewards_0"})) return;
  Throw<DataError>(
      "{}: one array an episode (observations_0, observations_1, ...), as d3rlpy 2 writes; join "
      "them with numpy.concatenate and save observations, actions, rewards, and terminals and "
      "timeouts (1 on the last step of an episode that terminated or was cut) with numpy.savez",
      store.path());
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
  for (LogKeys keys : {Lfiw(), Imitation(), Gail()}) {
    if (!HoldsAll(store, {keys.observation, keys.action, keys.reward, keys.offsets + keys.lengths}))
      continue;
    KeepPresent(store, keys);
    if (keys.format != "npz") keys.format += std::string(" ") + store.kind();
    return keys;
  }
  LogKeys flat = FlatNames(store);
  if (!flat.observation.empty() && !flat.action.empty() && !flat.reward.empty()) {
    RequireReasons(store, flat);
    flat.format += std::string(" ") + store.kind();
    return flat;
  }
  RejectOneArrayAnEpisode(store);
  std::string names;
  for (const auto& [name, info] : store.arrays()) {
    names += (names.empty() ? "" : ", ") + Quoted(name);
    if (names.size() <= 300) continue;
    names += ", ...";
    break;
  }
  Throw<DataError>(
      "{}: an {} file of no known log layout (arrays: {}); say which array is what: --map "
      "obs=KEY,action=KEY,reward=KEY,terminal=KEY",
      store.path(), store.kind(), names.empty() ? "none" : names);
}

std::vector<std::string> UnusedStepArrays(const ArrayStore& store, const LogKeys& keys) {
  const ArrayInfo& reward = store.Info(keys.reward);
  std::vector<std::string> used = {keys.end, keys.mask, keys.reward};
  for (const auto& [name, member] : kMapNames) used.push_back(keys.*member);
  std::vector<std::string> unused;
  for (const auto& [name, info] : store.arrays()) {
    if (info.shape.empty() || info.rows() != reward.rows() || !info.unreadable.empty()) continue;
    if (info.row_items() != reward.row_items()) continue;
    if (std::ranges::find(used, name) == used.end()) unused.push_back(name);
  }
  return unused;
}

}  // namespace lfiw::core
