#ifndef LFIW_TESTS_CORE_LOGS_MEMORY_STORE_H_
#define LFIW_TESTS_CORE_LOGS_MEMORY_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "core/arrays/array_store.h"
#include "core/arrays/npz.h"

namespace lfiw::core {

// The arrays of an NpzFile as a store, without a file.
class MemoryStore final : public ArrayStore {
 public:
  explicit MemoryStore(NpzFile file, std::map<std::string, std::string> attributes = {})
      : file_(std::move(file)), attributes_(std::move(attributes)) {
    for (const auto& [name, array] : file_.arrays()) {
      arrays_.emplace(name, ArrayInfo{array.type, array.shape});
    }
  }

  const std::string& path() const override { return path_; }
  const char* kind() const override { return "memory"; }
  const std::map<std::string, ArrayInfo>& arrays() const override { return arrays_; }
  const std::map<std::string, std::string>& attributes() const override { return attributes_; }
  NpzArray ReadRows(const std::string& name, std::int64_t first, std::int64_t count) override {
    const NpzArray& whole = file_.arrays().at(name);
    NpzArray out{whole.type, whole.shape, {}};
    out.shape.at(0) = count;
    const auto row = static_cast<std::ptrdiff_t>(whole.bytes.size()) / whole.shape.at(0);
    out.bytes.assign(whole.bytes.begin() + first * row,
                     whole.bytes.begin() + (first + count) * row);
    return out;
  }

 private:
  std::string path_ = "memory.log";
  NpzFile file_;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, std::string> attributes_;
};

}  // namespace lfiw::core

#endif  // LFIW_TESTS_CORE_LOGS_MEMORY_STORE_H_
