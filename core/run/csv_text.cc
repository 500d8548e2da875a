#include "core/run/csv_text.h"

#include <fmt/format.h>

namespace lfiw::core {

std::string QuotedCsv(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string NumberCsv(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : std::string();
}

}  // namespace lfiw::core
