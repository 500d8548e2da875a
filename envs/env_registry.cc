#include "envs/env_registry.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <string_view>

#include "core/error.h"
#include "core/nearest_name.h"
#include "envs/linear_gaussian_env.h"
#include "envs/mujoco_env.h"
#include "envs/task_options.h"

namespace lfiw::envs {
namespace {

// The version of Gymnasium's tasks that D4RL has collected its data in.
constexpr int kD4rlVersion = 2;

// A name taken apart.
struct EnvName {
  std::string given;
  std::string key;                        // no version, no underscores, lower case
  std::optional<int> version = {};        // as stated
  std::vector<std::string> options = {};  // "frame_skip=2"
};

EnvName ParseName(const std::string& given) {
  static const std::regex versioned("(.*)-v([0-9]{1,4})", std::regex::icase);
  static const std::regex d4rl(
      "(.*?)-(random|simple|medium|expert|medium-replay|medium-expert|full-replay)",
      std::regex::icase);
  EnvName name{.given = given, .key = given};
  std::size_t at = name.key.find(':');
  if (at != std::string::npos) {
    std::string rest = name.key.substr(at + 1);
    name.key.resize(at);
    for (at = rest.find(':'); at != std::string::npos; at = rest.find(':')) {
      name.options.push_back(rest.substr(0, at));
      rest.erase(0, at + 1);
    }
    name.options.push_back(rest);
  }
  std::smatch match;
  if (std::string text = name.key; std::regex_match(text, match, versioned)) {
    name.key = match[1];
    name.version = std::stoi(match[2]);
    text = name.key;
    // the version of a data set is not that of its environment
    if (std::regex_match(text, match, d4rl)) {
      name.key = match[1];
      name.version = kD4rlVersion;
    }
  }
  std::erase(name.key, '_');
  std::ranges::transform(name.key, name.key.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string KeyOf(std::string_view name) { return ParseName(std::string(name)).key; }

// All versions of a task, the default one first; empty where there is no such task.
std::vector<const MujocoTask*> VersionsOfTask(const EnvName& name) {
  std::vector<const MujocoTask*> versions;
  for (const MujocoTask& task : MujocoTasks()) {
    if (KeyOf(task.name) == name.key) versions.push_back(&task);
  }
  return versions;
}

std::string VersionsText(const MujocoTask& task) {
  return task.first_version == task.last_version
             ? fmt::format("{}", task.last_version)
             : fmt::format("{}-{}", task.first_version, task.last_version);
}

// The one of `versions`, which are not empty, that a name means.
const MujocoTask& ChooseVersion(const EnvName& name,
                                const std::vector<const MujocoTask*>& versions) {
  const int version = name.version.value_or(kDefaultVersion);
  int newest = 0;
  for (const MujocoTask* task : versions) {
    if (task->first_version <= version && version <= task->last_version) return *task;
    newest = std::max(newest, task->last_version);
  }
  Throw<ConfigError>("environment \"{}\": version {} is not known, the newest is {}-v{}",
                     name.given, version, versions.front()->name, newest);
}

[[noreturn]] void ThrowUnknown(const EnvName& name) {
  const std::vector<std::string> names = EnvNames();
  std::vector<std::string> keys;
  for (const std::string& known : names) keys.push_back(KeyOf(known));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  Throw<ConfigError>("unknown environment \"{}\"; did you mean {}? Known: {}", name.given,
                     names[NearestName(name.key, views).value()], fmt::join(names, ", "));
}

struct NamedTask {
  std::string name;
  MujocoTask task;
};

NamedTask Configure(const MujocoTask& task, const EnvName& name) {
  const MujocoTask changed = WithOptions(task, FullName(task), name.options);
  return {FullName(task) + OptionSuffix(task, changed), changed};
}

// What `b` does otherwise than `a`; observations aside.
std::vector<std::string> Differences(const MujocoTask& a, const MujocoTask& b) {
  std::vector<std::string> texts;
  if (!b.edited.empty() && a.edited.empty()) texts.emplace_back(b.edited);
  if (!a.edited.empty() && b.edited.empty()) {
    texts.push_back(fmt::format("it is not so that {}", a.edited));
  }
  if (a.rewards_start != b.rewards_start) {
    texts.push_back(fmt::format("distances are rewarded as they are {} a step",
                                b.rewards_start ? "before" : "after"));
  }
  if (a.CostsContacts() != b.CostsContacts()) {
    texts.push_back(
        fmt::format("contact forces cost {}", b.CostsContacts() ? "reward" : "no reward"));
  }
  if (a.healthy.any() && a.bonus_at_end != b.bonus_at_end) {
    texts.push_back(fmt::format("a step that ends the episode earns {} reward for health",
                                b.bonus_at_end ? "the" : "no"));
  }
  return texts;
}

}  // namespace

std::vector<std::string> EnvNames() {
  std::vector<std::string> names;
  for (const MujocoTask& task : MujocoTasks()) names.push_back(FullName(task));
  names.emplace_back(kLinearGaussianName);
  return names;
}

std::shared_ptr<const EnvFactory> FindEnv(const std::string& name) {
  const EnvName parsed = ParseName(name);
  if (const auto versions = VersionsOfTask(parsed); !versions.empty()) {
    const NamedTask found = Configure(ChooseVersion(parsed, versions), parsed);
    return MakeMujocoFactory(found.task, found.name);
  }
  if (KeyOf(kLinearGaussianName) != parsed.key) ThrowUnknown(parsed);
  if (!parsed.options.empty()) {
    Throw<ConfigError>("environment {}: has no options, but \"{}\" is set", kLinearGaussianName,
                       parsed.options.front());
  }
  return MakeLinearGaussianFactory(ScalarLinearGaussian());
}

std::vector<std::string> VersionsOf(const std::string& name) {
  const EnvName parsed = ParseName(name);
  const std::vector<const MujocoTask*> versions = VersionsOfTask(parsed);
  if (versions.empty()) return {FindEnv(name)->spec().name};
  std::vector<std::string> names;
  for (const MujocoTask* task : versions) {
    try {
      names.push_back(Configure(*task, parsed).name);
    } catch (const ConfigError&) {
      // the version lacks an option of another one
    }
  }
  return names;
}

std::string VersionDifference(const std::string& name, const std::string& other) {
  const EnvName a = ParseName(name), b = ParseName(other);
  if (a.key != b.key || VersionsOfTask(a).empty()) return "";
  const MujocoTask from = Configure(ChooseVersion(a, VersionsOfTask(a)), a).task;
  const MujocoTask to = Configure(ChooseVersion(b, VersionsOfTask(b)), b).task;
  std::vector<std::string> texts = Differences(from, to);
  const std::int64_t before = FindEnv(name)->spec().obs_dim;
  const std::int64_t after = FindEnv(other)->spec().obs_dim;
  if (before != after) {
    texts.insert(texts.begin(),
                 fmt::format("observations have {} numbers instead of {}", after, before));
  }
  const std::string options = OptionSuffix(from, to);
  if (texts.empty() && !options.empty()) texts.push_back("options differ" + options);
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string VersionNote(const std::string& name) {
  const EnvName parsed = ParseName(name);
  const std::vector<const MujocoTask*> versions = VersionsOfTask(parsed);
  if (parsed.version || versions.size() < 2) return "";
  std::string text = fmt::format("{0} means {0}-v{1}", versions.front()->name, kDefaultVersion);
  for (std::size_t i = 1; i < versions.size(); ++i) {
    const std::string other = FullName(*versions[i]);
    text += fmt::format("; in {} {}", other, VersionDifference(FullName(*versions[0]), other));
  }
  return text;
}

std::string VersionConflict(const std::string& used, const std::string& stated) {
  const EnvName parsed = ParseName(stated);
  if (VersionsOfTask(parsed).empty()) return "";
  std::string other;
  try {
    other = FindEnv(stated)->spec().name;
  } catch (const ConfigError& error) {
    return error.what();
  }
  const bool same_task = !used.empty() && ParseName(used).key == parsed.key;
  if (!same_task || other == used) return "";
  return fmt::format("it is of {}, but held against {}: in {} {}", other, used, other,
                     VersionDifference(used, other));
}

std::string VersionOfSizes(const EnvSpec& spec, std::int64_t obs_dim, std::int64_t action_dim) {
  const EnvName name = ParseName(spec.name);
  if (VersionsOfTask(name).empty()) return "";
  for (const std::string& other : VersionsOf(spec.name)) {
    const EnvSpec found = FindEnv(other)->spec();
    if (found.name == spec.name) continue;
    if (found.obs_dim == obs_dim && found.action_dim == action_dim) return found.name;
  }
  return "";
}

std::string SizesHint(const EnvSpec& spec, std::int64_t obs_dim, std::int64_t action_dim) {
  const std::string other = VersionOfSizes(spec, obs_dim, action_dim);
  return other.empty() ? "" : fmt::format("; {} has these sizes", other);
}

std::vector<EnvSummary> SummarizeEnvs() {
  std::vector<EnvSummary> summaries;
  for (const MujocoTask& task : MujocoTasks()) {
    const EnvSpec spec = FindEnv(FullName(task))->spec();
    summaries.push_back(
        {spec.name, VersionsText(task), spec.obs_dim, spec.action_dim, OptionNames(task)});
  }
  const EnvSpec spec = FindEnv(kLinearGaussianName)->spec();
  summaries.push_back({spec.name, "", spec.obs_dim, spec.action_dim, {}});
  return summaries;
}

}  // namespace lfiw::envs
