#include "core/config/config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/nearest_name.h"
#include "core/run/atomic_file.h"

namespace lfiw::core::internal {
namespace {

constexpr std::int64_t kMaxConfigBytes = 1 << 20;

// The candidate that a misspelled key most likely means; empty if none is near.
std::string_view Nearest(std::string_view key, std::span<const std::string_view> candidates) {
  const std::size_t near = std::max<std::size_t>(2, key.size() / 3);
  const std::optional<std::size_t> nearest = NearestName(key, candidates, near);
  return nearest ? candidates[*nearest] : std::string_view();
}

std::string_view LastComponent(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// What a node holds, for messages.
std::string Show(const ConfigNode& node) {
  switch (node.kind) {
    case ConfigNode::Kind::kNull:
      return "nothing";
    case ConfigNode::Kind::kScalar:
      return fmt::format("'{}'", node.text.substr(0, 60));
    case ConfigNode::Kind::kList:
      return fmt::format("a list of {}", node.items.size());
    case ConfigNode::Kind::kMap:
      return "a map";
  }
  return "";
}

// The text of a number without the underscores between its digits and a leading plus; nothing if
// it cannot be a number.
std::optional<std::string> NumberText(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kScalar || node.quoted) return std::nullopt;
  const auto is_digit = [&](std::size_t i) {
    return i < node.text.size() && node.text[i] >= '0' && node.text[i] <= '9';
  };
  std::string text;
  for (std::size_t i = 0; i < node.text.size(); ++i) {
    if (node.text[i] != '_') {
      text += node.text[i];
    } else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) {
      return std::nullopt;
    }
  }
  if (text.starts_with('+')) text.erase(0, 1);
  if (text.empty()) return std::nullopt;
  return text;
}

// std::from_chars on a whole text.
template <class T>
std::optional<T> ParseWhole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> ParseWholeNumber(const ConfigNode& node) {
  const std::optional<std::string> text = NumberText(node);
  if (!text) return std::nullopt;
  if (const std::optional<T> exact = ParseWhole<T>(*text)) return exact;
  // 1e6: a double that is an integer, and small enough to be that integer exactly
  const std::optional<double> number = ParseWhole<double>(*text);
  constexpr double kExact = 0x1p53;
  if (!number || std::abs(*number) > kExact || std::trunc(*number) != *number ||
      text->find_first_of("eE") == std::string::npos || (std::is_unsigned_v<T> && *number < 0)) {
    return std::nullopt;
  }
  return static_cast<T>(*number);
}

void CollectPaths(const ConfigNode& node, const std::string& prefix,
                  std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < node.keys.size(); ++i) {
    const std::string path = JoinPath(prefix, node.keys[i]);
    paths.push_back(path);
    CollectPaths(node.items[i], path, paths);
  }
}

}  // namespace

void ConfigProblems::WrongValue(const ConfigNode& node, const std::string& path,
                                const std::string& expected) {
  problems_.push_back({fmt::format("{}: {}: got {}, expected {}", node.place,
                                   path.empty() ? "the file" : path, Show(node), expected),
                       ""});
}

void ConfigProblems::UnknownKey(const ConfigNode& node, const std::string& path,
                                std::string_view key, std::span<const std::string_view> siblings) {
  const std::string text = fmt::format("{}: {}: unknown key", node.place, JoinPath(path, key));
  if (const std::string_view near = Nearest(key, siblings); !near.empty()) {
    problems_.push_back({fmt::format("{}; did you mean '{}'?", text, JoinPath(path, near)), ""});
  } else {
    problems_.push_back(
        {fmt::format("{}; known here: {}", text, fmt::join(siblings, ", ")), std::string(key)});
  }
}

void ConfigProblems::Throw(std::span<const std::string> all_paths) const {
  if (problems_.empty()) return;
  std::vector<std::string> lines;
  for (const Problem& problem : problems_) {
    const auto elsewhere =
        std::find_if(all_paths.begin(), all_paths.end(), [&](const std::string& path) {
          return !problem.unknown_key.empty() && LastComponent(path) == problem.unknown_key;
        });
    const bool misplaced = elsewhere != all_paths.end();
    const std::string_view text = problem.text;
    lines.push_back(misplaced ? fmt::format("{}; did you mean '{}'?",
                                            text.substr(0, text.rfind("; known here")), *elsewhere)
                              : problem.text);
  }
  throw ConfigError(fmt::format("{}", fmt::join(lines, "\n")));
}

