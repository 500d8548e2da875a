#include "core/run/result_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
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
std::vector<std::string> TerminalCells(const ResultRow& row, bool with_params) {
  const auto integer = [](const std::optional<std::int64_t>& number) {
    return number ? fmt::format("{}", *number) : std::string();
  };
  std::string name = row.estimator;
  if (with_params && !row.params.empty()) name += " (" + row.params + ")";
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

void WriteJson(const std::string& path, std::span<const ResultRow> rows) {
  WriteFileAtomically(path, FormatJson(rows));
}

std::string FormatForTerminal(std::span<const ResultRow> rows) {
  std::vector<std::string> header = {"estimator", "H",   "weights", "n",     "value",  "stderr",
                                     "interval",  "ESS", "khat",    "error", "verdict"};
  std::map<std::string, std::set<std::string>> params;  // of each estimator
  for (const ResultRow& row : rows) params[row.estimator].insert(row.params);
  std::vector<std::vector<std::string>> cells;
  for (const ResultRow& row : rows) {
    cells.push_back(TerminalCells(row, params[row.estimator].size() > 1));
  }
  constexpr std::size_t kWeights = 2, kCount = 3;
  for (std::size_t j = header.size(); j-- > 0;) {
    std::set<std::string> values;
    for (const auto& row : cells) values.insert(row[j]);
    values.erase("");
    if (j == kWeights) values.erase("none");
    const bool tells_rows_apart = j == kWeights || j == kCount;
    if (values.size() > (tells_rows_apart ? 1u : 0u)) continue;
    const auto column = static_cast<std::ptrdiff_t>(j);
    header.erase(header.begin() + column);
    for (auto& row : cells) row.erase(row.begin() + column);
  }
  return FormatTextTable(header, cells);
}

}  // namespace lfiw::core
