#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/text_log.h"

namespace lfiw::core {
namespace {

// What one column of the file is.
enum class Role {
  kIgnored,
  kEpisode,
  kTime,
  kObservation,
  kAction,
  kDiscreteAction,
  kReward,
  kTerminated,
  kTruncated,
  kNextObservation,
  kProbability,      // of one action; numbered
  kProbabilityList,  // Coach: "[0.2,0.8]"
  kLogDensity,
  kAux,
};

struct Columns {
  std::vector<Role> roles;
  std::vector<std::string> names;
  std::map<Role, std::int64_t> counts;
  bool Has(Role role) const { return counts.contains(role); }
};

constexpr std::array<std::pair<std::string_view, Role>, 16> kNames = {{
    {"episode", Role::kEpisode},
    {"episode_id", Role::kEpisode},
    {"t", Role::kTime},
    {"step", Role::kTime},
    {"transition_number", Role::kTime},
    {"action", Role::kDiscreteAction},
    {"reward", Role::kReward},
    {"terminated", Role::kTerminated},
    {"terminal", Role::kTerminated},
    {"truncated", Role::kTruncated},
    {"timeout", Role::kTruncated},
    {"behavior_log_density", Role::kLogDensity},
    {"all_action_probabilities", Role::kProbabilityList},
    {"obs", Role::kObservation},
    {"next_obs", Role::kNextObservation},
    {"aux", Role::kAux},
}};

constexpr std::array<std::pair<std::string_view, Role>, 6> kNumbered = {{
    {"obs_", Role::kObservation},
    {"state_feature_", Role::kObservation},
    {"action_", Role::kAction},
    {"next_obs_", Role::kNextObservation},
    {"prob_", Role::kProbability},
    {"aux_", Role::kAux},
}};

// The role of a name; numbered ones must count 0, 1, 2, ... from left to right.
Role RoleOf(const std::string& name, Columns& columns, std::string_view where) {
  for (const auto& [known, role] : kNames) {
    if (name == known) return role;
  }
  for (const auto& [prefix, role] : kNumbered) {
    if (!name.starts_with(prefix)) continue;
    const std::int64_t expected = columns.counts[role];
    if (name.substr(prefix.size()) != std::to_string(expected)) {
      Throw<DataError>("{}: column '{}', expected '{}{}'", where, name, prefix, expected);
    }
    return role;
  }
  return Role::kIgnored;
}

Columns ParseHeader(const std::vector<std::string>& names, std::string_view where) {
  Columns columns{{}, names, {}};
  for (const std::string& name : names) {
    const Role role = RoleOf(name, columns, where);
    columns.roles.push_back(role);
    ++columns.counts[role];
  }
  for (const Role role : {Role::kEpisode, Role::kTime, Role::kDiscreteAction, Role::kReward,
                          Role::kTerminated, Role::kTruncated, Role::kLogDensity}) {
    if (columns.Has(role) && columns.counts[role] > 1) {
      Throw<DataError>("{}: two columns for the same thing", where);
    }
  }
  if (!columns.Has(Role::kObservation) || !columns.Has(Role::kReward) ||
      columns.Has(Role::kAction) == columns.Has(Role::kDiscreteAction)) {
    Throw<DataError>(
        "{}: the header lacks obs_0, reward, and action or action_0 (columns: {}); it "
        "is no log, or its columns must be renamed",
        where, fmt::join(names, ", "));
  }
  if (!columns.Has(Role::kEpisode) && !columns.Has(Role::kTerminated) &&
      !columns.Has(Role::kTruncated)) {
    Throw<DataError>(
        "{}: the header has none of episode, terminated and truncated, so episodes "
        "have no bounds",
        where);
  }
  return columns;
}

class CsvSource final : public RecordSource {
 public:
  CsvSource(const std::string& path, const Columns& columns) : lines_(path), columns_(columns) {
    lines_.Next();
  }

  std::int64_t line() const override { return lines_.line(); }

  std::optional<StepRecord> Next() override {
    const std::optional<std::string_view> line = lines_.NextNonEmpty();
    if (!line) return std::nullopt;
    const std::string where = fmt::format("{}, line {}", lines_.path(), lines_.line());
    const std::vector<std::string> fields = SplitCsvLine(*line, where);
    if (fields.size() != columns_.roles.size()) {
      Throw<DataError>("{}: {} fields, the header has {}", where, fields.size(),
                       columns_.roles.size());
    }
    StepRecord record;
    for (std::size_t i = 0; i < fields.size(); ++i) Set(i, fields[i], where, record);
    return record;
  }

