#include "core/logs/text_stream.h"

#include <zstd.h>

#include <boost/iostreams/concepts.hpp>
#include <boost/iostreams/filter/bzip2.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "core/error.h"

namespace lfiw::core {
namespace {

namespace io = boost::iostreams;

constexpr std::size_t kMagicBytes = 6;

// What zstd unpacks. Boost's own filter takes a file that is cut short for a whole one.
class ZstdSource : public io::source {
 public:
  explicit ZstdSource(std::ifstream& file)
      : file_(&file),
        stream_(ZSTD_createDStream(), ZSTD_freeDStream),
        packed_(ZSTD_DStreamInSize()) {
    if (!stream_) throw std::bad_alloc();
  }

  // Returns the number of bytes written to `text`, -1 at the end.
  std::streamsize read(char* text, std::streamsize size) {
    ZSTD_outBuffer out{text, static_cast<std::size_t>(size), 0};
    while (out.pos == 0) {
      const bool more = Refill();
      if (!more && pending_ == 0) return -1;
      // without more to read, what it still holds
      pending_ = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(pending_)) throw std::ios_base::failure("damaged");
      if (!more && out.pos == 0) throw std::ios_base::failure("cut short");
    }
    return static_cast<std::streamsize>(out.pos);
  }

 private:
  // Reads from the file where all before is unpacked. Returns whether there is anything to unpack.
  bool Refill() {
    if (in_.pos < in_.size) return true;
    file_->read(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    in_ = {packed_.data(), static_cast<std::size_t>(file_->gcount()), 0};
    return in_.size > 0;
  }

  std::ifstream* file_;
  std::shared_ptr<ZSTD_DStream> stream_;  // copied with its source
  std::vector<char> packed_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  std::size_t pending_ = 1;  // 0 where a frame is complete
};

// A file that is unpacked while it is read.
class UnpackingStream : public io::filtering_istream {
 public:
  UnpackingStream(std::ifstream file, std::string_view compression) : file_(std::move(file)) {
    if (compression == "gzip") push(io::gzip_decompressor());
    if (compression == "bzip2") push(io::bzip2_decompressor());
    if (compression == "xz") push(io::lzma_decompressor());
    if (compression == "zstd") {
      push(ZstdSource(file_));
    } else {
      push(file_);
    }
  }
  ~UnpackingStream() override { reset(); }  // it refers to the file

 private:
  std::ifstream file_;
};

}  // namespace

std::string_view CompressionOf(std::string_view start) {
  constexpr std::pair<std::string_view, std::string_view> kMagic[] = {{"\x1f\x8b", "gzip"},
                                                                      {"\x28\xb5\x2f\xfd", "zstd"},
                                                                      {"BZh", "bzip2"},
                                                                      {"\xfd"
                                                                       "7zXZ",
                                                                       "xz"}};
  for (const auto& [magic, name] : kMagic) {
    if (start.starts_with(magic)) return name;
  }
  return "";
}

std::unique_ptr<std::istream> OpenTextStream(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Throw<DataError>("cannot read {}: {}", path, std::strerror(errno));
  const std::string_view compression = CompressionOf(FirstBytes(file, kMagicBytes));
  file.clear();
  file.seekg(0);
  if (compression.empty()) return std::make_unique<std::ifstream>(std::move(file));
  return std::make_unique<UnpackingStream>(std::move(file), compression);
}

std::string FirstBytes(std::istream& stream, std::size_t count) {
  std::string start(count, '\0');
  stream.read(start.data(), static_cast<std::streamsize>(count));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return start;
}

}  // namespace lfiw::core
