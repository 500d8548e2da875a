#ifndef LFIW_CORE_QUOTED_H_
#define LFIW_CORE_QUOTED_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace lfiw::core {

// Returns `text` without what could disturb a terminal or break the line: control characters and
// bytes that are not UTF-8 become \n, \t or \x1b.
std::string OneLine(std::string_view text);

// Text from an input, for a message: as OneLine, at most about `longest` bytes of it ("abc...").
std::string Quoted(std::string_view text, std::size_t longest = 60);

}  // namespace lfiw::core

#endif  // LFIW_CORE_QUOTED_H_
