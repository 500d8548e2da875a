#ifndef LFIW_CORE_ARRAYS_HDF5_SERVER_H_
#define LFIW_CORE_ARRAYS_HDF5_SERVER_H_

#include <cstdint>
#include <string>

namespace lfiw::core {

// The far side of core/arrays/hdf5.h. Messages on the socket, in the machine's byte order:
//   server, first:  kListing, then kArray / kAttribute for each, then kEnd; or kFailure
//   client:         Hdf5Request
//   server:         kRows with the bytes; or kFailure
enum class Hdf5Tag : std::uint32_t { kArray = 1, kAttribute, kEnd, kRows, kFailure };

struct Hdf5Header {
  std::uint32_t tag = 0;
  std::uint32_t reserved = 0;
  std::uint64_t size = 0;  // bytes that follow
};

// Rows of the array at this place in the listing.
struct Hdf5Request {
  std::int64_t array = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

// Fields of a kArray and kAttribute message, separated by '\n' (no field holds one):
//   array: type, reason why unreadable, sizes separated by blanks, name
//   attribute: name, text
// Serves one file on `socket` until the client closes it. Runs in the child and never throws.
// `cpu_seconds` limit each request.
void ServeHdf5(const std::string& path, int socket, int cpu_seconds);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_HDF5_SERVER_H_
