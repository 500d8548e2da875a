#include "core/arrays/hdf5_writer.h"

#include <hdf5.h>

#include <algorithm>

#include "core/arrays/array_store.h"
#include "core/arrays/hdf5_handle.h"
#include "core/arrays/npy_header.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kChunkBytes = 1 << 18;
constexpr unsigned kGzipLevel = 4;

std::vector<hsize_t> Sizes(const std::vector<std::int64_t>& shape) {
  return {shape.begin(), shape.end()};
}

// h5py's booleans: an enumeration of one byte.
hid_t BooleanType() {
  const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
  std::int8_t value = 0;
  H5Tenum_insert(type, "FALSE", &value);
  value = 1;
  H5Tenum_insert(type, "TRUE", &value);
  return type;
}

hid_t TextType(std::size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, std::max<std::size_t>(size, 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

// A new type for numpy's name, or -1.
hid_t MakeType(const std::string& name) {
  const std::map<std::string, hid_t> numbers = {
      {"f4", H5T_IEEE_F32LE}, {"f8", H5T_IEEE_F64LE}, {"i1", H5T_STD_I8LE}, {"i2", H5T_STD_I16LE},
      {"i4", H5T_STD_I32LE},  {"i8", H5T_STD_I64LE},  {"u1", H5T_STD_U8LE}, {"u2", H5T_STD_U16LE},
      {"u4", H5T_STD_U32LE},  {"u8", H5T_STD_U64LE}};
  if (const auto found = numbers.find(name); found != numbers.end()) return H5Tcopy(found->second);
  if (name == "b1") return BooleanType();
  if (name.starts_with('S')) return TextType(static_cast<std::size_t>(NpyItemSize(name)));
  return -1;
}

// Links whose missing groups are created.
hid_t MakeLinks() {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  return links;
}

hid_t MakeSpace(const std::vector<hsize_t>& sizes) {
  if (sizes.empty()) return H5Screate(H5S_SCALAR);
  return H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr);
}

// Properties of a new dataset without time stamps.
hid_t MakeCreation() {
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_obj_track_times(creation, 0);
  return creation;
}

}  // namespace

Hdf5Writer::Hdf5Writer(const std::string& path, Hdf5Compression compression)
    : path_(path), compression_(compression) {
  // the library would close given-up files at the end of the program, and crash (see Fail)
  H5dont_atexit();
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // old enough for every reader
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V18);
  file_ = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get());
  if (file_ < 0) Throw<DataError>("cannot write {}: the HDF5 file cannot be created", path);
}

Hdf5Writer::~Hdf5Writer() {
  if (file_ < 0 || H5Fflush(file_, H5F_SCOPE_LOCAL) < 0) return;
  for (const auto& [name, dataset] : growing_) H5Dclose(dataset);
  if (file_ >= 0) H5Fclose(file_);
}

void Hdf5Writer::Fail(const std::string& what) {
  growing_.clear();
  file_ = -1;
  Throw<DataError>("cannot write {}: {} (is the disk full?)", path_, what);
}

std::int64_t Hdf5Writer::Group(const std::string& group) {
  if (group.empty()) return H5Gopen2(file_, "/", H5P_DEFAULT);
  if (H5Lexists(file_, group.c_str(), H5P_DEFAULT) > 0) {
    return H5Gopen2(file_, group.c_str(), H5P_DEFAULT);
  }
  const Hdf5Handle links(MakeLinks(), H5Pclose);
  return H5Gcreate2(file_, group.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT);
}

void Hdf5Writer::Write(std::int64_t dataset, const NpzArray& array, std::int64_t first,
                       const std::string& name) {
  if (array.bytes.empty()) return;
  const Hdf5Handle type(MakeType(array.type), H5Tclose);
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose);
  const std::vector<hsize_t> count = Sizes(array.shape);
  std::vector<hsize_t> start(count.size(), 0);
  if (!start.empty()) {
    start[0] = static_cast<hsize_t>(first);
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  }
  const Hdf5Handle memory(MakeSpace(count), H5Sclose);
  if (H5Dwrite(dataset, type.get(), memory.get(), space.get(), H5P_DEFAULT, array.bytes.data()) <
      0) {
    Fail(fmt::format("array '{}'", name));
  }
}

