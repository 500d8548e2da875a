#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/logs/line_reader.h"
#include "core/logs/step_fields.h"
#include "core/logs/text_log.h"

namespace lfiw::core {
namespace {

// More names than this are not listed.
constexpr std::size_t kMaxListedNames = 20;

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
  kDone,
  kNextObservation,
  kProbability,      // of the action taken
  kProbabilities,    // of one action; numbered
  kProbabilityList,  // Coach: "[0.2,0.8]"
  kLogDensity,
  kAux,
};

struct Column {
  std::string name;
  Role role = Role::kIgnored;
  std::size_t index = 0;  // of a numbered name
};

struct Columns {
  std::vector<Column> all;
  std::map<Role, std::size_t> counts;
  char separator = ',';
  std::int64_t header_line = 1;

  bool Has(Role role) const { return counts.contains(role); }
  std::size_t Count(Role role) const { return Has(role) ? counts.at(role) : 0; }
};

constexpr std::array<std::pair<StepField, Role>, 14> kRoles = {{
    {StepField::kUnknown, Role::kIgnored},
    {StepField::kEpisode, Role::kEpisode},
    {StepField::kTime, Role::kTime},
    {StepField::kObservation, Role::kObservation},
    {StepField::kAction, Role::kDiscreteAction},
    {StepField::kReward, Role::kReward},
    {StepField::kTerminated, Role::kTerminated},
    {StepField::kTruncated, Role::kTruncated},
    {StepField::kDone, Role::kDone},
    {StepField::kNextObservation, Role::kNextObservation},
    {StepField::kProbability, Role::kProbability},
    {StepField::kProbabilityList, Role::kProbabilityList},
    {StepField::kLogDensity, Role::kLogDensity},
    {StepField::kAux, Role::kAux},
}};

constexpr std::array<std::pair<std::string_view, Role>, 8> kNumbered = {{
    {"obs_", Role::kObservation},
    {"observation_", Role::kObservation},
    {"state_feature_", Role::kObservation},
    {"action_", Role::kAction},
    {"next_obs_", Role::kNextObservation},
    {"next_observation_", Role::kNextObservation},
    {"prob_", Role::kProbabilities},
    {"aux_", Role::kAux},
}};

bool IsNumbered(Role role) {
  return std::ranges::find(kNumbered, role, &std::pair<std::string_view, Role>::second) !=
         kNumbered.end();
}

// "obs_12" is observation 12, "obs_time" is no numbered name.
Column ColumnOf(const std::string& name) {
  const std::string lower = LowerCase(name);
  for (const auto& [prefix, role] : kNumbered) {
    if (!lower.starts_with(prefix)) continue;
    const std::string digits = lower.substr(prefix.size());
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    return {name, role, static_cast<std::size_t>(std::stoul(digits))};
  }
  const StepField field = FieldOf(name);
  return {name, std::ranges::find(kRoles, field, &std::pair<StepField, Role>::first)->second, 0};
}

// The names of columns for a message.
std::string NamesText(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMaxListedNames; ++i) {
    text += (i > 0 ? ", " : "") + Quoted(names[i]);
  }
  if (names.size() > kMaxListedNames) text += fmt::format(", ... ({} in all)", names.size());
  return text;
}

// Numbered columns count 0, 1, 2, ..., in whatever order a tool has sorted them.
void RequireNumbers(const Columns& columns, std::string_view where) {
  std::map<Role, std::map<std::size_t, const Column*>> numbers;
  for (const Column& column : columns.all) {
    if (!IsNumbered(column.role)) continue;
    const auto [at, is_new] = numbers[column.role].emplace(column.index, &column);
    if (is_new) continue;
    Throw<DataError>("{}: two columns for the same thing ('{}' and '{}')", where,
                     Quoted(at->second->name), Quoted(column.name));
  }
  for (const auto& [role, indices] : numbers) {
    std::size_t expected = 0;
    for (const auto& [index, column] : indices) {
      if (index != expected) {
        const std::string prefix = column->name.substr(0, column->name.rfind('_') + 1);
        Throw<DataError>("{}: column '{}', expected '{}{}' (numbered columns count 0, 1, 2, ...)",
                         where, Quoted(column->name), Quoted(prefix), expected);
      }
      ++expected;
    }
  }
}

