#include "core/logs/line_reader.h"

#include <charconv>

#include "core/error.h"
#include "core/logs/text_stream.h"

namespace lfiw::core {
namespace {

constexpr std::size_t kMaxLine = 1 << 20;

}  // namespace

LineReader::LineReader(const std::string& path) : path_(path), file_(OpenTextStream(path)) {}

void LineReader::Refill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const std::size_t kept = buffer_.size();
  buffer_.resize(kept + kMaxLine);
  file_->read(buffer_.data() + kept, static_cast<std::streamsize>(kMaxLine));
  buffer_.resize(kept + static_cast<std::size_t>(file_->gcount()));
  if (file_->bad()) {
    Throw<DataError>("{}: reading failed after line {}; the file is damaged or cut short", path_,
                     line_);
  }
  ended_ = file_->eof();
  // old spreadsheets end lines with a carriage return alone
  if (line_ == 0 && at_ == 0 && buffer_.find('\n') == std::string::npos &&
      buffer_.find('\r') < buffer_.size() - 1) {
    line_end_ = '\r';
  }
}

std::optional<std::string_view> LineReader::Next() {
  std::size_t end = buffer_.find(line_end_, at_);
  while (end == std::string::npos && !ended_) {
    if (buffer_.size() - at_ > kMaxLine) {
      Throw<DataError>("{}, line {}: longer than {} bytes; not a text log", path_, line_ + 1,
                       kMaxLine);
    }
    Refill();
    end = buffer_.find(line_end_, at_);
  }
  if (at_ == buffer_.size()) return std::nullopt;
  if (end == std::string::npos) end = buffer_.size();
  std::string_view line = std::string_view(buffer_).substr(at_, end - at_);
  at_ = std::min(end + 1, buffer_.size());
  ++line_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::string_view> LineReader::NextNonEmpty() {
  std::optional<std::string_view> line = Next();
  while (line && line->empty()) line = Next();
  return line;
}

std::vector<std::string> SplitCsvLine(std::string_view line, std::string_view where,
                                      char separator) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) Throw<DataError>("{}: a quote is not closed", where);
  for (std::string& field : fields) {
    const std::size_t first = field.find_first_not_of(' ');
    field = first == std::string::npos
                ? ""
                : field.substr(first, field.find_last_not_of(' ') - first + 1);
  }
  return fields;
}

std::optional<double> ParseNumber(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace lfiw::core
