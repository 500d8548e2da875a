#ifndef LFIW_CORE_RUN_CSV_TEXT_H_
#define LFIW_CORE_RUN_CSV_TEXT_H_

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace lfiw::core {

// Returns `text` as a quoted cell of a CSV file, quotes in it doubled (RFC 4180).
std::string QuotedCsv(std::string_view text);

// Returns a number as a cell: the shortest text that reads back as the same double; empty for none.
std::string NumberCsv(const std::optional<double>& number);

// A text that is quoted in the file even where it need not be.
struct QuotedText {
  std::string text;
};

// Return a value as a cell: a text in quotes only where RFC 4180 asks for them, a number in the
// shortest form that reads back as the same, a truth value as 1 or 0, and nothing as an empty cell.
std::string CsvCell(std::string_view text);
std::string CsvCell(const QuotedText& quoted);
std::string CsvCell(double number);

template <std::integral Integer>
std::string CsvCell(Integer number) {
  return fmt::format("{:d}", number);
}

template <class T>
std::string CsvCell(const std::optional<T>& value) {
  return value ? CsvCell(*value) : std::string();
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CSV_TEXT_H_
