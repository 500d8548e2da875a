#include "core/run/text_table.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace lfiw::core {
namespace {

std::size_t Width(const std::string& text) {
  // continuation bytes of UTF-8 take no room
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

bool IsNumeric(const std::string& cell) {
  return cell.find_first_not_of("0123456789+-.e ±[],%") == std::string::npos;
}

}  // namespace

std::string FormatTextTable(const std::vector<std::string>& header,
                            const std::vector<std::vector<std::string>>& rows) {
  const std::size_t columns = header.size();
  std::vector<std::size_t> widths(columns);
  std::vector<char> right(columns, 1);
  for (std::size_t j = 0; j < columns; ++j) widths[j] = Width(header[j]);
  for (const std::vector<std::string>& row : rows) {
    LFIW_ASSERT(row.size() == columns);
    for (std::size_t j = 0; j < columns; ++j) {
      widths[j] = std::max(widths[j], Width(row[j]));
      if (!IsNumeric(row[j])) right[j] = 0;
    }
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string padding(widths[j] - Width(cells[j]), ' ');
      line += (j == 0 ? "" : "  ") + (right[j] ? padding + cells[j] : cells[j] + padding);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  append(header);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.push_back(std::string(width, '-'));
  append(rule);
  for (const std::vector<std::string>& row : rows) append(row);
  return text;
}

std::string FormatRounded(double value, int digits) {
  const double magnitude = std::abs(value);
  if (value != 0.0 && (magnitude < 1e-4 || magnitude >= 1e7)) {
    return fmt::format("{:.{}e}", value, digits - 1);
  }
  const int exponent = value == 0.0 ? 0 : static_cast<int>(std::floor(std::log10(magnitude)));
  return fmt::format("{:.{}f}", value, std::max(0, digits - 1 - exponent));
}

}  // namespace lfiw::core
