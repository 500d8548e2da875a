#include "core/config/any_options.h"

#include <span>
#include <string_view>
#include <vector>

namespace lfiw::core {
namespace {

// Appends "path=value" of every leaf of `to` that is another one in `from`.
void AppendDifferences(const ConfigNode& from, const ConfigNode& to, const std::string& path,
                       std::vector<std::string>& out) {
  const bool maps = from.kind == ConfigNode::Kind::kMap && to.kind == ConfigNode::Kind::kMap;
  if (maps) {
    for (std::size_t i = 0; i < to.keys.size(); ++i) {
      const ConfigNode* old = from.Find(to.keys[i]);
      AppendDifferences(old == nullptr ? ConfigNode{} : *old, to.items[i],
                        internal::JoinPath(path, to.keys[i]), out);
    }
    return;
  }
  if (EmitCanonicalJson(from) == EmitCanonicalJson(to)) return;
  std::string text = EmitYaml(to);
  while (text.ends_with('\n')) text.pop_back();
  out.push_back(path + "=" + text);
}

}  // namespace

void AnyOptions::ReadNode(const ConfigNode& node, const std::string& path,
                          internal::ConfigProblems& problems) {
  if (!empty()) {
    read_(node, path, value_, problems);
    return;
  }
  if (node.kind == ConfigNode::Kind::kNull) return;
  if (node.kind != ConfigNode::Kind::kMap || !node.items.empty()) {
    problems.WrongValue(node, path, "nothing: there are no options");
  }
}

ConfigNode AnyOptions::WriteNode() const { return empty() ? ConfigNode::Map() : write_(value_); }

void ReadOptions(const ConfigNode& node, const std::string& path, AnyOptions& options) {
  internal::ConfigProblems problems;
  const std::vector<std::string> known = internal::AllPaths(options.WriteNode(), path);
  options.ReadNode(node, path, problems);
  problems.Throw(known);
}

std::string DescribeDifferences(const AnyOptions& from, const AnyOptions& to) {
  std::vector<std::string> differences;
  AppendDifferences(from.WriteNode(), to.WriteNode(), "", differences);
  return fmt::format("{}", fmt::join(differences, " "));
}

}  // namespace lfiw::core
