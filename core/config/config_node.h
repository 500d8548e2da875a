#ifndef LFIW_CORE_CONFIG_CONFIG_NODE_H_
#define LFIW_CORE_CONFIG_CONFIG_NODE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lfiw::core {

// A piece of configuration text, between YAML and the typed structs of core/config/visitor.h.
struct ConfigNode {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text = {};               // of a scalar, as written
  bool quoted = false;                 // a scalar that is text even if it looks like a number
  std::vector<std::string> keys = {};  // of a map, one per item
  std::vector<ConfigNode> items = {};
  std::string place = {};    // "file.yaml:12" or "argument 'seed=x'"
  std::string comment = {};  // documentation of a field, when written

  static ConfigNode Scalar(std::string text) { return {Kind::kScalar, std::move(text), false}; }
  static ConfigNode Text(std::string text) { return {Kind::kScalar, std::move(text), true}; }
  static ConfigNode List() { return {Kind::kList, {}, false}; }
  static ConfigNode Map() { return {Kind::kMap, {}, false}; }

  // The item of a map at `key`, or nullptr.
  const ConfigNode* Find(std::string_view key) const;
  ConfigNode* Find(std::string_view key);
  void Add(std::string key, ConfigNode item);
};

// Parses one YAML document; `source` names it in places and errors. Throws ConfigError for broken
// syntax, repeated keys, keys that are not plain text, anchors, and more than one document. Nothing
// at all is an empty map.
ConfigNode ParseYaml(const std::string& text, const std::string& source);

// Applies "key.path=value" to a map: value is YAML (a scalar, [a, b] or {a: b}; nothing after "="
// is an empty text). A number in the path indexes a list that is there. Throws ConfigError.
void ApplyOverride(ConfigNode& root, const std::string& argument);

enum class YamlComments { kOmit, kWrite };

// YAML that parses to the same values.
std::string EmitYaml(const ConfigNode& node, YamlComments comments = YamlComments::kOmit);

// JSON in one line without spaces, keys sorted, of a node whose texts are marked as quoted (as
// those written from a struct are).
std::string EmitCanonicalJson(const ConfigNode& node);

}  // namespace lfiw::core

#endif  // LFIW_CORE_CONFIG_CONFIG_NODE_H_
