#ifndef LFIW_CORE_ARRAYS_SAFETENSORS_H_
#define LFIW_CORE_ARRAYS_SAFETENSORS_H_

#include <string>
#include <string_view>

#include "core/arrays/npz.h"
#include "core/layers.h"

namespace lfiw::core {

// Whether the first bytes of a file are those of a safetensors file: a length, then an object of
// JSON.
bool LooksLikeSafetensors(std::string_view head);

// The tensors of a safetensors file by name, and the texts of its `__metadata__` as
// "__metadata__.KEY". F16, F32, F64, I8 to I64, U8 and BOOL are read; BF16 becomes F32. Sizes are
// checked before anything is allocated. Throws DataError that names `source` and the tensor.
NpzFile ReadSafetensors(std::string_view bytes, const std::string& source);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_SAFETENSORS_H_
