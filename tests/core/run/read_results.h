#ifndef LFIW_TESTS_CORE_RUN_READ_RESULTS_H_
#define LFIW_TESTS_CORE_RUN_READ_RESULTS_H_

#include <gtest/gtest.h>

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/atomic_file.h"
#include "core/run/result_table.h"

namespace lfiw::core {

// Cuts well-formed CSV text (RFC 4180) into records of cells; quoted cells may hold commas, quotes
// and line breaks.
inline std::vector<std::vector<std::string>> CsvRecords(const std::string& text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      cells.back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c == '\n' && !quoted) {
      records.push_back(std::exchange(cells, {""}));
    } else {
      cells.back() += c;
    }
  }
  return records;
}

// Fills a row's fields from the cells of a record, in order.
struct FillRow {
  ResultRow& row;
  const std::vector<std::string>& cells;
  std::size_t next = 0;

  void Column(const char* /*name*/, const char* /*unit*/, const char* /*definition*/,
              std::string ResultRow::*member) {
    row.*member = cells.at(next++);
  }
  template <class T>
  void Column(const char* name, const char* /*unit*/, const char* /*definition*/,
              std::optional<T> ResultRow::*member) {
    const std::string& cell = cells.at(next++);
    if (cell.empty()) return;
    const char* last = cell.data() + cell.size();
    const auto [end, error] = std::from_chars(cell.data(), last, (row.*member).emplace());
    EXPECT_TRUE(error == std::errc() && end == last) << name << " is " << cell;
  }
};

// Reads the rows of a results.csv.
inline std::vector<ResultRow> ReadResults(const std::string& path) {
  std::vector<ResultRow> rows;
  const std::vector<std::vector<std::string>> records = CsvRecords(ReadFile(path));
  for (std::size_t i = 1; i < records.size(); ++i) {
    FillRow fill{rows.emplace_back(), records[i]};
    ResultRow::VisitColumns(fill);
    EXPECT_EQ(fill.next, records[i].size()) << path << ", row " << i;
  }
  return rows;
}

}  // namespace lfiw::core

#endif  // LFIW_TESTS_CORE_RUN_READ_RESULTS_H_
