#include "core/config/config_node.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "core/index_list.h"

namespace lfiw::core {
namespace {

using Kind = ConfigNode::Kind;

// Deep nesting is a mistake or an attack, and the tree is walked recursively.
constexpr std::size_t kMaxYamlDepth = 64;

// Builds the tree from the events of yaml-cpp's parser, which unlike its own nodes keep the line of
// everything and let repeated keys be seen.
class TreeBuilder : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string source) : source_(std::move(source)) {}

  ConfigNode Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value(mark, anchor, ConfigNode{});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RejectAnchor(mark, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    // "?" marks plain text, "!" quoted text
    if (tag != "?" && tag != "!") Fail(mark, fmt::format("the tag {} is not supported", tag));
    Level* level = open_.empty() ? nullptr : &open_.back();
    if (level != nullptr && level->node.kind == Kind::kMap && !level->has_key) {
      RejectAnchor(mark, anchor);
      if (level->node.Find(value) != nullptr) Fail(mark, fmt::format("key '{}' twice", value));
      level->key = value;
      level->has_key = true;
      return;
    }
    Value(mark, anchor, tag == "!" ? ConfigNode::Text(value) : ConfigNode::Scalar(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, ConfigNode::List());
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor, ConfigNode::Map());
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    ConfigNode node;
    std::string key;
    bool has_key = false;
  };

  std::string Place(const YAML::Mark& mark) const {
    return fmt::format("{}:{}", source_, mark.line + 1);
  }
  [[noreturn]] void Fail(const YAML::Mark& mark, const std::string& what) const {
    Throw<ConfigError>("{}: {}", Place(mark), what);
  }
  void RejectAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) Fail(mark, "anchors and aliases are not supported");
  }

  void Value(const YAML::Mark& mark, YAML::anchor_t anchor, ConfigNode node) {
    RejectAnchor(mark, anchor);
    CheckKey(mark);
    node.place = Place(mark);
    Attach(std::move(node));
  }
  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, ConfigNode node) {
    RejectAnchor(mark, anchor);
    CheckKey(mark);
    if (open_.size() == kMaxYamlDepth) Fail(mark, "nested too deeply");
    node.place = Place(mark);
    open_.push_back({std::move(node), {}, false});
  }
  void Close() {
    ConfigNode node = std::move(open_.back().node);
    open_.pop_back();
    Attach(std::move(node));
  }
  void CheckKey(const YAML::Mark& mark) const {
    if (!open_.empty() && open_.back().node.kind == Kind::kMap && !open_.back().has_key) {
      Fail(mark, "a key that is not a plain text");
    }
  }
  void Attach(ConfigNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Level& level = open_.back(); level.node.kind == Kind::kMap) {
      level.node.Add(std::move(level.key), std::move(node));
      level.has_key = false;
    } else {
      level.node.items.push_back(std::move(node));
    }
  }

  std::string source_;
  std::vector<Level> open_;
  ConfigNode root_;
};

void SetPlace(ConfigNode& node, const std::string& place) {
  node.place = place;
  for (ConfigNode& item : node.items) SetPlace(item, place);
}

// The item of a list that a component of an override's path names.
ConfigNode& ListItem(ConfigNode& list, const std::string& index, const std::string& place) {
  std::size_t i = 0;
  const char* last = index.data() + index.size();
  const auto [end, error] = std::from_chars(index.data(), last, i);
  if (error != std::errc() || end != last || i >= list.items.size()) {
    Throw<ConfigError>("{}: '{}' is no index of a list of {}", place, index, list.items.size());
  }
  return list.items[i];
}

std::string JsonQuoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Whether a text stands for itself in YAML without quotes.
bool IsPlainText(const std::string& text) {
  constexpr std::array<std::string_view, 10> kWords = {"null", "true", "false", "yes", "no",
                                                       "on",   "off",  "nan",   "inf", "y"};
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto safe = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '/' || c == '.' || c == '-';
  };
  const auto starts = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_' || c == '/'; };
  return !text.empty() && starts(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), safe) &&
         std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