void RequireColumns(const Columns& columns, const std::vector<std::string>& names,
                    std::string_view where) {
  for (const Role role :
       {Role::kEpisode, Role::kTime, Role::kDiscreteAction, Role::kReward, Role::kTerminated,
        Role::kTruncated, Role::kLogDensity, Role::kProbability}) {
    if (columns.Count(role) > 1) {
      std::vector<std::string> same;
      for (const Column& column : columns.all) {
        if (column.role == role) same.push_back(column.name);
      }
      Throw<DataError>("{}: two columns for the same thing ({})", where, NamesText(same));
    }
  }
  if (std::ranges::all_of(names, [](const auto& name) { return ParseNumber(name).has_value(); })) {
    Throw<DataError>(
        "{}: numbers where the names of columns are expected; write a header first, such as "
        "episode,t,obs_0,action_0,reward,terminated,truncated",
        where);
  }
  if (!columns.Has(Role::kObservation) || !columns.Has(Role::kReward) ||
      columns.Has(Role::kAction) == columns.Has(Role::kDiscreteAction)) {
    Throw<DataError>(
        "{}: the header lacks obs_0, reward, and action or action_0 (columns: {}); it "
        "is no log, or its columns must be renamed",
        where, NamesText(names));
  }
  const bool has_flags = columns.Has(Role::kTerminated) || columns.Has(Role::kTruncated);
  if (columns.Has(Role::kDone) && !has_flags) {
    for (const Column& column : columns.all) {
      if (column.role == Role::kDone) {
        Throw<DataError>("{}: column {}", where, DoneProblem(column.name));
      }
    }
  }
  if (!columns.Has(Role::kEpisode) && !has_flags) {
    Throw<DataError>(
        "{}: the header has none of episode, terminated and truncated, so episodes "
        "have no bounds",
        where);
  }
}

// The one of , ; tab and | that stands most often in the header.
char SeparatorOf(std::string_view header) {
  char best = ',';
  for (const char c : {';', '\t', '|'}) {
    if (std::ranges::count(header, c) > std::ranges::count(header, best)) best = c;
  }
  return best;
}

Columns ParseHeader(std::string_view header, char separator, std::string_view where) {
  Columns columns;
  columns.separator = separator;
  const std::vector<std::string> names = SplitCsvLine(header, where, separator);
  for (const std::string& name : names) {
    columns.all.push_back(ColumnOf(name));
    ++columns.counts[columns.all.back().role];
  }
  RequireColumns(columns, names, where);
  RequireNumbers(columns, where);
  return columns;
}

class CsvSource final : public RecordSource {
 public:
  CsvSource(const std::string& path, const Columns& columns) : lines_(path), columns_(columns) {
    while (lines_.line() < columns_.header_line) lines_.Next();
  }

  std::int64_t line() const override { return lines_.line(); }

  std::optional<StepRecord> Next() override {
    std::vector<std::string> fields;
    std::string where;
    // spreadsheets write lines of separators alone below a table
    do {
      const std::optional<std::string_view> line = lines_.NextNonEmpty();
      if (!line) return std::nullopt;
      where = fmt::format("{}, line {}", lines_.path(), lines_.line());
      fields = SplitCsvLine(*line, where, columns_.separator);
    } while (fields.size() == columns_.all.size() &&
             std::ranges::all_of(fields, &std::string::empty));
    if (fields.size() != columns_.all.size()) {
      Throw<DataError>("{}: {} fields, the header has {}", where, fields.size(),
                       columns_.all.size());
    }
    StepRecord record;
    for (std::size_t i = 0; i < fields.size(); ++i) Set(columns_.all[i], fields[i], where, record);
    RequireCells(fields, where, record);
    return record;
  }

 private:
  double Number(const Column& column, const std::string& field, std::string_view where) const {
    std::optional<double> value = ParseNumber(field);
    if (!value && columns_.separator == ';') {
      // spreadsheets separate by semicolons where numbers have a decimal comma
      std::string pointed = field;
      std::ranges::replace(pointed, ',', '.');
      value = ParseNumber(pointed);
    }
    if (value) return *value;
    Throw<DataError>("{}, column {}: '{}', expected a number", where, Quoted(column.name),
                     Quoted(field, 40));
  }

  std::int64_t Integer(const Column& column, const std::string& field,
                       std::string_view where) const {
    const double value = Number(column, field, where);
    // false for NaN too
    if (value >= -9e15 && value <= 9e15 &&
        value == static_cast<double>(static_cast<std::int64_t>(value))) {
      return static_cast<std::int64_t>(value);
    }
    Throw<DataError>("{}, column {}: '{}', expected a whole number", where, Quoted(column.name),
                     Quoted(field, 40));
  }

  bool Flag(const Column& column, const std::string& field, std::string_view where) const {
    const std::string word = LowerCase(field);
    for (const char* yes : {"1", "1.0", "true"}) {
      if (word == yes) return true;
    }
    for (const char* no : {"", "0", "0.0", "false"}) {
      if (word == no) return false;
    }
    Throw<DataError>("{}, column {}: '{}', expected 0 or 1", where, Quoted(column.name),
                     Quoted(field, 40));
  }

  std::vector<double> List(const Column& column, std::string_view field,
                           std::string_view where) const {
    if (field.starts_with('[')) field.remove_prefix(1);
    if (field.ends_with(']')) field.remove_suffix(1);
    std::vector<double> values;
    for (const std::string& item : SplitCsvLine(field, where)) {
      values.push_back(Number(column, item, where));
    }
    return values;
  }

  // Puts a cell of a numbered column to its place.
  template <class T>
  void Put(const Column& column, double value, std::vector<T>& values) const {
    values.resize(columns_.Count(column.role));
    values[column.index] = static_cast<T>(value);
  }

