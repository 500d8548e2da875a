#include "core/arrays/hdf5_server.h"

#include <fmt/format.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "core/arrays/hdf5_handle.h"
#include "core/quoted.h"

namespace lfiw::core {
namespace {

constexpr std::size_t kMaxServedRank = 32;
// Enough for the chunks of one block of rows; larger chunks are read again for every block.
constexpr std::size_t kChunkCacheBytes = 32 << 20;
constexpr std::size_t kMaxAttributeBytes = 1 << 20;

// What goes wrong in here is told to the client as text.
class ServerError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Keeps the innermost description of the library's error stack.
herr_t KeepDescription(unsigned depth, const H5E_error2_t* error, void* out) {
  if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
  return 0;
}

std::string LibraryError() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, KeepDescription, &text);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "the HDF5 library gave no reason" : text;
}

// Takes over what a call of the library returned. Throws ServerError if the call failed.
class Id : public Hdf5Handle {
 public:
  Id(hid_t id, herr_t (*close)(hid_t)) : Hdf5Handle(id, close) {
    if (id < 0) throw ServerError(LibraryError());
  }
};

void Check(herr_t status) {
  if (status < 0) throw ServerError(LibraryError());
}

void SendAll(int socket, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    // the client is gone
    if (sent <= 0) _exit(0);
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

void Send(int socket, Hdf5Tag tag, std::string_view bytes) {
  const Hdf5Header header{static_cast<std::uint32_t>(tag), 0, bytes.size()};
  SendAll(socket, &header, sizeof header);
  SendAll(socket, bytes.data(), bytes.size());
}

bool Receive(int socket, Hdf5Request& request) {
  char* at = reinterpret_cast<char*>(&request);
  std::size_t left = sizeof request;
  while (left > 0) {
    const ssize_t got = recv(socket, at, left, 0);
    if (got <= 0) return false;
    at += got;
    left -= static_cast<std::size_t>(got);
  }
  return true;
}

// A dataset and the type in memory that its items are read as.
struct Dataset {
  std::string name;
  std::string type;
  std::string unreadable;
  std::vector<hsize_t> shape;
};

Id OpenDataset(hid_t file, const std::string& name) {
  const Id access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose);
  Check(H5Pset_chunk_cache(access.get(), H5D_CHUNK_CACHE_NSLOTS_DEFAULT, kChunkCacheBytes, 1.0));
  return {H5Dopen2(file, name.c_str(), access.get()), H5Dclose};
}

// numpy's name of a type, and "" with a reason for those that are not supported.
std::string TypeName(hid_t type, std::string& unreadable) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (size <= 8) return size <= 4 ? "f4" : "f8";
      break;
    case H5T_INTEGER:
      if (size == 1 || size == 2 || size == 4 || size == 8) {
        return fmt::format("{}{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "i", size);
      }
      break;
    case H5T_ENUM:
      if (size == 1) return "b1";
      break;
    case H5T_STRING:
      if (H5Tis_variable_str(type) > 0) return "S0";
      if (size > 0 && size <= (1 << 20)) return fmt::format("S{}", size);
      break;
    default:
      break;
  }
  unreadable = "its type is not supported (expected numbers, booleans or text)";
  return "";
}

// The type in memory for a name that TypeName gave.
Id MemoryType(const std::string& name, hid_t file_type) {
  const auto copy = [](hid_t type) { return Id(H5Tcopy(type), H5Tclose); };
  if (name == "f4") return copy(H5T_NATIVE_FLOAT);
  if (name == "f8") return copy(H5T_NATIVE_DOUBLE);
  if (name == "i1") return copy(H5T_NATIVE_INT8);
  if (name == "i2") return copy(H5T_NATIVE_INT16);
  if (name == "i4") return copy(H5T_NATIVE_INT32);
  if (name == "i8") return copy(H5T_NATIVE_INT64);
  if (name == "u1") return copy(H5T_NATIVE_UINT8);
  if (name == "u2") return copy(H5T_NATIVE_UINT16);
  if (name == "u4") return copy(H5T_NATIVE_UINT32);
  if (name == "u8") return copy(H5T_NATIVE_UINT64);
  // text and booleans as they are
  return copy(file_type);
}

// The name of a filter of which the file may not state one; it stands in a message of one line.
std::string FilterName(H5Z_filter_t filter, const std::string& stated) {
  if (filter == 32000) return "lzf";
  if (filter == 32001) return "blosc";
  if (filter == 32015) return "zstd";
  const std::string text = Quoted(stated, 30);
  return text.empty() ? "an unknown filter" : text;
}

