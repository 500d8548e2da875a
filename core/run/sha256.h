#ifndef LFIW_CORE_RUN_SHA256_H_
#define LFIW_CORE_RUN_SHA256_H_

#include <string>
#include <string_view>

namespace lfiw::core {

// SHA-256 (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view bytes);

// The same of a file's content, read in blocks. Throws DataError when it cannot be read.
std::string Sha256HexOfFile(const std::string& path);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_SHA256_H_
