#ifndef LFIW_CORE_NPZ_STORE_H_
#define LFIW_CORE_NPZ_STORE_H_

#include <memory>
#include <string>

#include "core/array_store.h"

namespace lfiw {

// An .npz file read in blocks of rows, stored or deflated. Headers and sizes are checked against
// the file before anything is allocated. Pickled objects are listed and never read. Throws
// DataError.
std::unique_ptr<ArrayStore> OpenNpzStore(const std::string& path);

}  // namespace lfiw

#endif  // LFIW_CORE_NPZ_STORE_H_