std::string StorageProblem(hid_t dataset) {
  const Id creation(H5Dget_create_plist(dataset), H5Pclose);
  if (H5Pget_layout(creation.get()) == H5D_VIRTUAL) return "virtual datasets are not followed";
  if (H5Pget_external_count(creation.get()) > 0) return "storage in other files is not followed";
  const int filters = H5Pget_nfilters(creation.get());
  for (int i = 0; i < filters; ++i) {
    std::array<char, 64> name{};
    std::size_t values = 0;
    unsigned int flags = 0, config = 0;
    const H5Z_filter_t filter = H5Pget_filter2(creation.get(), static_cast<unsigned int>(i), &flags,
                                               &values, nullptr, name.size(), name.data(), &config);
    if (filter < 0 || H5Zfilter_avail(filter) > 0) continue;
    name.back() = '\0';
    return fmt::format(
        "it is compressed with {} (filter {}), which is not read; write it again with gzip (h5py: "
        "compression='gzip') or without compression",
        FilterName(filter, name.data()), filter);
  }
  return "";
}

Dataset Describe(hid_t file, const std::string& name) {
  const Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose);
  const Id space(H5Dget_space(dataset.get()), H5Sclose);
  const Id type(H5Dget_type(dataset.get()), H5Tclose);
  Dataset out{name, {}, StorageProblem(dataset.get()), {}};
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || static_cast<std::size_t>(rank) > kMaxServedRank) {
    throw ServerError("a dataset without a simple shape");
  }
  out.shape.resize(static_cast<std::size_t>(rank));
  if (rank > 0) Check(H5Sget_simple_extent_dims(space.get(), out.shape.data(), nullptr));
  if (H5Sget_simple_extent_type(space.get()) == H5S_NULL) out.unreadable = "it is empty";
  std::string unsupported;
  out.type = TypeName(type.get(), unsupported);
  if (out.unreadable.empty()) out.unreadable = unsupported;
  return out;
}

// Text of fixed length ends at its first zero byte.
std::string FixedText(const char* bytes, std::size_t size) { return {bytes, strnlen(bytes, size)}; }

std::string VariableText(hid_t attribute, hid_t type) {
  char* text = nullptr;
  Check(H5Aread(attribute, type, &text));
  std::string out = text == nullptr ? "" : text;
  H5free_memory(text);
  return out;
}

std::string ScalarText(hid_t attribute, hid_t type) {
  const std::size_t size = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER: {
      std::int64_t value = 0;
      Check(H5Aread(attribute, H5T_NATIVE_INT64, &value));
      return fmt::format("{}", value);
    }
    case H5T_FLOAT: {
      double value = 0.0;
      Check(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value));
      return fmt::format("{}", value);
    }
    case H5T_STRING: {
      if (H5Tis_variable_str(type) > 0) return VariableText(attribute, type);
      if (size > kMaxAttributeBytes) return "";
      std::string bytes(size, '\0');
      Check(H5Aread(attribute, type, bytes.data()));
      return FixedText(bytes.data(), size);
    }
    default:
      return "";
  }
}

// The soft limit moves ahead of what was used so far, so that each request has its own time.
void AllowCpuSeconds(int seconds) {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const rlim_t used =
      static_cast<rlim_t>(usage.ru_utime.tv_sec) + static_cast<rlim_t>(usage.ru_stime.tv_sec);
  rlimit limit;
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, used + 1 + static_cast<rlim_t>(seconds));
  setrlimit(RLIMIT_CPU, &limit);
}

// What one walk through the file collects.
struct Listing {
  hid_t file = -1;
  int socket = -1;
  int cpu_seconds = 0;
  std::vector<Dataset> datasets;
  std::string failure;
};

void SendAttribute(Listing& listing, hid_t object, const std::string& owner, const char* name) {
  const Id attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Id space(H5Aget_space(attribute.get()), H5Sclose);
  if (H5Sget_simple_extent_type(space.get()) != H5S_SCALAR) return;
  const Id type(H5Aget_type(attribute.get()), H5Tclose);
  std::string text = ScalarText(attribute.get(), type.get());
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string key = owner.empty() ? name : owner + "@" + name;
  std::replace(key.begin(), key.end(), '\n', ' ');
  Send(listing.socket, Hdf5Tag::kAttribute, key + "\n" + text);
}

// Names of attributes first: reading them inside the iteration would nest library calls.
herr_t CollectName(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

void SendAttributes(Listing& listing, hid_t object, const std::string& owner) {
  std::vector<std::string> names;
  Check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, CollectName, &names));
  for (const std::string& name : names) SendAttribute(listing, object, owner, name.c_str());
}

void SendDataset(Listing& listing, const std::string& name) {
  Dataset dataset = Describe(listing.file, name);
  if (name.find('\n') != std::string::npos) return;
  Send(listing.socket, Hdf5Tag::kArray,
       fmt::format("{}\n{}\n{}\n{}", dataset.type, dataset.unreadable,
                   fmt::join(dataset.shape, " "), name));
  listing.datasets.push_back(std::move(dataset));
}

