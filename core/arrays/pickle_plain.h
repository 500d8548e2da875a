#ifndef LFIW_CORE_ARRAYS_PICKLE_PLAIN_H_
#define LFIW_CORE_ARRAYS_PICKLE_PLAIN_H_

#include <cstdint>
#include <vector>

#include "core/arrays/pickle_stack.h"

namespace lfiw::core {

// Carries out an opcode of plain data: numbers, texts, lists, dictionaries and references. Returns
// whether it is one. Throws DataError as PickleStack.
bool ReadPlain(unsigned char op, PickleStack& stack);

// Pushes the signed little-endian integer in the next `size` bytes.
void PushLong(std::uint64_t size, PickleStack& stack);

// Adds items to a list; where the stack keeps objects, also to what a subclass of one was made
// from.
void AddToList(PickleNode* target, const std::vector<PickleNode*>& items, PickleStack& stack);

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_PLAIN_H_
