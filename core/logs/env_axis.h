#ifndef LFIW_CORE_LOGS_ENV_AXIS_H_
#define LFIW_CORE_LOGS_ENV_AXIS_H_

#include <cstdint>
#include <memory>

#include "core/arrays/array_store.h"
#include "core/logs/log_keys.h"

namespace lfiw::core {

// Which axis of arrays [a, b, ...] is time, for logs of several environments side by side.
enum class TimeAxis {
  kFirst,   // [steps, environments, ...], as Stable-Baselines3 and CleanRL have it
  kSecond,  // [environments, steps, ...]
  kUnknown,
};

// Compares next observations with the observations after them along both axes, on the first rows.
TimeAxis FindTimeAxis(ArrayStore& store, const LogKeys& keys);

// Whether the rows of [episodes, steps, ...] hold something behind their first end: then each is a
// stream of episodes, not one that is padded.
bool HoldsStreams(ArrayStore& store, const LogKeys& keys);

// The arrays of `store` with their first two axes, in the sizes of the rewards, made one: all steps
// of the first environment, then those of the second. Steps at the end of all environments that
// were never written (zeros) are left out; `steps` returns the number that is left of each. Arrays
// are held in memory. Throws DataError for arrays too large for that.
class EnvRowsStore final : public ArrayStore {
 public:
  EnvRowsStore(std::unique_ptr<ArrayStore> store, const LogKeys& keys, TimeAxis axis);

  const std::string& path() const override { return store_->path(); }
  const char* kind() const override { return store_->kind(); }
  const std::map<std::string, ArrayInfo>& arrays() const override { return arrays_; }
  const std::map<std::string, std::string>& attributes() const override {
    return store_->attributes();
  }
  NpzArray ReadRows(const std::string& name, std::int64_t first, std::int64_t count) override;

  std::int64_t environments() const { return environments_; }
  std::int64_t steps() const { return steps_; }
  std::int64_t steps_in_file() const { return steps_in_file_; }

 private:
  const NpzArray& Whole(const std::string& name);
  std::int64_t CountUsed(const std::string& key);

  std::unique_ptr<ArrayStore> store_;
  TimeAxis axis_;
  std::int64_t environments_ = 0, steps_ = 0, steps_in_file_ = 0;
  std::map<std::string, ArrayInfo> arrays_;
  std::map<std::string, NpzArray> loaded_;
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_LOGS_ENV_AXIS_H_