herr_t VisitObject(hid_t root, const char* name, const H5O_info_t* info, void* data) {
  auto& listing = *static_cast<Listing*>(data);
  try {
    AllowCpuSeconds(listing.cpu_seconds);
    const std::string owner = std::string_view(name) == "." ? "" : name;
    if (info->type == H5O_TYPE_DATASET) {
      SendDataset(listing, owner);
    } else if (info->type == H5O_TYPE_GROUP) {
      const Id object(H5Oopen(root, name, H5P_DEFAULT), H5Oclose);
      SendAttributes(listing, object.get(), owner);
    }
  } catch (const std::exception& error) {
    listing.failure = fmt::format("'{}': {}", name, error.what());
    return -1;
  }
  return 0;
}

// Text of any length becomes text of the longest one's length.
std::string ReadVariableText(hid_t dataset, hid_t type, hid_t memory, hid_t space, std::size_t n) {
  std::vector<char*> items(n, nullptr);
  Check(H5Dread(dataset, type, memory, space, H5P_DEFAULT, items.data()));
  std::size_t longest = 1;
  for (const char* item : items) longest = std::max(longest, item == nullptr ? 0 : strlen(item));
  if (longest > std::size_t{1} << 24 || n > (std::size_t{1} << 28) / longest) {
    throw ServerError("its texts are too long");
  }
  std::string out(n * longest, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    if (items[i] != nullptr) std::memcpy(&out[i * longest], items[i], strlen(items[i]));
  }
  return out;
}

std::string ReadRows(hid_t dataset, const Dataset& about, const Hdf5Request& request) {
  const Id space(H5Dget_space(dataset), H5Sclose);
  const Id file_type(H5Dget_type(dataset), H5Tclose);
  std::vector<hsize_t> count = about.shape;
  std::vector<hsize_t> start(count.size(), 0);
  hsize_t items = 1;
  if (!count.empty()) {
    start[0] = static_cast<hsize_t>(request.first);
    count[0] = static_cast<hsize_t>(request.count);
    Check(H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                              nullptr));
  }
  for (const hsize_t size : count) items *= size;
  const Id memory(count.empty()
                      ? H5Screate(H5S_SCALAR)
                      : H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr),
                  H5Sclose);
  const Id type = MemoryType(about.type, file_type.get());
  if (about.type == "S0") {
    return ReadVariableText(dataset, type.get(), memory.get(), space.get(), items);
  }
  std::string out(items * H5Tget_size(type.get()), '\0');
  Check(H5Dread(dataset, type.get(), memory.get(), space.get(), H5P_DEFAULT, out.data()));
  return out;
}

// Datasets stay open between requests, since an open one holds its chunk cache.
class OpenDatasets {
 public:
  explicit OpenDatasets(hid_t file) : file_(file) {}

  hid_t Get(std::int64_t index, const std::string& name) {
    for (const auto& [other, id] : open_) {
      if (other == index) return id.get();
    }
    if (open_.size() == kMaxOpen) open_.pop_front();
    return open_.emplace_back(index, OpenDataset(file_, name)).second.get();
  }

 private:
  static constexpr std::size_t kMaxOpen = 8;
  hid_t file_;
  std::deque<std::pair<std::int64_t, Id>> open_;
};

Id OpenFile(const std::string& path) {
  try {
    return Id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  } catch (const ServerError& error) {
    const std::string text = error.what();
    if (text.find("truncated file") == std::string::npos) throw;
    throw ServerError("the file is cut off: copy or write it again (" + text + ")");
  }
}

void Serve(const std::string& path, int socket, int cpu_seconds) {
  AllowCpuSeconds(cpu_seconds);
  Check(H5PLset_loading_state(0));
  const Id file = OpenFile(path);
  Listing listing{file.get(), socket, cpu_seconds, {}, {}};
  const herr_t status =
      H5Ovisit2(file.get(), H5_INDEX_NAME, H5_ITER_INC, VisitObject, &listing, H5O_INFO_BASIC);
  if (!listing.failure.empty()) throw ServerError(listing.failure);
  Check(status);
  Send(socket, Hdf5Tag::kEnd, "");

  OpenDatasets open(file.get());
  Hdf5Request request;
  while (Receive(socket, request)) {
    AllowCpuSeconds(cpu_seconds);
    const Dataset& dataset = listing.datasets.at(static_cast<std::size_t>(request.array));
    Send(socket, Hdf5Tag::kRows, ReadRows(open.Get(request.array, dataset.name), dataset, request));
  }
}

}  // namespace

void ServeHdf5(const std::string& path, int socket, int cpu_seconds) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  try {
    Serve(path, socket, cpu_seconds);
  } catch (const std::bad_alloc&) {
    Send(socket, Hdf5Tag::kFailure, "it needs more memory than reading a file may take");
  } catch (const std::exception& error) {
    Send(socket, Hdf5Tag::kFailure, error.what());
  }
}

}  // namespace lfiw::core
