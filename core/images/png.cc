#include "core/images/png.h"

#include <png.h>

#include "core/error.h"
#include "core/run/atomic_file.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{256} << 20;
constexpr std::uint32_t kMaxPngSide = 16'384;

// libpng's image, released at the end of its scope.
struct Image {
  Image() { image.version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(&image); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  bool failed() const { return PNG_IMAGE_FAILED(image); }
  png_image image{};
};

[[noreturn]] void Reject(const std::string& where, const Image& png) {
  Throw<DataError>("{}: not a readable PNG file: {}", where, png.image.message);
}

}  // namespace

ImageBatch DecodePng(std::string_view bytes, const std::string& where) {
  Image png;
  png_image& image = png.image;
  png_image_begin_read_from_memory(&image, bytes.data(), bytes.size());
  if (png.failed()) Reject(where, png);
  if (image.width > kMaxPngSide || image.height > kMaxPngSide) {
    Throw<DataError>("{}: has {} x {} pixels, expected at most {} a side", where, image.width,
                     image.height, kMaxPngSide);
  }
  const bool color = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
  image.format = color ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  ImageBatch batch{.count = 1,
                   .height = static_cast<std::int64_t>(image.height),
                   .width = static_cast<std::int64_t>(image.width),
                   .channels = color ? 3 : 1,
                   .pixels = {},
                   .labels = {}};
  batch.pixels.resize(static_cast<std::size_t>(batch.image_size()));
  const png_color black{0, 0, 0};
  png_image_finish_read(&image, &black, batch.pixels.data(), 0, nullptr);
  // a damaged end may only warn, but leaves pixels that were never written
  if (png.failed()) Reject(where, png);
  return batch;
}

ImageBatch ReadPng(const std::string& path) {
  return DecodePng(ReadFile(path, kMaxFileBytes), path);
}

std::string EncodePng(const ImageBatch& images, std::int64_t i) {
  LFIW_ASSERT(images.channels == 1 || images.channels == 3);
  Image png;
  png_image& image = png.image;
  image.width = static_cast<png_uint_32>(images.width);
  image.height = static_cast<png_uint_32>(images.height);
  image.format = images.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const void* pixels = images.Image(i).data();
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  const int done = png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels, 0, nullptr);
  if (done == 0) Throw<DataError>("cannot encode an image as PNG: {}", image.message);
  bytes.resize(size);
  return bytes;
}

}  // namespace lfiw::core
