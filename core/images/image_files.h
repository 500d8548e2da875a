#ifndef LFIW_CORE_IMAGES_IMAGE_FILES_H_
#define LFIW_CORE_IMAGES_IMAGE_FILES_H_

#include <cstdint>
#include <string>

#include "core/images/image_batch.h"

namespace lfiw::core {

// Where images came from.
enum class ImageFormat {
  kCifar10,  // CIFAR-10's binary batches: records of a label and 32 x 32 red, green, blue planes
  kPngs,     // a folder of PNG files of one size, in the order of their names
  kNpz,      // uint8 [n, height, width, channels] or [n, height, width], as "arr_0" or alone
};

struct ImageFile {
  ImageFormat format;
  ImageBatch images;
};

// Whether a file of a folder is taken for a picture: named .png in upper or lower case, and not
// hidden, as the "._" files are that macOS leaves beside others.
bool IsPngName(const std::string& file_name);

// Reads a .bin file of CIFAR-10, a folder of .png files or an .npz file. Files are treated as
// hostile: sizes are checked before anything is allocated, and all pixels together must stay within
// `max_bytes`. Throws DataError that names the file, what it holds and what was expected.
ImageFile ReadImages(const std::string& path, std::int64_t max_bytes = std::int64_t{8} << 30);

// Writes images as `arr_0`, uint8 [n, height, width, channels], and labels, where known, as
// `labels`.
void WriteImages(const ImageBatch& images, const std::string& path);

}  // namespace lfiw::core

#endif  // LFIW_CORE_IMAGES_IMAGE_FILES_H_
