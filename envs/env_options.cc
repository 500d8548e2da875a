#include "envs/env_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "envs/task_options.h"

namespace lfiw::envs {
namespace {

bool IsOptionScalar(const ConfigNode& node) {
  return node.kind == ConfigNode::Kind::kScalar &&
         (core::internal::ParseBool(node) || core::internal::ParseDouble(node));
}

bool IsOptionValue(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kList) return IsOptionScalar(node);
  return std::ranges::all_of(node.items, IsOptionScalar);
}

}  // namespace

std::string EnvOptions::AppendedTo(const std::string& name) const {
  std::string text = name;
  for (std::size_t i = 0; i < options_.keys.size(); ++i) {
    text += fmt::format(":{}={}", options_.keys[i], OptionText(options_.items[i]));
  }
  return text;
}

void EnvOptions::ReadNode(const ConfigNode& node, const std::string& path,
                          core::internal::ConfigProblems& problems) {
  if (node.kind == ConfigNode::Kind::kNull) return;
  if (node.kind != ConfigNode::Kind::kMap) {
    problems.WrongValue(node, path, "a map of options, such as {frame_skip: 2}");
    return;
  }
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    if (!IsOptionValue(node.items[i])) {
      problems.WrongValue(node.items[i], core::internal::JoinPath(path, node.keys[i]),
                          "a number, true, false or a range [low, high]");
      continue;
    }
    if (ConfigNode* old = options_.Find(node.keys[i])) {
      *old = node.items[i];
    } else {
      options_.Add(node.keys[i], node.items[i]);
    }
  }
}

}  // namespace lfiw::envs
