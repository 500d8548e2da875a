#include "core/run/result_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/text_table.h"

namespace lfiw::core {
namespace {

constexpr int kSchemaVersion = 1;

// Refuses numbers that are none.
struct CheckCells {
  const ResultRow& row;
  std::size_t index;
  template <class T>
  void Column(const char* name, const char*, const char*, T ResultRow::*member) const {
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      const std::optional<double>& number = row.*member;
      if (number && !std::isfinite(*number)) {
        Throw<NumericError>("results, row {}: {} is {}, expected a finite number or an empty cell",
                            index, name, *number);
      }
    }
  }
};

void Check(const ResultRow& row, std::size_t index) {
  const CheckCells checker{row, index};
  ResultRow::VisitColumns(checker);
  if (!row.value && row.reason.empty()) {
    Throw<NumericError>("results, row {} ({}): no value and no reason", index, row.estimator);
  }
}

struct CollectColumns {
  std::vector<CsvColumn<ResultRow>> columns;
  template <class T>
  void Column(const char* name, const char* unit, const char* definition, T ResultRow::*member) {
    columns.emplace_back(name, unit, definition, member);
  }
};

std::vector<std::string> ColumnNames() {
  std::vector<std::string> names;
  for (const auto& column : ResultColumns().columns()) names.push_back(column.name);
  return names;
}

// Cuts CSV text into records of cells; quoted cells may hold commas, quotes and line breaks.
class CsvParser {
 public:
  CsvParser(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  bool AtEnd() const { return at_ == text_.size(); }
  // Line on which the last record began.
  std::size_t line() const { return record_line_; }

  std::vector<std::string> Next() {
    record_line_ = line_;
    std::vector<std::string> cells;
    while (true) {
      cells.push_back(!AtEnd() && text_[at_] == '"' ? QuotedCell() : PlainCell());
      if (AtEnd()) return cells;
      const char c = text_[at_++];
      if (c == ',') continue;
      if (c == '\r' && !AtEnd() && text_[at_] == '\n') ++at_;
      ++line_;
      return cells;
    }
  }

 private:
  std::string PlainCell() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
    std::string cell(text_.substr(at_, end - at_));
    at_ = end;
    return cell;
  }

  std::string QuotedCell() {
    std::string cell;
    for (++at_; !AtEnd(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        cell += text_[at_];
        continue;
      }
      ++at_;
      if (AtEnd() || text_[at_] != '"') {
        const bool ended =
            AtEnd() || std::string_view(",\r\n").find(text_[at_]) != std::string::npos;
        if (!ended) Fail("text after a closing quote");
        return cell;
      }
      cell += '"';
    }
    Fail("an open quote");
  }

  [[noreturn]] void Fail(const char* what) const {
    Throw<DataError>("{}:{}: {}", source_, line_, what);
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t record_line_ = 1;
};

// Fills a row's fields from the cells of a record, in order.
struct ReadCells {
  ResultRow& row;
  const std::vector<std::string>& cells;
  const std::string& source;
  std::size_t line;
  std::size_t next = 0;

  void Column(const char*, const char*, const char*, std::string ResultRow::*member) {
    row.*member = cells[next++];
  }

