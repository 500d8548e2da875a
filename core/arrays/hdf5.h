#ifndef LFIW_CORE_ARRAYS_HDF5_H_
#define LFIW_CORE_ARRAYS_HDF5_H_

#include <cstdint>
#include <memory>
#include <string>

#include "core/arrays/array_store.h"
#include "core/arrays/npz.h"

namespace lfiw::core {

// Reading HDF5 files of others. The HDF5 library crashes on some broken files, so it runs in a
// child process (forked, limited in memory and in CPU time per request) and hands arrays over
// through a socket whose every length is checked here; a crash, a limit or an error of the library
// becomes a DataError. Links to other files, external and virtual storage and filter plugins are
// not followed.
struct Hdf5Limits {
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // of the child, beyond what it starts with
  int seconds = 10;                                   // CPU time of one request or object
  int wait_seconds = 300;                             // wall time of one request
};

// Lists all numeric and text datasets of a file. Types: IEEE floats as f4 or f8, integers of their
// size, h5py's booleans as b1, text as S<n>. Others are listed as unreadable.
std::unique_ptr<ArrayStore> OpenHdf5(const std::string& path, const Hdf5Limits& limits = {});

// All datasets below `group` ("metadata/policy"; "" for the whole file) with names relative to it.
// Throws DataError when the group holds no dataset or they need more than `max_bytes` together.
NpzFile ReadHdf5Group(const std::string& path, const std::string& group,
                      std::int64_t max_bytes = std::int64_t{1} << 30);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_HDF5_H_
