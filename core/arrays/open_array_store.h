#ifndef LFIW_CORE_ARRAYS_OPEN_ARRAY_STORE_H_
#define LFIW_CORE_ARRAYS_OPEN_ARRAY_STORE_H_

#include <memory>
#include <string>

#include "core/arrays/array_store.h"

namespace lfiw::core {

// Opens an HDF5 or npz file, told apart by its first bytes. Throws DataError.
std::unique_ptr<ArrayStore> OpenArrayStore(const std::string& path);

// True when the file starts as an HDF5 or a zip file does.
bool LooksLikeHdf5(const std::string& path);
bool LooksLikeZip(const std::string& path);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_OPEN_ARRAY_STORE_H_
