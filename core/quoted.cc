#include "core/quoted.h"

#include <fmt/format.h>

#include <algorithm>

namespace lfiw::core {
namespace {

bool Continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
}

// Bytes of the UTF-8 character at `at` that may be printed; 0 if there is none.
std::size_t PrintableBytes(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
  std::size_t bytes = 0;
  if (first >= 0xC2 && first <= 0xDF) bytes = 2;
  if (first >= 0xE0 && first <= 0xEF) bytes = 3;
  if (first >= 0xF0 && first <= 0xF4) bytes = 4;
  for (std::size_t k = 1; k < bytes; ++k) {
    if (!Continues(text, at + k)) return 0;
  }
  // U+0080 to U+009F are control characters too
  if (first == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0) return 0;
  return bytes;
}

}  // namespace

std::string OneLine(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = PrintableBytes(text, at);
    if (bytes == 0) {
      const char c = text[at];
      if (c == '\n' || c == '\t' || c == '\r') {
        out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r";
      } else {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    out += text.substr(at, bytes);
    at += std::max<std::size_t>(bytes, 1);
  }
  return out;
}

std::string Quoted(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return OneLine(text);
  std::size_t end = longest;
  while (end > 0 && Continues(text, end)) --end;
  return OneLine(text.substr(0, end)) + "...";
}

}  // namespace lfiw::core