 private:
  double Number(std::size_t i, const std::string& field, std::string_view where) const {
    const std::optional<double> value = ParseNumber(field);
    if (value) return *value;
    Throw<DataError>("{}, column {}: '{}', expected a number", where, columns_.names[i],
                     field.substr(0, 40));
  }

  std::int64_t Integer(std::size_t i, const std::string& field, std::string_view where) const {
    const double value = Number(i, field, where);
    // false for NaN too
    if (value >= -9e15 && value <= 9e15 &&
        value == static_cast<double>(static_cast<std::int64_t>(value))) {
      return static_cast<std::int64_t>(value);
    }
    Throw<DataError>("{}, column {}: '{}', expected a whole number", where, columns_.names[i],
                     field.substr(0, 40));
  }

  bool Flag(std::size_t i, const std::string& field, std::string_view where) const {
    for (const char* word : {"1", "1.0", "true", "True", "TRUE"}) {
      if (field == word) return true;
    }
    for (const char* word : {"", "0", "0.0", "false", "False", "FALSE"}) {
      if (field == word) return false;
    }
    Throw<DataError>("{}, column {}: '{}', expected 0 or 1", where, columns_.names[i],
                     field.substr(0, 40));
  }

  std::vector<double> List(std::size_t i, std::string_view field, std::string_view where) const {
    if (field.starts_with('[')) field.remove_prefix(1);
    if (field.ends_with(']')) field.remove_suffix(1);
    std::vector<double> values;
    for (const std::string& item : SplitCsvLine(field, where)) {
      values.push_back(Number(i, item, where));
    }
    return values;
  }

  void Set(std::size_t i, const std::string& field, std::string_view where,
           StepRecord& record) const {
    const Role role = columns_.roles[i];
    if (role == Role::kEpisode) {
      record.episode = field;
      return;
    }
    if (role == Role::kTerminated) record.terminated = Flag(i, field, where);
    if (role == Role::kTruncated) record.truncated = Flag(i, field, where);
    // a line without action leaves its other fields empty as well
    if (field.empty() || role == Role::kIgnored) return;
    switch (role) {
      case Role::kTime:
        record.t = Integer(i, field, where);
        break;
      case Role::kObservation:
        record.observation.push_back(static_cast<float>(Number(i, field, where)));
        break;
      case Role::kAction:
        record.action.push_back(static_cast<float>(Number(i, field, where)));
        break;
      case Role::kDiscreteAction:
        record.discrete_action = Integer(i, field, where);
        break;
      case Role::kReward:
        record.reward = Number(i, field, where);
        break;
      case Role::kNextObservation:
        record.next_observation.push_back(static_cast<float>(Number(i, field, where)));
        break;
      case Role::kProbability:
        record.probabilities.push_back(Number(i, field, where));
        break;
      case Role::kProbabilityList:
        record.probabilities = List(i, field, where);
        break;
      case Role::kLogDensity:
        record.log_density = Number(i, field, where);
        break;
      case Role::kAux:
        record.aux.push_back(static_cast<float>(Number(i, field, where)));
        break;
      default:
        break;
    }
  }

  LineReader lines_;
  const Columns columns_;
};

}  // namespace

TextFormat OpenCsv(const std::string& path) {
  LineReader lines(path);
  std::optional<std::string_view> header = lines.Next();
  if (!header) Throw<DataError>("{}: the file is empty", path);
  // a byte order mark, as spreadsheets write it
  if (header->starts_with("\xEF\xBB\xBF")) header->remove_prefix(3);
  const std::string where = path + ", line 1";
  const Columns columns = ParseHeader(SplitCsvLine(*header, where), where);
  TextFormat format{.name = columns.Has(Role::kProbabilityList) ? "Coach CSV" : "CSV",
                    .has_ends = columns.Has(Role::kTerminated) || columns.Has(Role::kTruncated)};
  std::vector<std::string> ignored;
  for (std::size_t i = 0; i < columns.roles.size(); ++i) {
    if (columns.roles[i] == Role::kIgnored) ignored.push_back(columns.names[i]);
  }
  if (!ignored.empty()) {
    format.notes.push_back(fmt::format("ignored columns: {}", fmt::join(ignored, ", ")));
  }
  format.open = [path, columns] { return std::make_unique<CsvSource>(path, columns); };
  return format;
}

}  // namespace lfiw::core
