#ifndef LFIW_CORE_LOGS_TEXT_STREAM_H_
#define LFIW_CORE_LOGS_TEXT_STREAM_H_

#include <istream>
#include <memory>
#include <string>
#include <string_view>

namespace lfiw::core {

// Returns "gzip", "zstd", "bzip2" or "xz" for the first bytes of a file that is compressed with it,
// else nothing.
std::string_view CompressionOf(std::string_view start);

// Opens a file for reading, unpacked on the way where its first bytes say that it is compressed.
// What is damaged leaves the stream bad. Throws DataError when the file cannot be read.
std::unique_ptr<std::istream> OpenTextStream(const std::string& path);

// Returns the first bytes of a stream, at most `count`.
std::string FirstBytes(std::istream& stream, std::size_t count);

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_TEXT_STREAM_H_
