#ifndef LFIW_CORE_ARRAYS_NPY_HEADER_H_
#define LFIW_CORE_ARRAYS_NPY_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lfiw::core {

// What numpy's .npy format (versions 1 to 3) says of an array before its bytes.
struct NpyHeader {
  std::string type;  // without byte order: "f4", "i8", "b1", "S7", "U3", or "O" for pickled objects
  std::vector<std::int64_t> shape;
  bool fortran_order = false;
};

// Bytes of one item of `type`; 0 for objects and for types that are not understood.
std::int64_t NpyItemSize(std::string_view type);

// Bytes of the whole array. Throws DataError, naming `where`, if that overflows.
std::int64_t NpyByteCount(const NpyHeader& header, std::string_view where);

// The bytes of a Fortran-order array in C order.
std::vector<std::byte> RowMajorBytes(const std::vector<std::byte>& in, const NpyHeader& header);

// Magic, version, length and text of a version 1 header, padded to a multiple of 64 bytes and to at
// least `min_bytes`.
std::string FormatNpyHeader(const NpyHeader& header, std::size_t min_bytes = 0);

// The first bytes of a file: magic and version. Returns the size of the length field that follows
// them, 2 or 4 bytes. Throws DataError, naming `where`.
inline constexpr std::size_t kNpyPreambleSize = 8;
std::size_t NpyLengthSize(std::string_view preamble, std::string_view where);

// Parses the text of a header, a Python dictionary of literals, without evaluating anything.
// Throws DataError, naming `where`, for big-endian and structured types and for malformed text.
NpyHeader ParseNpyHeader(std::string_view text, std::string_view where);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_NPY_HEADER_H_
