#ifndef LFIW_CORE_ARRAYS_PICKLE_TORCH_H_
#define LFIW_CORE_ARRAYS_PICKLE_TORCH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/arrays/npy_header.h"
#include "core/arrays/pickle_stack.h"

namespace lfiw::core {

// Tensors of PyTorch in a pickle: views of storages, whose bytes lie in other files of the archive.
class TorchTensors {
 public:
  // `storage` is PickleOptions::storage. Both must outlive the object.
  TorchTensors(const std::function<std::string(const std::string&, std::int64_t)>& storage,
               PickleStack& stack)
      : storage_(storage), stack_(stack) {}

  // Whether a global is one that tensors need.
  static bool Knows(std::string_view global);

  // Pushes the storage that a persistent id names. Throws DataError for one that PyTorch does not
  // write.
  void PushStorage(const std::vector<PickleNode*>& id);

  // Pushes the tensor that a call of a global makes. Returns whether it makes one. Throws DataError
  // for a tensor beyond its storage, and as PushStorage.
  bool Call(const PickleNode& function, const std::vector<PickleNode*>& arguments);

 private:
  void PushTensor(const std::vector<PickleNode*>& arguments);
  const std::string& ReadStorage(const PickleNode& storage);

  const std::function<std::string(const std::string&, std::int64_t)>& storage_;
  PickleStack& stack_;
  std::map<std::string, std::string> storages_;  // by their keys
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_ARRAYS_PICKLE_TORCH_H_
