#ifndef LFIW_CORE_ARRAYS_PICKLE_NUMPY_H_
#define LFIW_CORE_ARRAYS_PICKLE_NUMPY_H_

#include <string_view>
#include <vector>

#include "core/arrays/pickle_stack.h"

namespace lfiw::core {

// Arrays and numbers of numpy in a pickle, as numpy writes them: calls of a few functions, of which
// none is run.

// Whether a global, with numpy._core named numpy.core, is one that these arrays need.
bool IsNumpyGlobal(std::string_view global);

// Pushes what a call of a global makes. Returns whether it is one of numpy's functions. Throws
// DataError for arguments that numpy does not write.
bool CallNumpy(const PickleNode& function, const std::vector<PickleNode*>& arguments,
               PickleStack& stack);

// Gives a dtype or an array the state that follows it (numpy's __setstate__). Returns whether the
// target is one of them. Throws as CallNumpy, and for big-endian numbers.
bool BuildNumpy(PickleNode& target, const std::vector<PickleNode*>& state, PickleStack& stack);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_NUMPY_H_
