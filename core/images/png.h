#ifndef LFIW_CORE_IMAGES_PNG_H_
#define LFIW_CORE_IMAGES_PNG_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "core/images/image_batch.h"

namespace lfiw::core {

// One image of 8 bits a channel from a PNG file: gray or color as it is stored, 16 bits reduced to
// 8, palettes resolved, transparency laid over black. Files are treated as hostile: the size is
// checked before anything is allocated. Throws DataError that names `where` for what is no PNG file
// or has a side beyond 16384 pixels. The result's count is 1.
ImageBatch DecodePng(std::string_view bytes, const std::string& where);

// The same of a file of at most 256 MiB.
ImageBatch ReadPng(const std::string& path);

// A PNG file of image i, gray (1 channel) or color (3).
std::string EncodePng(const ImageBatch& images, std::int64_t i);

}  // namespace lfiw::core

#endif  // LFIW_CORE_IMAGES_PNG_H_
