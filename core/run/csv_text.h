#ifndef LFIW_CORE_RUN_CSV_TEXT_H_
#define LFIW_CORE_RUN_CSV_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

namespace lfiw::core {

// `text` as a quoted cell of a CSV file, quotes in it doubled (RFC 4180).
std::string QuotedCsv(std::string_view text);

// A number as a cell: the shortest text that reads back as the same double; empty for none.
std::string NumberCsv(const std::optional<double>& number);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_CSV_TEXT_H_