void Hdf5Writer::Put(const std::string& name, const NpzArray& array) {
  const Hdf5Handle type(MakeType(array.type), H5Tclose);
  const Hdf5Handle space(MakeSpace(Sizes(array.shape)), H5Sclose);
  const Hdf5Handle links(MakeLinks(), H5Pclose);
  const Hdf5Handle creation(MakeCreation(), H5Pclose);
  const Hdf5Handle dataset(H5Dcreate2(file_, name.c_str(), type.get(), space.get(), links.get(),
                                      creation.get(), H5P_DEFAULT),
                           H5Dclose);
  if (dataset.get() < 0) Fail(fmt::format("array '{}'", name));
  Write(dataset.get(), array, 0, name);
}

std::int64_t Hdf5Writer::CreateGrowing(const std::string& name, const NpzArray& rows) {
  const ArrayInfo info{rows.type, rows.shape};
  const std::int64_t row_bytes =
      std::max<std::int64_t>(1, info.row_items() * NpyItemSize(rows.type));
  std::vector<hsize_t> none = Sizes(rows.shape);
  std::vector<hsize_t> most = none;
  std::vector<hsize_t> chunk = none;
  none[0] = 0;
  most[0] = H5S_UNLIMITED;
  chunk[0] = static_cast<hsize_t>(std::max<std::int64_t>(1, kChunkBytes / row_bytes));
  const Hdf5Handle type(MakeType(rows.type), H5Tclose);
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(none.size()), none.data(), most.data()),
                         H5Sclose);
  const Hdf5Handle links(MakeLinks(), H5Pclose);
  const Hdf5Handle creation(MakeCreation(), H5Pclose);
  H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
  if (compression_ == Hdf5Compression::kGzip) H5Pset_deflate(creation.get(), kGzipLevel);
  const hid_t dataset = H5Dcreate2(file_, name.c_str(), type.get(), space.get(), links.get(),
                                   creation.get(), H5P_DEFAULT);
  if (dataset < 0) Fail(fmt::format("array '{}'", name));
  return dataset;
}

void Hdf5Writer::Append(const std::string& name, const NpzArray& rows) {
  LFIW_ASSERT(!rows.shape.empty());
  const ArrayInfo info{rows.type, rows.shape};
  std::vector<hsize_t> sizes = Sizes(rows.shape);
  if (!growing_.contains(name)) growing_.emplace(name, CreateGrowing(name, rows));
  const std::int64_t first = rows_[name];
  rows_[name] += info.rows();
  sizes[0] = static_cast<hsize_t>(rows_[name]);
  if (H5Dset_extent(growing_.at(name), sizes.data()) < 0) Fail(fmt::format("array '{}'", name));
  Write(growing_.at(name), rows, first, name);
}

void Hdf5Writer::SetAttribute(const std::string& group, const std::string& name,
                              std::int64_t value) {
  const Hdf5Handle owner(Group(group), H5Gclose);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle attribute(
      H5Acreate2(owner.get(), name.c_str(), H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  if (H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) < 0) {
    Fail(fmt::format("attribute '{}'", name));
  }
}

void Hdf5Writer::SetAttribute(const std::string& group, const std::string& name,
                              const std::string& text) {
  const Hdf5Handle owner(Group(group), H5Gclose);
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  // of variable length, which h5py gives back as str
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  const Hdf5Handle attribute(
      H5Acreate2(owner.get(), name.c_str(), type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const char* value = text.c_str();
  if (H5Awrite(attribute.get(), type.get(), &value) < 0) {
    Fail(fmt::format("attribute '{}'", name));
  }
}

void Hdf5Writer::Close() {
  if (H5Fflush(file_, H5F_SCOPE_LOCAL) < 0) Fail("the last arrays");
  bool closed = true;
  for (const auto& [name, dataset] : growing_) closed = H5Dclose(dataset) >= 0 && closed;
  growing_.clear();
  if (file_ >= 0) closed = H5Fclose(file_) >= 0 && closed;
  file_ = -1;
  if (!closed) Fail("closing the file failed");
}

}  // namespace lfiw::core
