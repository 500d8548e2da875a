#ifndef LFIW_CORE_CONFIG_CONFIG_H_
#define LFIW_CORE_CONFIG_CONFIG_H_

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config/config_node.h"
#include "core/config/visitor.h"

namespace lfiw::core {

// Strict configuration on top of core/config/visitor.h. In short:
//
//   auto config = LoadConfig<EvaluationConfig>("half_cheetah.yaml", {"value.horizon=50"});
//   std::string resolved = DumpConfig(config);       // loads back to the same values
//   std::string key = Sha256Hex(CanonicalText(config));

namespace internal {

template <class T>
concept Struct = requires(T& t, struct AnyVisitor& v) {
  &T::template Visit<AnyVisitor>;
};
template <class T>
concept Enum = std::is_enum_v<T>;
class ConfigProblems;
// A type that reads and writes its own node: what may stand there is known only when it runs.
template <class T>
concept NodeField = requires(T& t, const ConfigNode& node, const std::string& path,
                             ConfigProblems& problems) {
  t.ReadNode(node, path, problems);
  { std::as_const(t).WriteNode() } -> std::same_as<ConfigNode>;
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Everything wrong with a file, gathered to be told in one go.
class ConfigProblems {
 public:
  // What a value is and what it should have been.
  void WrongValue(const ConfigNode& node, const std::string& path, const std::string& expected);
  // `siblings` are the right keys at this place.
  void UnknownKey(const ConfigNode& node, const std::string& path, std::string_view key,
                  std::span<const std::string_view> siblings);

  // Throws a ConfigError with one line per problem, if there are any. `all_paths` are all dotted
  // paths of the struct, to tell where a misplaced key belongs.
  void Throw(std::span<const std::string> all_paths) const;

 private:
  struct Problem {
    std::string text;
    std::string unknown_key;  // with no near sibling; empty for others
  };
  std::vector<Problem> problems_;
};

// Parse the text of a scalar; nothing if it is not of the type. Numbers may have underscores
// between digits; integers may be written as 1e6.
std::optional<bool> ParseBool(const ConfigNode& node);
std::optional<std::int64_t> ParseInteger(const ConfigNode& node);
std::optional<std::uint64_t> ParseUnsigned(const ConfigNode& node);
std::optional<double> ParseDouble(const ConfigNode& node);  // may be infinite, never NaN

bool IsWithin(double value, const Limits& limits);
// "integer >= 1", "number in [0, 1]".
std::string DescribeNumber(std::string_view kind, const Limits& limits);
std::string DescribeChoice(std::span<const std::string_view> names);
// Shortest text that reads back to the same double.
std::string FormatDouble(double value);

template <class E>
std::vector<std::string_view> NamesOf() {
  const auto names = EnumNames(E{});
  return {names.begin(), names.end()};
}

inline std::string JoinPath(const std::string& path, std::string_view key) {
  return path.empty() ? std::string(key) : path + "." + std::string(key);
}

// What visits a field is kept out of line, as no program waits for it: a struct's Visit is then a
// list of calls, which compiles several times as fast.

// Reads the fields of one struct from a map.
class ConfigReader {
 public:
  ConfigReader(const ConfigNode& node, std::string path, ConfigProblems& problems)
      : node_(node), path_(std::move(path)), problems_(problems) {}

  template <class T>
  [[gnu::noinline, gnu::cold]] void Field(std::string_view name, T& value, std::string_view /*doc*/,
                                          Limits limits = {}) {
    names_.push_back(name);
    if (const ConfigNode* item = node_.Find(name)) {
      Read(*item, JoinPath(path_, name), value, limits);
    }
  }

  // Reports the keys that no field has asked for.
  void Finish() const;

  template <class T>
  [[gnu::noinline, gnu::cold]] static void ReadStruct(const ConfigNode& node,
                                                      const std::string& path, T& value,
                                                      ConfigProblems& problems) {
    // an empty section keeps the defaults
    if (node.kind == ConfigNode::Kind::kNull) return;
    if (node.kind != ConfigNode::Kind::kMap) {
      problems.WrongValue(node, path, "a map of fields");
      return;
    }
    ConfigReader reader(node, path, problems);
    value.Visit(reader);
    reader.Finish();
  }

 private:
  template <class T>
  void Read(const ConfigNode& node, const std::string& path, T& value, const Limits& limits) {
    if constexpr (NodeField<T>) {
      value.ReadNode(node, path, problems_);
    } else if constexpr (Struct<T>) {
      ReadStruct(node, path, value, problems_);
    } else if constexpr (IsOptional<T>::value) {
      ReadOptional(node, path, value, limits);
    } else if constexpr (IsVector<T>::value) {
      ReadList(node, path, value, limits);
    } else if constexpr (Enum<T>) {
      ReadEnum(node, path, value);
    } else {
      ReadScalar(node, path, value, limits);
    }
  }

  template <class T>
  void ReadOptional(const ConfigNode& node, const std::string& path, std::optional<T>& value,
                    const Limits& limits) {
    if (node.kind == ConfigNode::Kind::kNull) {
      value.reset();
      return;
    }
    T item{};
    Read(node, path, item, limits);
    value = std::move(item);
  }

  template <class T>
  void ReadList(const ConfigNode& node, const std::string& path, std::vector<T>& value,
                const Limits& limits) {
    if (node.kind != ConfigNode::Kind::kList) {
      problems_.WrongValue(node, path, "a list such as [a, b]");
      return;
    }
    value.clear();
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      T item{};
      Read(node.items[i], JoinPath(path, std::to_string(i)), item, limits);
      value.push_back(std::move(item));
    }
  }

  template <Enum E>
  void ReadEnum(const ConfigNode& node, const std::string& path, E& value) {
    const std::vector<std::string_view> names = NamesOf<E>();
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (node.kind == ConfigNode::Kind::kScalar && node.text == names[i]) {
        value = static_cast<E>(i);
        return;
      }
    }
    if constexpr (requires { OtherEnumNames(E{}); }) {
      const auto others = OtherEnumNames(E{});
      const auto other = std::find(others.begin(), others.end(), node.text);
      if (node.kind == ConfigNode::Kind::kScalar && other != others.end()) {
        value = static_cast<E>(other - others.begin());
        return;
      }
    }
    problems_.WrongValue(node, path, DescribeChoice(names));
  }

