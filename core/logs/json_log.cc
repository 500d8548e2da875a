#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/text_log.h"

namespace lfiw::core {
namespace {

using nlohmann::json;

// Hostile nesting would overflow the parser's stack.
constexpr int kMaxJsonDepth = 8;

bool NestsTooDeep(std::string_view line) {
  int depth = 0;
  for (const char c : line) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kMaxJsonDepth) return true;
  }
  return false;
}

class JsonSource final : public RecordSource {
 public:
  explicit JsonSource(const std::string& path) : lines_(path) {}

  std::int64_t line() const override { return lines_.line(); }

  std::optional<StepRecord> Next() override {
    const std::optional<std::string_view> line = lines_.NextNonEmpty();
    if (!line) return std::nullopt;
    const json object = Parse(*line);
    StepRecord record;
    if (object.contains("episode")) {
      const json& episode = object["episode"];
      record.episode = episode.is_string() ? episode.get<std::string>() : episode.dump();
    }
    if (object.contains("t")) record.t = static_cast<std::int64_t>(Number(object["t"], "t"));
    record.observation = Floats(object, "observation");
    if (record.observation.empty()) Reject("observation", "a list of numbers");
    SetAction(object, record);
    if (record.has_action()) record.reward = Number(object.value("reward", json()), "reward");
    record.terminated = Flag(object, "terminated");
    record.truncated = Flag(object, "truncated");
    record.next_observation = Floats(object, "next_observation");
    record.aux = Floats(object, "aux");
    record.log_density = OptionalNumber(object, "behavior_log_density");
    record.probability = OptionalNumber(object, "behavior_probability");
    return record;
  }

 private:
  json Parse(std::string_view line) const {
    json object;
    if (!NestsTooDeep(line)) object = json::parse(line, nullptr, false);
    if (!object.is_object()) {
      Throw<DataError>("{}, line {}: not a JSON object", lines_.path(), lines_.line());
    }
    if (object.contains("mdp_id") && object.contains("sequence_number")) {
      Throw<DataError>(
          "{}: ReAgent's table holds scattered single transitions, not whole episodes in order; "
          "export the episodes (one line a step: episode, t, observation, action, reward)",
          lines_.path());
    }
    return object;
  }

  [[noreturn]] void Reject(const char* key, const char* expected) const {
    Throw<DataError>("{}, line {}: {} is missing or wrong, expected {}", lines_.path(),
                     lines_.line(), key, expected);
  }

  // Python writes NaN, which is no JSON; null stands for it.
  double Number(const json& value, const char* key) const {
    if (value.is_number()) return value.get<double>();
    Reject(key, "a number");
  }

  std::optional<double> OptionalNumber(const json& object, const char* key) const {
    if (!object.contains(key)) return std::nullopt;
    return Number(object[key], key);
  }

  bool Flag(const json& object, const char* key) const {
    if (!object.contains(key)) return false;
    const json& value = object[key];
    if (value.is_boolean()) return value.get<bool>();
    if (value == 0 || value == 1) return value == 1;
    Reject(key, "true or false");
  }

  std::vector<float> Floats(const json& object, const char* key) const {
    std::vector<float> values;
    if (!object.contains(key) || object[key].is_null()) return values;
    if (!object[key].is_array()) Reject(key, "a list of numbers");
    for (const json& item : object[key]) values.push_back(static_cast<float>(Number(item, key)));
    return values;
  }

  void SetAction(const json& object, StepRecord& record) const {
    if (!object.contains("action") || object["action"].is_null()) return;
    const json& action = object["action"];
    if (action.is_number_integer()) {
      record.discrete_action = action.get<std::int64_t>();
    } else if (action.is_number()) {
      record.action = {action.get<float>()};
    } else {
      record.action = Floats(object, "action");
      if (record.action.empty()) Reject("action", "a whole number or a list of numbers");
    }
  }

  LineReader lines_;
};

}  // namespace

TextFormat OpenJsonLines(const std::string& path) {
  TextFormat format{.name = "JSON lines"};
  LineReader lines(path);
  const std::optional<std::string_view> first = lines.Next();
  const json object = first && !NestsTooDeep(*first) ? json::parse(*first, nullptr, false) : json();
  format.has_ends =
      object.is_object() && (object.contains("terminated") || object.contains("truncated"));
  format.open = [path] { return std::make_unique<JsonSource>(path); };
  return format;
}

}  // namespace lfiw::core
