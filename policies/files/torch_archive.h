#ifndef LFIW_POLICIES_FILES_TORCH_ARCHIVE_H_
#define LFIW_POLICIES_FILES_TORCH_ARCHIVE_H_

#include <string>

#include "core/arrays/npz.h"
#include "core/layers.h"

namespace lfiw::policies {

// The tensors of a dictionary that torch.save wrote (PyTorch 1.6 or newer), by name, or of the
// first dictionary of a tuple of them, which is an actor before its critics: a zip archive in
// `bytes` of a pickle and raw storages, which are read without running anything. `source` names it
// in errors. Throws DataError for everything else, for big-endian files and for what the pickle
// names besides tensors.
NpzFile ReadTorchArchive(std::string bytes, const std::string& source);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_FILES_TORCH_ARCHIVE_H_
