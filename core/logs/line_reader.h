#ifndef LFIW_CORE_LOGS_LINE_READER_H_
#define LFIW_CORE_LOGS_LINE_READER_H_

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lfiw::core {

// The lines of a text file, one at a time, without "\n" or "\r\n", or "\r" where a file has no
// "\n"; unpacked on the way where the file is compressed (text_stream.h). Throws DataError when the
// file cannot be read, is damaged, or a line is longer than 1 MiB.
class LineReader {
 public:
  explicit LineReader(const std::string& path);
  // Returns the next line, valid until the next call; nothing at the end.
  std::optional<std::string_view> Next();
  // Returns the next line that is not empty, as Next does.
  std::optional<std::string_view> NextNonEmpty();
  // Of the line that Next gave, from 1.
  std::int64_t line() const { return line_; }
  const std::string& path() const { return path_; }

 private:
  void Refill();

  std::string path_;
  std::unique_ptr<std::istream> file_;
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
  char line_end_ = '\n';
  std::int64_t line_ = 0;
};

// The fields of one line of separated values (RFC 4180: a quoted field may hold separators and
// doubled quotes, but no line break), without spaces around them. Throws DataError, naming `where`,
// for an open quote.
std::vector<std::string> SplitCsvLine(std::string_view line, std::string_view where,
                                      char separator = ',');

// A number that fills the whole text, "nan" and "inf" included; nothing if it is none.
std::optional<double> ParseNumber(std::string_view text);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_LINE_READER_H_
