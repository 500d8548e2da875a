#ifndef LFIW_CORE_ARRAYS_NPZ_STORE_H_
#define LFIW_CORE_ARRAYS_NPZ_STORE_H_

#include <memory>
#include <string>

#include "core/arrays/array_store.h"

namespace lfiw::core {

// An .npz file read in blocks of rows, stored or deflated. Headers and sizes are checked against
// the file before anything is allocated. Pickled objects are listed and never read. Throws
// DataError.
std::unique_ptr<ArrayStore> OpenNpzStore(const std::string& path);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_NPZ_STORE_H_
