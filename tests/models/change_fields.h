#ifndef LFIW_TESTS_MODELS_CHANGE_FIELDS_H_
#define LFIW_TESTS_MODELS_CHANGE_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config/config.h"

namespace lfiw::models {

// Visits the fields of a struct, those of inner structs too, and changes number `target` of them.
class FieldChanger {
 public:
  explicit FieldChanger(std::int64_t target) : target_(target) {}

  template <class T>
  void Field(std::string_view name, T& value, std::string_view /*doc*/, Limits /*limits*/ = {}) {
    if constexpr (internal::Struct<T>) {
      const std::string outer = path_;
      path_ += std::string(name) + ".";
      value.Visit(*this);
      path_ = outer;
    } else {
      if (count_ == target_) {
        changed_ = path_ + std::string(name);
        Change(value);
      }
      ++count_;
    }
  }

  // The dotted name of the field that was changed; empty when there is no such field.
  const std::string& changed() const { return changed_; }

 private:
  template <class T>
  static void Change(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      const auto next = static_cast<std::size_t>(value) + 1;
      value = static_cast<T>(next % EnumNames(T{}).size());
    } else if constexpr (std::is_integral_v<T>) {
      value += 1;
    } else if constexpr (std::is_floating_point_v<T>) {
      value += 0.01;
    } else {
      Change(value.front());
    }
  }

  std::int64_t target_;
  std::int64_t count_ = 0;
  std::string path_, changed_;
};

// Returns copies of the options, each with one field changed, by the name of the field.
template <class Options>
std::vector<std::pair<std::string, Options>> EachFieldChanged(const Options& options) {
  std::vector<std::pair<std::string, Options>> all;
  for (std::int64_t target = 0;; ++target) {
    Options changed = options;
    FieldChanger changer(target);
    changed.Visit(changer);
    if (changer.changed().empty()) return all;
    all.emplace_back(changer.changed(), std::move(changed));
  }
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_CHANGE_FIELDS_H_
