#include "core/arrays/npy_header.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <limits>

#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxNpyRank = 32;

// Reads the few Python literals that numpy writes.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  NpyHeader Parse() {
    NpyHeader header;
    std::array<bool, 3> seen{};
    const auto once = [&](std::size_t key) {
      if (seen[key]) Fail("a repeated key");
      seen[key] = true;
    };
    Expect('{');
    while (!Accept('}')) {
      const std::string key = Quoted();
      Expect(':');
      if (key == "descr") {
        once(0);
        header.type = Type();
      } else if (key == "fortran_order") {
        once(1);
        header.fortran_order = Boolean();
      } else if (key == "shape") {
        once(2);
        header.shape = Shape();
      } else {
        Fail("an unknown key");
      }
      if (!Accept(',') && Peek() != '}') Fail("a missing comma");
    }
    if (std::find(seen.begin(), seen.end(), false) != seen.end()) Fail("a missing key");
    if (Peek() != '\0') Fail("text after its end");
    return header;
  }

 private:
  [[noreturn]] void Fail(const char* what) const {
    Throw<DataError>("{}: malformed numpy header: {}", where_, what);
  }

  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool Accept(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }

  void Expect(char c) {
    if (!Accept(c)) Fail("a missing delimiter");
  }

  std::string Quoted() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') Fail("a missing string");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) Fail("an open string");
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  std::string Type() {
    if (Peek() == '[') {
      Throw<DataError>("{}: a structured array, expected an array of numbers", where_);
    }
    const std::string descr = Quoted();
    if (descr.size() < 2) Fail("a type too short");
    if (descr[0] == '>') {
      Throw<DataError>(
          "{}: big-endian type '{}', expected little-endian; convert it before saving: "
          ".astype('<{}')",
          where_, descr, descr.substr(1));
    }
    if (descr[0] != '<' && descr[0] != '|' && descr[0] != '=') Fail("a type without byte order");
    return descr.substr(1);
  }

  bool Boolean() {
    Peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    Fail("fortran_order is neither True nor False");
  }

  std::vector<std::int64_t> Shape() {
    std::vector<std::int64_t> shape;
    Expect('(');
    while (!Accept(')')) {
      Peek();
      std::int64_t size = -1;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) Fail("a shape that is not a list of sizes");
      at_ += static_cast<std::size_t>(end - begin);
      shape.push_back(size);
      if (shape.size() > kMaxNpyRank) Fail("more than 32 dimensions");
      if (!Accept(',') && Peek() != ')') Fail("a missing comma");
    }
    return shape;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t NpyItemSize(std::string_view type) {
  if (type.size() < 2) return 0;
  std::int64_t size = 0;
  const char* last = type.data() + type.size();
  const auto [end, error] = std::from_chars(type.data() + 1, last, size);
  if (error != std::errc() || end != last || size < 0 || size > (1 << 24)) return 0;
  const auto one_of = [size](std::initializer_list<std::int64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end() ? size : 0;
  };
  switch (type[0]) {
    case 'b':
      return one_of({1});
    case 'i':
    case 'u':
      return one_of({1, 2, 4, 8});
    case 'f':
      return one_of({2, 4, 8});
    case 'S':
      return size;
    case 'U':
      return 4 * size;
    default:
      return 0;
  }
}

std::int64_t NpyByteCount(const NpyHeader& header, std::string_view where) {
  std::int64_t count = NpyItemSize(header.type);
  for (const std::int64_t size : header.shape) {
    if (size > 0 && count > std::numeric_limits<std::int64_t>::max() / size) {
      Throw<DataError>("{}: the shape [{}] exceeds what memory can hold", where,
                       fmt::join(header.shape, ", "));
    }
    count *= size;
  }
  return count;
}

std::vector<std::byte> RowMajorBytes(const std::vector<std::byte>& in, const NpyHeader& header) {
  const auto item = static_cast<std::size_t>(NpyItemSize(header.type));
  std::vector<std::byte> out(in.size());
  std::vector<std::int64_t> index(header.shape.size(), 0);
  for (std::size_t from = 0; from < in.size(); from += item) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
      to = to * static_cast<std::size_t>(header.shape[k]) + static_cast<std::size_t>(index[k]);
    }
    std::memcpy(out.data() + to * item, in.data() + from, item);
    // the first index runs fastest
    for (std::size_t k = 0; k < index.size(); ++k) {
      if (++index[k] < header.shape[k]) break;
      index[k] = 0;
    }
  }
  return out;
}

std::string FormatNpyHeader(const NpyHeader& header, std::size_t min_bytes) {
  const char order = NpyItemSize(header.type) == 1 ? '|' : '<';
  std::string shape;
  for (const std::int64_t size : header.shape) shape += fmt::format("{}, ", size);
  // numpy itself writes (3,) and (3, 4)
  if (!shape.empty()) shape.erase(shape.size() - (header.shape.size() == 1 ? 1 : 2));
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': {}, 'shape': ({}), }}", order,
                                 header.type, header.fortran_order ? "True" : "False", shape);
  const std::size_t unpadded = kNpyPreambleSize + 2 + text.size() + 1;
  const std::size_t size = std::max((unpadded + 63) / 64 * 64, (min_bytes + 63) / 64 * 64);
  text += std::string(size - unpadded, ' ') + '\n';
  std::string bytes(kMagic);
  bytes +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

std::size_t NpyLengthSize(std::string_view preamble, std::string_view where) {
  if (preamble.size() != kNpyPreambleSize || !preamble.starts_with(kMagic)) {
    Throw<DataError>("{}: not a numpy array (wrong first bytes)", where);
  }
  const int major = preamble[6];
  if (major < 1 || major > 3) {
    Throw<DataError>("{}: numpy format version {}, expected 1, 2 or 3", where, major);
  }
  return major == 1 ? 2 : 4;
}

NpyHeader ParseNpyHeader(std::string_view text, std::string_view where) {
  return HeaderParser(text, where).Parse();
}

}  // namespace lfiw::core