  void Set(const Column& column, const std::string& field, std::string_view where,
           StepRecord& record) const {
    if (column.role == Role::kTerminated) record.terminated = Flag(column, field, where);
    if (column.role == Role::kTruncated) record.truncated = Flag(column, field, where);
    // what may be empty is decided when the whole line is known
    if (field.empty()) return;
    switch (column.role) {
      case Role::kEpisode:
        record.episode = field;
        break;
      case Role::kTime:
        record.t = Integer(column, field, where);
        break;
      case Role::kObservation:
        Put(column, Number(column, field, where), record.observation);
        break;
      case Role::kAction:
        Put(column, Number(column, field, where), record.action);
        break;
      case Role::kDiscreteAction:
        record.discrete_action = Integer(column, field, where);
        break;
      case Role::kReward:
        record.reward = Number(column, field, where);
        break;
      case Role::kNextObservation:
        Put(column, Number(column, field, where), record.next_observation);
        break;
      case Role::kProbability:
        record.probability = Number(column, field, where);
        break;
      case Role::kProbabilities:
        Put(column, Number(column, field, where), record.probabilities);
        break;
      case Role::kProbabilityList:
        record.probabilities = List(column, field, where);
        break;
      case Role::kLogDensity:
        record.log_density = Number(column, field, where);
        break;
      case Role::kAux:
        Put(column, Number(column, field, where), record.aux);
        break;
      default:
        break;
    }
  }

  // Refuses empty cells, which are no zeros: a line has all that its columns say, or it holds the
  // observation after an episode's last step and neither action nor outcome.
  void RequireCells(const std::vector<std::string>& fields, const std::string& where,
                    const StepRecord& record) const {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const Column& column = columns_.all[i];
      if (!fields[i].empty()) {
        if (!record.has_action() && BelongsToAction(column.role)) RejectOutcome(column, where);
        continue;
      }
      switch (column.role) {
        case Role::kEpisode:
          Throw<DataError>("{}, column {}: the cell is empty, expected the name of the episode",
                           where, Quoted(column.name));
        case Role::kObservation:
          RejectEmpty(column, where);
        case Role::kTime:
        case Role::kAction:
        case Role::kReward:
          if (record.has_action()) RejectEmpty(column, where);
          break;
        case Role::kNextObservation:
          if (!record.next_observation.empty()) RejectEmpty(column, where);
          break;
        case Role::kAux:
          if (record.has_action()) RejectEmpty(column, where);
          break;
        // behavior probabilities that are missing are named by episode and step
        default:
          break;
      }
    }
  }

  static bool BelongsToAction(Role role) {
    return role == Role::kReward || role == Role::kNextObservation || role == Role::kProbability ||
           role == Role::kProbabilities || role == Role::kProbabilityList ||
           role == Role::kLogDensity;
  }

  [[noreturn]] void RejectEmpty(const Column& column, const std::string& where) const {
    Throw<DataError>(
        "{}, column {}: the cell is empty, expected a number; what was not recorded is not 0: fill "
        "it in, or leave out the episode",
        where, Quoted(column.name));
  }

  [[noreturn]] void RejectOutcome(const Column& column, const std::string& where) const {
    Throw<DataError>(
        "{}: the action is empty, but {} is not; fill in the action, or, if the line holds the "
        "observation after an episode's last step, leave {} empty too",
        where, Quoted(column.name), Quoted(column.name));
  }

  LineReader lines_;
  const Columns columns_;
};

// Finds the header below comments and Excel's line "sep=;".
Columns FindHeader(const std::string& path) {
  LineReader lines(path);
  std::optional<char> separator;
  for (;;) {
    std::optional<std::string_view> line = lines.Next();
    if (!line) {
      Throw<DataError>("{}: the file is empty, expected a header and a line a step", path);
    }
    // a byte order mark, as spreadsheets write it
    if (lines.line() == 1 && line->starts_with("\xEF\xBB\xBF")) line->remove_prefix(3);
    const std::string lower = LowerCase(*line);
    if (lower.starts_with("sep=") && line->size() == 5) {
      separator = line->back();
      continue;
    }
    if (line->find_first_not_of(" \t") == std::string_view::npos || line->starts_with('#')) {
      continue;
    }
    const std::string where = fmt::format("{}, line {}", path, lines.line());
    Columns columns = ParseHeader(*line, separator.value_or(SeparatorOf(*line)), where);
    columns.header_line = lines.line();
    return columns;
  }
}

}  // namespace

TextFormat OpenCsv(const std::string& path) {
  const Columns columns = FindHeader(path);
  TextFormat format{.name = columns.Has(Role::kProbabilityList) ? "Coach CSV" : "CSV",
                    .has_ends = columns.Has(Role::kTerminated) || columns.Has(Role::kTruncated)};
  std::vector<std::string> ignored;
  for (const Column& column : columns.all) {
    if (column.role != Role::kIgnored && column.role != Role::kDone) continue;
    ignored.push_back(column.name.empty() ? "one without a name" : column.name);
  }
  if (!ignored.empty()) format.notes.push_back("ignored columns: " + NamesText(ignored));
  format.open = [path, columns] { return std::make_unique<CsvSource>(path, columns); };
  return format;
}

}  // namespace lfiw::core
