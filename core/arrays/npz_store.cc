#include "core/arrays/npz_store.h"

#include <algorithm>
#include <utility>

#include "core/arrays/npz_entry.h"
#include "core/error.h"

namespace lfiw::core {
namespace {

// Skipped rows are read in pieces of this size.
constexpr std::int64_t kSkipBytes = 1 << 20;
constexpr std::int64_t kMaxFortranBytes = std::int64_t{256} << 20;

class NpzStore final : public ArrayStore {
 public:
  explicit NpzStore(const std::string& path) : path_(path), zip_(OpenNpz(path)) {
    for (NpyEntryInfo& entry : ListNpyEntries(zip_.get(), path)) {
      const NpyEntry opened = OpenNpyEntry(zip_.get(), entry, Where(entry.name));
      arrays_.emplace(entry.name, Describe(opened.header));
      cursors_.emplace(entry.name, Cursor{entry, opened.header, opened.bytes, nullptr, 0, {}});
    }
  }

  const std::string& path() const override { return path_; }
  const char* kind() const override { return "npz"; }
  const std::map<std::string, ArrayInfo>& arrays() const override { return arrays_; }
  const std::map<std::string, std::string>& attributes() const override { return attributes_; }

  NpzArray ReadRows(const std::string& name, std::int64_t first, std::int64_t count) override {
    const ArrayInfo& info = Info(name);
    LFIW_ASSERT(first >= 0 && count >= 0 && first + count <= info.rows());
    Cursor& cursor = cursors_.at(name);
    NpzArray out{info.type, info.shape, {}};
    if (!info.shape.empty()) out.shape[0] = count;
    if (cursor.bytes == 0 || count == 0) return out;

    const std::int64_t row_bytes = cursor.bytes / info.rows();
    if (cursor.header.fortran_order && info.shape.size() > 1) {
      LoadRowMajor(cursor);
      const auto begin = cursor.row_major.begin() + first * row_bytes;
      out.bytes.assign(begin, begin + count * row_bytes);
      return out;
    }
    Seek(cursor, first * row_bytes);
    out.bytes.resize(static_cast<std::size_t>(count * row_bytes));
    Read(cursor, out.bytes);
    return out;
  }

 private:
  struct Cursor {
    NpyEntryInfo info;
    NpyHeader header;
    std::int64_t bytes = 0;
    Entry entry;  // null until the first read
    std::int64_t position = 0;
    std::vector<std::byte> row_major;  // the whole array, if the file has it in Fortran order
  };

  static ArrayInfo Describe(const NpyHeader& header) {
    const bool known = NpyItemSize(header.type) > 0;
    const char* reason = header.type.starts_with('O')
                             ? "pickled objects are never loaded; save numbers (episodes of "
                               "different lengths joined, with offsets)"
                             : "its type is not supported";
    return {header.type, header.shape, known ? "" : reason};
  }

  std::string Where(const std::string& name) const {
    return fmt::format("{}: array '{}'", path_, name);
  }

  void Read(Cursor& cursor, std::span<std::byte> out) const {
    ReadExactly(cursor.entry.get(), out, Where(cursor.info.name));
    cursor.position += static_cast<std::int64_t>(out.size());
    if (cursor.position == cursor.bytes) CheckEnd(cursor.entry.get(), Where(cursor.info.name));
  }

  // Rows of a Fortran-order array are scattered over all of it.
  void LoadRowMajor(Cursor& cursor) {
    if (!cursor.row_major.empty()) return;
    if (cursor.bytes > kMaxFortranBytes) {
      Throw<DataError>(
          "{} has {} bytes in Fortran order, expected C order (numpy.ascontiguousarray)",
          Where(cursor.info.name), cursor.bytes);
    }
    Seek(cursor, 0);
    std::vector<std::byte> bytes(static_cast<std::size_t>(cursor.bytes));
    Read(cursor, bytes);
    cursor.row_major = RowMajorBytes(bytes, cursor.header);
  }

  // Moves to a byte of the array; going back opens the entry again.
  void Seek(Cursor& cursor, std::int64_t position) {
    if (!cursor.entry || position < cursor.position) {
      cursor.entry = OpenNpyEntry(zip_.get(), cursor.info, Where(cursor.info.name)).entry;
      cursor.position = 0;
    }
    std::vector<std::byte> skipped;
    while (cursor.position < position) {
      const std::int64_t bytes = std::min(position - cursor.position, kSkipBytes);
      skipped.resize(static_cast<std::size_t>(bytes));
      Read(cursor, skipped);
    }
  }

  std::string path_;
  Zip zip_;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, Cursor> cursors_;
  std::map<std::string, std::string> attributes_;
};

}  // namespace

std::unique_ptr<ArrayStore> OpenNpzStore(const std::string& path) {
  return std::make_unique<NpzStore>(path);
}

}  // namespace lfiw::core
