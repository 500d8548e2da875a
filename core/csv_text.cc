#include "core/csv_text.h"

namespace lfiw {

std::string QuotedCsv(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace lfiw
