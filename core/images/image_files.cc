#include "core/images/image_files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/png.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kCifarSide = 32;
constexpr std::int64_t kCifarPlane = kCifarSide * kCifarSide;
constexpr std::int64_t kCifarRecord = 1 + 3 * kCifarPlane;
constexpr std::int64_t kMaxSide = 16'384;

ImageBatch ReadCifar(const std::string& path, std::int64_t max_bytes) {
  const std::string bytes = ReadFile(path, max_bytes);
  const std::int64_t size = std::ssize(bytes);
  if (size == 0 || size % kCifarRecord != 0) {
    Throw<DataError>("{}: has {} bytes, expected records of {} (CIFAR-10's binary format)", path,
                     size, kCifarRecord);
  }
  ImageBatch batch{.count = size / kCifarRecord,
                   .height = kCifarSide,
                   .width = kCifarSide,
                   .channels = 3,
                   .pixels = {},
                   .labels = {}};
  batch.pixels.resize(static_cast<std::size_t>(batch.count * batch.image_size()));
  const auto* record = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::uint8_t* out = batch.pixels.data();
  for (std::int64_t i = 0; i < batch.count; ++i, record += kCifarRecord) {
    if (record[0] > 9) {
      Throw<DataError>("{}: record {} has label {}, expected 0 to 9", path, i, record[0]);
    }
    batch.labels.push_back(record[0]);
    // planes become interleaved channels
    for (std::int64_t p = 0; p < kCifarPlane; ++p) {
      for (std::int64_t c = 0; c < 3; ++c) *out++ = record[1 + c * kCifarPlane + p];
    }
  }
  return batch;
}

std::vector<std::string> PngsIn(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_regular_file() && IsPngName(entry.path().filename().string())) {
      paths.push_back(entry.path().string());
    }
  }
  if (paths.empty()) Throw<DataError>("{}: no .png files in this folder", folder);
  std::sort(paths.begin(), paths.end());
  return paths;
}

ImageBatch ReadPngs(const std::string& folder, std::int64_t max_bytes) {
  const std::vector<std::string> paths = PngsIn(folder);
  ImageBatch batch = ReadPng(paths[0]);
  batch.count = std::ssize(paths);
  const std::int64_t size = batch.image_size();
  if (batch.count > max_bytes / size) {
    Throw<DataError>("{}: {} images of {} bytes exceed the limit of {}", folder, batch.count, size,
                     max_bytes);
  }
  batch.pixels.resize(static_cast<std::size_t>(batch.count * size));
  ParallelFor(batch.count, [&](std::int64_t i) {
    const std::string& path = paths[static_cast<std::size_t>(i)];
    const ImageBatch one = ReadPng(path);
    if (one.height != batch.height || one.width != batch.width || one.channels != batch.channels) {
      Throw<DataError>(
          "{}: is {} x {} with {} channels, the first one of the folder {} x {} with "
          "{}",
          path, one.height, one.width, one.channels, batch.height, batch.width, batch.channels);
    }
    std::copy(one.pixels.begin(), one.pixels.end(), batch.pixels.begin() + i * size);
  });
  return batch;
}

// The array that holds the images of a file.
const NpzArray& FindImages(const NpzFile& file, const std::string& path) {
  const auto& arrays = file.arrays();
  if (const auto named = arrays.find("arr_0"); named != arrays.end()) return named->second;
  const NpzArray* found = nullptr;
  for (const auto& [name, array] : arrays) {
    const bool images = array.type == "u1" && array.shape.size() >= 3;
    if (images && found != nullptr) {
      Throw<DataError>("{}: holds several arrays of images, expected one named arr_0", path);
    }
    if (images) found = &array;
  }
  if (found == nullptr) {
    Throw<DataError>("{}: holds no images, expected uint8 [n, height, width, channels] as arr_0",
                     path);
  }
  return *found;
}

ImageBatch ReadNpz(const std::string& path, std::int64_t max_bytes) {
  const NpzFile file = NpzFile::Read(path, max_bytes);
  const NpzArray& array = FindImages(file, path);
  std::vector<std::int64_t> shape = array.shape;
  if (shape.size() == 3) shape.push_back(1);
  const bool fits = array.type == "u1" && shape.size() == 4 && shape[0] >= 1 &&
                    std::clamp<std::int64_t>(shape[1], 1, kMaxSide) == shape[1] &&
                    std::clamp<std::int64_t>(shape[2], 1, kMaxSide) == shape[2] &&
                    (shape[3] == 1 || shape[3] == 3);
  if (!fits) {
    Throw<DataError>(
        "{}: its images have type {} and shape [{}], expected uint8 [n, height, width, channels] "
        "with 1 or 3 channels",
        path, array.type, fmt::join(array.shape, ", "));
  }
  ImageBatch batch{.count = shape[0],
                   .height = shape[1],
                   .width = shape[2],
                   .channels = shape[3],
                   .pixels = std::vector<std::uint8_t>(array.bytes.size()),
                   .labels = {}};
  std::memcpy(batch.pixels.data(), array.bytes.data(), array.bytes.size());
  if (file.Has("labels")) batch.labels = file.GetIntegers("labels");
  if (!batch.labels.empty() && std::ssize(batch.labels) != batch.count) {
    Throw<DataError>("{}: {} labels for {} images", path, batch.labels.size(), batch.count);
  }
  return batch;
}

}  // namespace

bool IsPngName(const std::string& file_name) {
  if (file_name.starts_with('.') || file_name.size() < 4) return false;
  std::string end = file_name.substr(file_name.size() - 4);
  for (char& c : end) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return end == ".png";
}

ImageFile ReadImages(const std::string& path, std::int64_t max_bytes) {
  if (fs::is_directory(path)) return {ImageFormat::kPngs, ReadPngs(path, max_bytes)};
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".bin") return {ImageFormat::kCifar10, ReadCifar(path, max_bytes)};
  if (extension == ".npz") return {ImageFormat::kNpz, ReadNpz(path, max_bytes)};
  Throw<DataError>(
      "{}: unknown kind of image file, expected a .bin file of CIFAR-10, a folder of "
      ".png files or an .npz file",
      path);
}

void WriteImages(const ImageBatch& images, const std::string& path) {
  NpzArray array{"u1", {images.count, images.height, images.width, images.channels}, {}};
  const auto bytes = std::as_bytes(std::span(images.pixels));
  array.bytes.assign(bytes.begin(), bytes.end());
  NpzFile file;
  file.Put("arr_0", std::move(array));
  if (!images.labels.empty()) file.Put("labels", images.labels);
  file.Write(path);
}

}  // namespace lfiw::core
