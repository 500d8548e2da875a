#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/step_fields.h"
#include "core/logs/text_log.h"

namespace lfiw::core {
namespace {

using nlohmann::json;

// Hostile nesting would overflow the parser's stack.
constexpr int kMaxJsonDepth = 8;
// More names than this are not listed.
constexpr std::size_t kMaxListedFields = 20;

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
    const json* reward = nullptr;
    std::string done;
    for (const auto& [key, value] : object.items()) {
      const StepField field = FieldOf(key);
      if (field == StepField::kReward) reward = &value;
      if (field == StepField::kDone) done = key;
      Set(field, key, value, record);
    }
    if (record.observation.empty()) Reject("observation", "a list of numbers");
    if (record.has_action()) {
      record.reward = Number(reward == nullptr ? json() : *reward, "reward");
    } else if (reward != nullptr && !reward->is_null()) {
      Throw<DataError>(
          "{}, line {}: there is a reward but no action; fill in the action, or, if the line holds "
          "the observation after an episode's last step, leave out the reward too",
          lines_.path(), lines_.line());
    }
    if (!done.empty() && !record.states_end) {
      Throw<DataError>("{}, line {}: {}", lines_.path(), lines_.line(), DoneProblem(done));
    }
    return record;
  }

 private:
  json Parse(std::string_view line) const {
    json object;
    if (!NestsTooDeep(line)) object = json::parse(line, nullptr, false);
    if (!object.is_object()) {
      const bool has_nan = line.find("NaN") != std::string_view::npos ||
                           line.find("Infinity") != std::string_view::npos;
      Throw<DataError>("{}, line {}: not a JSON object{}", lines_.path(), lines_.line(),
                       has_nan ? ": NaN and Infinity are no JSON; leave out such episodes" : "");
    }
    RejectOtherTables(object);
    return object;
  }

  // Well-known lines that are no steps, with what to do instead.
  void RejectOtherTables(const json& object) const {
    constexpr const char* kExport =
        "export one object a step: episode, t, observation, action, reward, terminated, truncated";
    if (object.contains("mdp_id") && object.contains("sequence_number")) {
      Throw<DataError>(
          "{}: ReAgent's table holds scattered single transitions, not whole episodes in order; "
          "export the episodes (one line a step: episode, t, observation, action, reward)",
          lines_.path());
    }
    if (object.value("type", json()) == "SampleBatch" || object.contains("new_obs")) {
      Throw<DataError>("{}, line {}: RLlib's batches of samples are not read; {}", lines_.path(),
                       lines_.line(), kExport);
    }
    if (object.contains("_label_probability") || object.contains("_label_cost")) {
      Throw<DataError>(
          "{}, line {}: Vowpal Wabbit's examples are not read; export one object a step: "
          "observation (the features as numbers), action (from 0), reward (minus the cost), "
          "behavior_probability, terminated (true)",
          lines_.path(), lines_.line());
    }
  }

  [[noreturn]] void Reject(std::string_view key, const char* expected) const {
    Throw<DataError>("{}, line {}: {} is missing or wrong, expected {}", lines_.path(),
                     lines_.line(), Quoted(key), expected);
  }

  void Set(StepField field, const std::string& key, const json& value, StepRecord& record) const {
    switch (field) {
      case StepField::kEpisode:
        if (value.is_null()) Reject(key, "a name or a number");
        record.episode = value.is_string() ? value.get<std::string>() : value.dump();
        break;
      case StepField::kTime:
        if (!value.is_null()) record.t = Integer(value, key);
        break;
      case StepField::kObservation:
        record.observation = Floats(value, key);
        break;
      case StepField::kAction:
        SetAction(value, key, record);
        break;
      case StepField::kTerminated:
        record.terminated = Flag(value, key);
        record.states_end = true;
        break;
      case StepField::kTruncated:
        record.truncated = Flag(value, key);
        record.states_end = true;
        break;
      case StepField::kNextObservation:
        record.next_observation = Floats(value, key);
        break;
      case StepField::kProbability:
        if (!value.is_null()) record.probability = Number(value, key);
        break;
      case StepField::kProbabilityList:
        for (const float p : Floats(value, key)) {
          record.probabilities.push_back(static_cast<double>(p));
        }
        break;
      case StepField::kLogDensity:
        if (!value.is_null()) record.log_density = Number(value, key);
        break;
      case StepField::kAux:
        record.aux = Floats(value, key);
        break;
      default:
        break;
    }
  }

  // Python writes NaN, which is no JSON; null stands for it.
  double Number(const json& value, std::string_view key) const {
    if (value.is_number()) return value.get<double>();
    Reject(key, "a number");
  }

  std::int64_t Integer(const json& value, std::string_view key) const {
    const double number = Number(value, key);
    if (!(std::abs(number) <= 9e15) || number != std::floor(number)) Reject(key, "a whole number");
    return static_cast<std::int64_t>(number);
  }

  bool Flag(const json& value, std::string_view key) const {
    if (value.is_null()) return false;
    if (value.is_boolean()) return value.get<bool>();
    if (value == 0 || value == 1) return value == 1;
    Reject(key, "true or false");
  }

  std::vector<float> Floats(const json& value, std::string_view key) const {
    std::vector<float> values;
    if (value.is_null()) return values;
    if (!value.is_array()) Reject(key, "a list of numbers");
    for (const json& item : value) values.push_back(static_cast<float>(Number(item, key)));
    return values;
  }

  void SetAction(const json& action, std::string_view key, StepRecord& record) const {
    if (action.is_null()) return;
    if (action.is_number_integer()) {
      record.discrete_action = action.get<std::int64_t>();
    } else if (action.is_number()) {
      record.action = {action.get<float>()};
    } else {
      record.action = Floats(action, key);
      if (record.action.empty()) Reject(key, "a whole number or a list of numbers");
    }
  }

  LineReader lines_;
};

}  // namespace

TextFormat OpenJsonLines(const std::string& path) {
  // whether ends are marked is what the records say, any of them
  TextFormat format{.name = "JSON lines", .has_ends = false};
  LineReader lines(path);
  const std::optional<std::string_view> first = lines.NextNonEmpty();
  const json object = first && !NestsTooDeep(*first) ? json::parse(*first, nullptr, false) : json();
  std::string ignored;
  std::size_t count = 0;
  if (object.is_object()) {
    for (const auto& [key, value] : object.items()) {
      if (FieldOf(key) != StepField::kUnknown || ++count > kMaxListedFields) continue;
      ignored += (ignored.empty() ? "" : ", ") + Quoted(key);
    }
  }
  if (count > kMaxListedFields) ignored += fmt::format(", ... ({} in all)", count);
  if (!ignored.empty()) format.notes.push_back("ignored fields: " + ignored);
  format.open = [path] { return std::make_unique<JsonSource>(path); };
  return format;
}

}  // namespace lfiw::core
