#include "core/run/result_table.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/csv_text.h"
#include "core/run/text_table.h"

namespace lfiw::core {
namespace {

constexpr int kSchemaVersion = 1;

std::string CellText(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return QuotedCsv(text);
}

template <class T>
std::string CellText(const std::optional<T>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

struct NameColumns {
  std::vector<std::string> names;
  template <class T>
  void Column(const char* name, T&, const char*, const char*) {
    names.emplace_back(name);
  }
};

std::vector<std::string> ColumnNames() {
  ResultRow row;
  NameColumns columns;
  row.Visit(columns);
  return columns.names;
}

struct WriteCells {
  std::vector<std::string> cells;
  template <class T>
  void Column(const char*, T& field, const char*, const char*) {
    cells.push_back(CellText(field));
  }
};

// Refuses numbers that are none.
struct CheckCells {
  std::size_t row;
  template <class T>
  void Column(const char* name, T& field, const char*, const char*) {
    if constexpr (std::is_same_v<T, std::optional<double>>) {
      if (field && !std::isfinite(*field)) {
        Throw<NumericError>("results, row {}: {} is {}, expected a finite number or an empty cell",
                            row, name, *field);
      }
    }
  }
};

void Check(ResultRow row, std::size_t index) {
  CheckCells checker{index};
  row.Visit(checker);
  if (!row.value && row.reason.empty()) {
    Throw<NumericError>("results, row {} ({}): no value and no reason", index, row.estimator);
  }
}

struct DescribeColumns {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  template <class T>
  void Column(const char* name, T&, const char* unit, const char* definition) {
    columns.push_back({{"name", name}, {"unit", unit}, {"definition", definition}});
  }
};

struct WriteObject {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  void Column(const char* name, std::string& field, const char*, const char*) {
    object[name] = field.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(field);
  }
  template <class T>
  void Column(const char* name, std::optional<T>& field, const char*, const char*) {
    object[name] = field ? nlohmann::ordered_json(*field) : nlohmann::ordered_json();
  }
};

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

std::string FormatCsv(std::span<const ResultRow> rows) {
  std::string text = fmt::format("{}\n", fmt::join(ColumnNames(), ","));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Check(rows[i], i);
    ResultRow row = rows[i];
    WriteCells writer;
    row.Visit(writer);
    text += fmt::format("{}\n", fmt::join(writer.cells, ","));
  }
  return text;
}

std::string FormatJson(std::span<const ResultRow> rows) {
  ResultRow any;
  DescribeColumns description;
  any.Visit(description);
  nlohmann::ordered_json objects = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Check(rows[i], i);
    ResultRow row = rows[i];
    WriteObject writer;
    row.Visit(writer);
    objects.push_back(std::move(writer.object));
  }
  const nlohmann::ordered_json document = {
      {"schema", "lfiw.results"},
      {"schema_version", kSchemaVersion},
      {"columns", std::move(description.columns)},
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
