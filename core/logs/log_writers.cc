#include "core/logs/log_writers.h"

#include <cerrno>
#include <cstring>

#include "core/error.h"

namespace lfiw::core {

std::vector<std::int64_t> ActionIndices(const MatrixF& one_hot, const std::string& path) {
  std::vector<std::int64_t> indices;
  for (Eigen::Index i = 0; i < one_hot.rows(); ++i) {
    Eigen::Index index = 0;
    if (one_hot.cols() == 0 || one_hot.row(i).maxCoeff(&index) != 1.0f) {
      Throw<DataError>("cannot write {}: an action that is no one-hot row", path);
    }
    indices.push_back(index);
  }
  return indices;
}

CheckedStream::CheckedStream(const std::string& path)
    : path_(path), stream_(path, std::ios::binary | std::ios::trunc) {
  Check();
}

void CheckedStream::Write(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Check();
}

void CheckedStream::WriteAt(std::int64_t position, std::string_view bytes) {
  stream_.seekp(position);
  Write(bytes);
}

void CheckedStream::Close() {
  stream_.close();
  Check();
}

void CheckedStream::Check() const {
  if (!stream_) Throw<DataError>("cannot write {}: {}", path_, std::strerror(errno));
}

}  // namespace lfiw::core