  template <class T>
  void Column(const char* name, const char*, const char*, std::optional<T> ResultRow::*member) {
    const std::string& cell = cells[next++];
    if (cell.empty()) return;
    T value{};
    const char* last = cell.data() + cell.size();
    const auto [end, error] = std::from_chars(cell.data(), last, value);
    if (error != std::errc() || end != last || !std::isfinite(static_cast<double>(value))) {
      Throw<DataError>("{}:{}: {} is '{}', expected {}", source, line, name, cell,
                       std::is_integral_v<T> ? "an integer" : "a finite number");
    }
    row.*member = value;
  }
};

struct WriteObject {
  const ResultRow& row;
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  void Column(const char* name, const char*, const char*, std::string ResultRow::*member) {
    const std::string& text = row.*member;
    object[name] = text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  }
  template <class T>
  void Column(const char* name, const char*, const char*, std::optional<T> ResultRow::*member) {
    const std::optional<T>& number = row.*member;
    object[name] = number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
  }
};

nlohmann::ordered_json DescribeColumns() {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const auto& column : ResultColumns().columns()) {
    columns.push_back(
        {{"name", column.name}, {"unit", column.unit}, {"definition", column.meaning}});
  }
  return columns;
}

std::string Rounded(const std::optional<double>& number) {
  return number ? FormatRounded(*number) : std::string();
}

// The cells of FormatForTerminal.
std::vector<std::string> TerminalCells(const ResultRow& row) {
  const auto integer = [](const std::optional<std::int64_t>& number) {
    return number ? fmt::format("{}", *number) : std::string();
  };
  std::string name = row.estimator;
  if (!row.params.empty()) name += " (" + row.params + ")";
  std::string interval;
  if (row.ci_low && row.ci_high) {
    interval = fmt::format("[{}, {}]", FormatRounded(*row.ci_low), FormatRounded(*row.ci_high));
  }
  std::string verdict = row.verdict;
  if (!row.value) verdict += (verdict.empty() ? "" : ": ") + row.reason;
  return {name,
          integer(row.horizon),
          row.normalization,
          integer(row.n),
          Rounded(row.value),
          Rounded(row.standard_error),
          interval,
          Rounded(row.ess),
          Rounded(row.khat),
          Rounded(row.error),
          verdict};
}

}  // namespace

std::optional<double> Cell(double value) {
  return std::isfinite(value) ? std::optional<double>(value) : std::nullopt;
}

const CsvColumns<ResultRow>& ResultColumns() {
  static const CsvColumns<ResultRow> columns = [] {
    CollectColumns collector;
    ResultRow::VisitColumns(collector);
    return CsvColumns<ResultRow>(std::move(collector.columns));
  }();
  return columns;
}

std::string FormatCsv(std::span<const ResultRow> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) Check(rows[i], i);
  return ResultColumns().Format(rows);
}

std::vector<ResultRow> ParseCsv(std::string_view text, const std::string& source) {
  CsvParser parser(text, source);
  const std::vector<std::string> names = ColumnNames();
  if (parser.AtEnd() || parser.Next() != names) {
    Throw<DataError>("{}:1: expected the header {}", source, fmt::join(names, ","));
  }
  std::vector<ResultRow> rows;
  while (!parser.AtEnd()) {
    const std::vector<std::string> cells = parser.Next();
    if (cells.size() != names.size()) {
      Throw<DataError>("{}:{}: {} cells, expected {}", source, parser.line(), cells.size(),
                       names.size());
    }
    ReadCells reader{rows.emplace_back(), cells, source, parser.line()};
    ResultRow::VisitColumns(reader);
  }
  return rows;
}

std::string FormatJson(std::span<const ResultRow> rows) {
  nlohmann::ordered_json objects = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Check(rows[i], i);
    WriteObject writer{rows[i]};
    ResultRow::VisitColumns(writer);
    objects.push_back(std::move(writer.object));
  }
  const nlohmann::ordered_json document = {
      {"schema", "lfiw.results"},
      {"schema_version", kSchemaVersion},
      {"columns", DescribeColumns()},
      {"rows", std::move(objects)},
  };
  return document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void WriteCsv(const std::string& path, std::span<const ResultRow> rows) {
  WriteFileAtomically(path, FormatCsv(rows));
}

std::vector<ResultRow> ReadCsv(const std::string& path) { return ParseCsv(ReadFile(path), path); }

void WriteJson(const std::string& path, std::span<const ResultRow> rows) {
  WriteFileAtomically(path, FormatJson(rows));
}

std::string FormatForTerminal(std::span<const ResultRow> rows) {
  std::vector<std::string> header = {"estimator", "H",   "weights", "n",     "value",  "stderr",
                                     "interval",  "ESS", "khat",    "error", "verdict"};
  std::vector<std::vector<std::string>> cells;
  for (const ResultRow& row : rows) cells.push_back(TerminalCells(row));
  // columns that no row fills are left out
  for (std::size_t j = header.size(); j-- > 0;) {
    const auto column = static_cast<std::ptrdiff_t>(j);
    const bool filled =
        std::any_of(cells.begin(), cells.end(), [j](const auto& row) { return !row[j].empty(); });
    if (filled) continue;
    header.erase(header.begin() + column);
    for (auto& row : cells) row.erase(row.begin() + column);
  }
  return FormatTextTable(header, cells);
}

}  // namespace lfiw::core
