#include "core/run/csv_text.h"

namespace lfiw::core {

std::string QuotedCsv(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string NumberCsv(const std::optional<double>& number) { return CsvCell(number); }

std::string CsvCell(std::string_view text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string_view::npos;
  return plain ? std::string(text) : QuotedCsv(text);
}

std::string CsvCell(const QuotedText& quoted) { return QuotedCsv(quoted.text); }

std::string CsvCell(double number) { return fmt::format("{}", number); }

}  // namespace lfiw::core
