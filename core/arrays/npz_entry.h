#ifndef LFIW_CORE_ARRAYS_NPZ_ENTRY_H_
#define LFIW_CORE_ARRAYS_NPZ_ENTRY_H_

#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npy_header.h"

namespace lfiw::core {

// The zip archive below an .npz file and its entries, for this folder's own use. Everything throws
// DataError that names `where` or the path.

struct DiscardZip {
  void operator()(zip_t* zip) const { zip_discard(zip); }
};
using Zip = std::unique_ptr<zip_t, DiscardZip>;

struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

// `verb` ("read" or "write") is for the message.
Zip OpenZip(const std::string& path, int flags, std::string_view verb);

// An .npz file to read; an empty or missing file is named.
Zip OpenNpz(const std::string& path);

// One array in an archive. `size` is what the uncompressed entry must have, checked against what
// its compressed bytes in the file can hold.
struct NpyEntryInfo {
  std::string name;
  zip_uint64_t index = 0;
  std::int64_t size = 0;
};

// All arrays; an entry that is none, or that occurs twice, is an error.
std::vector<NpyEntryInfo> ListNpyEntries(zip_t* zip, const std::string& path);

// An entry positioned at the first byte of its array. `bytes`, the size of the array, agrees with
// the entry's; it is 0 for types that are not understood.
struct NpyEntry {
  Entry entry;
  NpyHeader header;
  std::int64_t bytes = 0;
};
NpyEntry OpenNpyEntry(zip_t* zip, const NpyEntryInfo& info, std::string_view where);

// Fills `out`; an entry that ends early or fails its checksum is an error.
void ReadExactly(zip_file_t* entry, std::span<std::byte> out, std::string_view where);

// Makes the library compare the checksum, which it does where the entry ends.
void CheckEnd(zip_file_t* entry, std::string_view where);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_NPZ_ENTRY_H_