  void ReadScalar(const ConfigNode& node, const std::string& path, bool& value, const Limits&);
  void ReadScalar(const ConfigNode& node, const std::string& path, std::string& value,
                  const Limits&);
  void ReadScalar(const ConfigNode& node, const std::string& path, double& value,
                  const Limits& limits);
  void ReadScalar(const ConfigNode& node, const std::string& path, float& value,
                  const Limits& limits);

  template <std::integral T>
  requires(!std::same_as<T, bool>) void ReadScalar(const ConfigNode& node, const std::string& path,
                                                   T& value, const Limits& limits) {
    const auto number = [&] {
      if constexpr (std::is_signed_v<T>) {
        return ParseInteger(node);
      } else {
        return ParseUnsigned(node);
      }
    }();
    if (number && std::in_range<T>(*number) && IsWithin(static_cast<double>(*number), limits)) {
      value = static_cast<T>(*number);
      return;
    }
    const std::optional<double> real = limits.infinity_allowed ? ParseDouble(node) : std::nullopt;
    if (real && *real == std::numeric_limits<double>::infinity()) {
      value = std::numeric_limits<T>::max();
      return;
    }
    const Limits shown = std::is_signed_v<T> || limits.low >= 0.0 ? limits : AtLeast(0);
    problems_.WrongValue(node, path, "an " + DescribeNumber("integer", shown));
  }

  const ConfigNode& node_;
  std::string path_;
  ConfigProblems& problems_;
  std::vector<std::string_view> names_;
};

// Writes the fields of one struct to a map, with their documentation as comments.
class ConfigWriter {
 public:
  template <class T>
  [[gnu::noinline, gnu::cold]] void Field(std::string_view name, T& value, std::string_view doc,
                                          Limits limits = {}) {
    ConfigNode item = Write(value);
    if constexpr (std::integral<T>) {
      if (limits.infinity_allowed && value == std::numeric_limits<T>::max()) {
        item = WriteDouble(std::numeric_limits<double>::infinity());
      }
    }
    Add(name, std::move(item), doc, DescribeType<T>(limits));
  }

  template <class T>
  [[gnu::noinline, gnu::cold]] static ConfigNode WriteStruct(T& value) {
    ConfigWriter writer;
    value.Visit(writer);
    return std::move(writer.map_);
  }

