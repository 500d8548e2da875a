#ifndef LFIW_CORE_RUN_TEXT_TABLE_H_
#define LFIW_CORE_RUN_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace lfiw::core {

// A table in fixed-width text: columns two blanks apart, numbers aligned right, a rule below the
// header. Every row has as many cells as the header. Widths count UTF-8 code points.
std::string FormatTextTable(const std::vector<std::string>& header,
                            const std::vector<std::vector<std::string>>& rows);

// `digits` significant digits, without exponent from 1e-4 to 1e7: "219.1", "14170", "1.2e-05".
std::string FormatRounded(double value, int digits = 4);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_TEXT_TABLE_H_