// Whether a scalar is a number, true or the like, which quotes would turn into text.
bool IsBareWord(const ConfigNode& node) {
  return !node.quoted && !node.text.empty() &&
         node.text.find_first_not_of(
             "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             "+-._") == std::string::npos;
}

// A node that fits on the line of its key.
std::string Inline(const ConfigNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "null";
    case Kind::kScalar:
      return IsPlainText(node.text) || IsBareWord(node) ? node.text : JsonQuoted(node.text);
    case Kind::kMap:
      LFIW_ASSERT(node.items.empty());
      return "{}";
    case Kind::kList:
      break;
  }
  std::vector<std::string> items;
  for (const ConfigNode& item : node.items) items.push_back(Inline(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

bool FitsInline(const ConfigNode& node) {
  if (node.kind == Kind::kMap) return node.items.empty();
  return std::all_of(node.items.begin(), node.items.end(), FitsInline);
}

// Writes nodes in block style, comments in one column.
class YamlWriter {
 public:
  explicit YamlWriter(YamlComments comments) : comments_(comments) {}

  std::string Write(const ConfigNode& node) {
    if (FitsInline(node)) return Inline(node) + "\n";
    Items(node, 0, "");
    return std::move(out_);
  }

 private:
  // `lead` starts the first line in place of its indentation ("  - " for maps in lists).
  void Items(const ConfigNode& node, std::size_t indent, std::string lead) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const ConfigNode& item = node.items[i];
      std::string line = lead.empty() ? std::string(indent, ' ') : lead;
      lead.clear();
      const bool is_map = node.kind == Kind::kMap;
      line += is_map ? Inline(ConfigNode::Text(node.keys[i])) + ":" : "-";
      if (FitsInline(item)) {
        Line(line + " " + Inline(item), item.comment);
      } else if (is_map) {
        Line(line, item.comment);
        Items(item, indent + 2, "");
      } else {
        Items(item, indent + 2, line + " ");
      }
    }
  }

  void Line(std::string line, const std::string& comment) {
    constexpr std::size_t kColumn = 36;
    if (comments_ == YamlComments::kWrite && !comment.empty()) {
      line.resize(std::max(line.size() + 2, kColumn), ' ');
      line += "# " + comment;
    }
    out_ += line + "\n";
  }

  YamlComments comments_;
  std::string out_;
};

}  // namespace

const ConfigNode* ConfigNode::Find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

ConfigNode* ConfigNode::Find(std::string_view key) {
  return const_cast<ConfigNode*>(std::as_const(*this).Find(key));
}

void ConfigNode::Add(std::string key, ConfigNode item) {
  keys.push_back(std::move(key));
  items.push_back(std::move(item));
}

ConfigNode ParseYaml(const std::string& text, const std::string& source) {
  std::istringstream stream(text);
  TreeBuilder builder(source);
  try {
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return ConfigNode::Map();
    ConfigNode root = builder.Take();
    if (parser.HandleNextDocument(builder)) {
      Throw<ConfigError>("{}: more than one document", source);
    }
    return root;
  } catch (const YAML::Exception& e) {
    Throw<ConfigError>("{}:{}: {}", source, e.mark.line + 1, e.msg);
  }
}

void ApplyOverride(ConfigNode& root, const std::string& argument) {
  const std::string place = fmt::format("argument '{}'", argument);
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    Throw<ConfigError>("{}: expected key.path=value", place);
  }
  ConfigNode value = equals + 1 == argument.size() ? ConfigNode::Text("")
                                                   : ParseYaml(argument.substr(equals + 1), place);
  SetPlace(value, place);

  ConfigNode* node = &root;
  std::istringstream path(argument.substr(0, equals));
  for (std::string key; std::getline(path, key, '.');) {
    if (node->kind == Kind::kList) {
      node = &ListItem(*node, key, place);
      continue;
    }
    if (node->kind == Kind::kNull) *node = ConfigNode::Map();
    if (node->kind != Kind::kMap) {
      Throw<ConfigError>("{}: '{}' is inside a plain value ({})", place, key, node->place);
    }
    if (node->place.empty()) node->place = place;
    if (node->Find(key) == nullptr) node->Add(key, ConfigNode{});
    node = node->Find(key);
  }
  *node = std::move(value);
}

std::string EmitYaml(const ConfigNode& node, YamlComments comments) {
  return YamlWriter(comments).Write(node);
}

std::string EmitCanonicalJson(const ConfigNode& node) {
  if (node.kind == Kind::kNull) return "null";
  if (node.kind == Kind::kScalar) {
    // JSON has no word for infinity
    const bool infinite = node.text == ".inf" || node.text == "-.inf";
    return node.quoted || infinite ? JsonQuoted(node.text) : node.text;
  }
  std::vector<std::size_t> order = IndexList(node.items.size());
  const bool is_map = node.kind == Kind::kMap;
  if (is_map) {
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return node.keys[a] < node.keys[b]; });
  }
  std::vector<std::string> parts;
  for (const std::size_t i : order) {
    parts.push_back((is_map ? JsonQuoted(node.keys[i]) + ":" : "") +
                    EmitCanonicalJson(node.items[i]));
  }
  return fmt::format("{}{}{}", is_map ? '{' : '[', fmt::join(parts, ","), is_map ? '}' : ']');
}

}  // namespace lfiw::core