 private:
  template <class T>
  static ConfigNode Write(T& value) {
    if constexpr (NodeField<T>) {
      return value.WriteNode();
    } else if constexpr (Struct<T>) {
      return WriteStruct(value);
    } else if constexpr (IsOptional<T>::value) {
      return value ? Write(*value) : ConfigNode{};
    } else if constexpr (IsVector<T>::value) {
      ConfigNode list = ConfigNode::List();
      for (auto item : value) list.items.push_back(Write(item));
      return list;
    } else if constexpr (Enum<T>) {
      return ConfigNode::Text(std::string(EnumName(value)));
    } else if constexpr (std::same_as<T, std::string>) {
      return ConfigNode::Text(value);
    } else if constexpr (std::same_as<T, bool>) {
      return ConfigNode::Scalar(value ? "true" : "false");
    } else if constexpr (std::integral<T>) {
      return ConfigNode::Scalar(std::to_string(value));
    } else {
      return WriteDouble(static_cast<double>(value));
    }
  }

  // Adds a field with the comment "doc (type)".
  void Add(std::string_view name, ConfigNode item, std::string_view doc, const std::string& type);

  static ConfigNode WriteDouble(double value);

  // What may be written besides what the default shows.
  template <class T>
  static std::string DescribeType(const Limits& limits) {
    if constexpr (IsOptional<T>::value) {
      const std::string type = DescribeType<typename T::value_type>(limits);
      return type.empty() ? "or null" : type + " or null";
    } else if constexpr (IsVector<T>::value) {
      const std::string type = DescribeType<typename T::value_type>(limits);
      return type.empty() ? "list" : "list of " + type;
    } else if constexpr (Enum<T>) {
      return DescribeChoice(NamesOf<T>());
    } else if constexpr (std::same_as<T, bool> || Struct<T> || NodeField<T> ||
                         std::same_as<T, std::string>) {
      return "";
    } else {
      return DescribeNumber(std::integral<T> ? "integer" : "number", limits);
    }
  }

  ConfigNode map_ = ConfigNode::Map();
};

// Reads `path`, which may be empty for none, and applies `overrides` in order.
ConfigNode LoadNode(const std::string& path, const std::vector<std::string>& overrides);

// The dotted paths of all fields of a written struct that stands at `path`.
std::vector<std::string> AllPaths(const ConfigNode& node, const std::string& path = "");

}  // namespace internal

// Fills the fields that `node` names; the others keep the values they have in `config`. Throws
// ConfigError with one line for every field that is wrong: unknown or misspelled, of the wrong
// type, outside its limits.
template <class T>
void ReadConfig(const ConfigNode& node, T& config) {
  internal::ConfigProblems problems;
  const std::vector<std::string> known =
      internal::AllPaths(internal::ConfigWriter::WriteStruct(config));
  internal::ConfigReader::ReadStruct(node, "", config, problems);
  problems.Throw(known);
}

// Reads a YAML file (none if `path` is empty) over the defaults of T, then overrides such as
// "value.horizon=50" or "estimators.alphas=[1, 0.5]", in order.
template <class T>
T LoadConfig(const std::string& path, const std::vector<std::string>& overrides = {}) {
  T config;
  ReadConfig(internal::LoadNode(path, overrides), config);
  return config;
}

// The same over `defaults_for(read)`, where `read` is what the file and the overrides give over T's
// own defaults: for structs with a field that chooses the defaults of the others.
template <class T, class Defaults>
T LoadConfig(const std::string& path, const std::vector<std::string>& overrides,
             const Defaults& defaults_for) {
  const ConfigNode node = internal::LoadNode(path, overrides);
  T read;
  ReadConfig(node, read);
  T config = defaults_for(std::as_const(read));
  ReadConfig(node, config);
  return config;
}

// The same for structs whose field `preset` chooses the defaults, which T::DefaultsOf returns.
template <class T>
T LoadWithPreset(const std::string& path, const std::vector<std::string>& overrides = {}) {
  return LoadConfig<T>(path, overrides, [](const T& read) { return T::DefaultsOf(read.preset); });
}

// YAML with every field, which loads back to exactly the same values.
template <class T>
std::string DumpConfig(T config) {
  return EmitYaml(internal::ConfigWriter::WriteStruct(config));
}

// The same with what each field means and may be, to be read by people.
template <class T>
std::string DescribeConfig(T config = {}) {
  return EmitYaml(internal::ConfigWriter::WriteStruct(config), YamlComments::kWrite);
}

// One text per set of values, whatever the order of the fields in the struct; for hashing.
template <class T>
std::string CanonicalText(T config) {
  return EmitCanonicalJson(internal::ConfigWriter::WriteStruct(config));
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_CONFIG_CONFIG_H_
