#ifndef LFIW_TESTS_EXPERIMENTS_PRESENTATION_MARKUP_CHECK_H_
#define LFIW_TESTS_EXPERIMENTS_PRESENTATION_MARKUP_CHECK_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/layers.h"

namespace lfiw::experiments {

// What is wrong with a piece of XML, or of HTML that closes what it opens: tags that do not nest,
// an attribute quote that is not closed, an ampersand that starts no entity. Empty when nothing is.
inline std::string MarkupFault(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '&') {
      const std::size_t end = text.find_first_of("; <", i);
      if (end == std::string_view::npos || text[end] != ';')
        return "bare & in " + std::string(text.substr(i, 20));
    }
    if (text[i] != '<') continue;
    const std::string start(text.substr(i, 40));
    char quote = 0;
    std::size_t end = i + 1;
    for (; end < text.size() && (quote || text[end] != '>'); ++end) {
      if (quote ? text[end] == quote : text[end] == '"' || text[end] == '\'')
        quote = quote ? char{0} : text[end];
      if (text[end] == '<') return "< inside the tag " + start;
    }
    if (end == text.size()) return "unclosed tag " + start;
    const std::string_view tag = text.substr(i + 1, end - i - 1);
    const bool closes = tag.starts_with('/');
    const std::string name(
        tag.substr(closes ? 1 : 0, tag.find_first_of(" \t\n\r/>", 1) - (closes ? 1 : 0)));
    if (closes) {
      if (open.empty() || open.back() != name) return "unexpected " + start;
      open.pop_back();
    } else if (!tag.ends_with('/') && name != "meta" && name != "!DOCTYPE") {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_PRESENTATION_MARKUP_CHECK_H_