std::optional<bool> ParseBool(const ConfigNode& node) {
  if (node.kind != ConfigNode::Kind::kScalar || node.quoted) return std::nullopt;
  if (node.text == "true") return true;
  if (node.text == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> ParseInteger(const ConfigNode& node) {
  return ParseWholeNumber<std::int64_t>(node);
}

std::optional<std::uint64_t> ParseUnsigned(const ConfigNode& node) {
  return ParseWholeNumber<std::uint64_t>(node);
}

std::optional<double> ParseDouble(const ConfigNode& node) {
  const std::optional<std::string> text = NumberText(node);
  if (!text) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (*text == "inf" || *text == ".inf") return kInfinity;
  if (*text == "-inf" || *text == "-.inf") return -kInfinity;
  const std::optional<double> value = ParseWhole<double>(*text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

bool IsWithin(double value, const Limits& limits) {
  if (std::isinf(value) && !limits.infinity_allowed) return false;
  return (limits.low_open ? value > limits.low : value >= limits.low) && value <= limits.high;
}

std::string DescribeNumber(std::string_view kind, const Limits& limits) {
  std::string text(kind);
  if (std::isfinite(limits.low) && std::isfinite(limits.high)) {
    text += fmt::format(" in {}{}, {}]", limits.low_open ? '(' : '[', limits.low, limits.high);
  } else if (std::isfinite(limits.low)) {
    text += fmt::format(" {} {}", limits.low_open ? ">" : ">=", limits.low);
  } else if (std::isfinite(limits.high)) {
    text += fmt::format(" <= {}", limits.high);
  }
  return limits.infinity_allowed ? text + " or inf" : text;
}

std::string DescribeChoice(std::span<const std::string_view> names) {
  return fmt::format("one of {}", fmt::join(names, ", "));
}

std::string FormatDouble(double value) {
  std::string text = fmt::format("{}", value);
  // 100000.0 says no more than 100000
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

void ConfigReader::Finish() const {
  for (std::size_t i = 0; i < node_.keys.size(); ++i) {
    if (std::find(names_.begin(), names_.end(), node_.keys[i]) == names_.end()) {
      problems_.UnknownKey(node_.items[i], path_, node_.keys[i], names_);
    }
  }
}

void ConfigReader::ReadScalar(const ConfigNode& node, const std::string& path, bool& value,
                              const Limits&) {
  if (const std::optional<bool> parsed = ParseBool(node)) {
    value = *parsed;
  } else {
    problems_.WrongValue(node, path, "true or false");
  }
}

void ConfigReader::ReadScalar(const ConfigNode& node, const std::string& path, std::string& value,
                              const Limits&) {
  if (node.kind == ConfigNode::Kind::kScalar) {
    value = node.text;
  } else {
    problems_.WrongValue(node, path, "a text ('' for none)");
  }
}

void ConfigReader::ReadScalar(const ConfigNode& node, const std::string& path, double& value,
                              const Limits& limits) {
  const std::optional<double> number = ParseDouble(node);
  if (number && IsWithin(*number, limits)) {
    value = *number;
  } else {
    problems_.WrongValue(node, path, "a " + DescribeNumber("number", limits));
  }
}

void ConfigReader::ReadScalar(const ConfigNode& node, const std::string& path, float& value,
                              const Limits& limits) {
  double number = value;
  ReadScalar(node, path, number, limits);
  value = static_cast<float>(number);
}

void ConfigWriter::Add(std::string_view name, ConfigNode item, std::string_view doc,
                       const std::string& type) {
  item.comment = doc;
  if (!type.empty()) item.comment += " (" + type + ")";
  map_.Add(std::string(name), std::move(item));
}

ConfigNode ConfigWriter::WriteDouble(double value) {
  // .inf is YAML's own word; JSON has none
  if (std::isinf(value)) return ConfigNode::Scalar(value > 0 ? ".inf" : "-.inf");
  return ConfigNode::Scalar(FormatDouble(value));
}

ConfigNode LoadNode(const std::string& path, const std::vector<std::string>& overrides) {
  ConfigNode root = ConfigNode::Map();
  if (!path.empty()) root = ParseYaml(ReadFile(path, kMaxConfigBytes), path);
  for (const std::string& argument : overrides) ApplyOverride(root, argument);
  return root;
}

std::vector<std::string> AllPaths(const ConfigNode& node, const std::string& path) {
  std::vector<std::string> paths;
  CollectPaths(node, path, paths);
  return paths;
}

}  // namespace lfiw::core::internal
