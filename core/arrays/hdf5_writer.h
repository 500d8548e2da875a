#ifndef LFIW_CORE_ARRAYS_HDF5_WRITER_H_
#define LFIW_CORE_ARRAYS_HDF5_WRITER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/arrays/npz.h"

namespace lfiw::core {

enum class Hdf5Compression { kNone, kGzip };

// Writes an HDF5 file in this process (only reading needs a child: core/arrays/hdf5.h),
// reproducibly: no time stamps. Not thread safe. All members throw DataError that names the file
// and the array.
class Hdf5Writer {
 public:
  explicit Hdf5Writer(const std::string& path,
                      Hdf5Compression compression = Hdf5Compression::kNone);
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;
  ~Hdf5Writer();

  // A whole array; groups in its name ("metadata/policy/fc0/weight") are created. A scalar has an
  // empty shape. Types: numbers, "b1" (as h5py's booleans), "S<n>".
  void Put(const std::string& name, const NpzArray& array);
  // Appends rows to an array that grows, created by its first rows.
  void Append(const std::string& name, const NpzArray& rows);

  // Of the root ("") or a group, which is created if missing.
  void SetAttribute(const std::string& group, const std::string& name, std::int64_t value);
  void SetAttribute(const std::string& group, const std::string& name, const std::string& text);

  // Writes what is left and closes the file; the destructor does the same without reporting.
  void Close();

 private:
  std::int64_t CreateGrowing(const std::string& name, const NpzArray& rows);
  std::int64_t Group(const std::string& group);
  void Write(std::int64_t dataset, const NpzArray& array, std::int64_t first,
             const std::string& name);
  // After a failed write the library may crash when it closes what it could not write, so nothing
  // of this file is touched again: its identifiers are given up.
  [[noreturn]] void Fail(const std::string& what);

  std::string path_;
  Hdf5Compression compression_;
  std::int64_t file_ = -1;
  std::map<std::string, std::int64_t> growing_;  // open datasets
  std::map<std::string, std::int64_t> rows_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_HDF5_WRITER_H_
