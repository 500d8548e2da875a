#include "envs/task_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/config/any_options.h"

namespace lfiw::envs {
std::vector<std::string> OptionNames(const MujocoTask& task) {
  return AnyOptions(TaskOptions{task}).WriteNode().keys;
}

MujocoTask WithOptions(const MujocoTask& task, const std::string& name,
                       const std::vector<std::string>& options) {
  const std::vector<std::string> known = OptionNames(task);
  ConfigNode given = ConfigNode::Map();
  for (const std::string& option : options) {
    const std::string key = option.substr(0, option.find('='));
    if (std::ranges::find(known, key) == known.end()) {
      Throw<ConfigError>("environment {}: has no option \"{}\"; it has {}", name, key,
                         fmt::join(known, ", "));
    }
    if (key.size() == option.size()) {
      Throw<ConfigError>("environment {}: option {} has no value, expected {}=VALUE", name, key,
                         key);
    }
    ApplyOverride(given, option);
  }
  AnyOptions read(TaskOptions{task});
  ReadOptions(given, "environment_options", read);
  return read.As<TaskOptions>().task;
}

std::string OptionText(const ConfigNode& value) {
  if (value.kind != ConfigNode::Kind::kList) return value.text;
  std::vector<std::string> items;
  for (const ConfigNode& item : value.items) items.push_back(item.text);
  return fmt::format("[{}]", fmt::join(items, ","));
}

std::string OptionSuffix(const MujocoTask& task, const MujocoTask& changed) {
  const ConfigNode from = AnyOptions(TaskOptions{task}).WriteNode();
  const ConfigNode to = AnyOptions(TaskOptions{changed}).WriteNode();
  std::string suffix;
  for (std::size_t i = 0; i < to.keys.size(); ++i) {
    const std::string text = OptionText(to.items[i]);
    const ConfigNode* before = from.Find(to.keys[i]);
    if (before != nullptr && OptionText(*before) == text) continue;
    suffix += fmt::format(":{}={}", to.keys[i], text);
  }
  return suffix;
}

}  // namespace lfiw::envs
