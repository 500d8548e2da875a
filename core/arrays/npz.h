#ifndef LFIW_CORE_ARRAYS_NPZ_H_
#define LFIW_CORE_ARRAYS_NPZ_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/arrays/npz_array.h"
#include "core/matrix.h"

namespace lfiw::core {

// The arrays of one .npz file by name, the format of every array artifact (numpy.load opens it).
// Typed access throws DataError that names file, array, and the shape or type found and expected.
class NpzFile {
 public:
  NpzFile() = default;

  // Reads a whole file; sizes are checked before anything is allocated. Throws DataError when the
  // arrays together need more than `max_bytes`.
  static NpzFile Read(const std::string& path, std::int64_t max_bytes = std::int64_t{16} << 30);
  // Writes atomically (temporary file, fsync, rename) and reproducibly (no time stamps, arrays in
  // order of their names). There must be at least one array.
  void Write(const std::string& path) const;

  bool Has(const std::string& name) const { return arrays_.contains(name); }
  const std::map<std::string, NpzArray>& arrays() const { return arrays_; }

  void Put(const std::string& name, const MatrixF& values);                    // f4 [rows, cols]
  void Put(const std::string& name, const VectorF& values);                    // f4 [n]
  void Put(const std::string& name, const std::vector<double>& values);        // f8 [n]
  void Put(const std::string& name, const std::vector<float>& values);         // f4 [n]
  void Put(const std::string& name, const std::vector<std::int64_t>& values);  // i8 [n]
  void Put(const std::string& name, const std::vector<std::uint8_t>& values);  // u1 [n]
  void Put(const std::string& name, const std::string& text);                  // u1 [n], UTF-8
  void Put(const std::string& name, NpzArray array);

  // Floats and doubles accept f4 and f8 (rounded), integers any integer type or booleans.
  // GetText accepts what Put writes and numpy's scalar strings.
  MatrixF GetMatrix(const std::string& name) const;
  VectorF GetVector(const std::string& name) const;
  std::vector<double> GetDoubles(const std::string& name) const;  // any rank, flat
  std::vector<float> GetFloats(const std::string& name) const;    // any rank, flat
  std::vector<std::int64_t> GetIntegers(const std::string& name) const;
  std::vector<std::uint8_t> GetBytes(const std::string& name) const;
  std::string GetText(const std::string& name) const;

 private:
  const NpzArray& Find(const std::string& name) const;

  std::string path_ = "(memory)";
  std::map<std::string, NpzArray> arrays_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_NPZ_H_
