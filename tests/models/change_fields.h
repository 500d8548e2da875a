#ifndef LFIW_TESTS_MODELS_CHANGE_FIELDS_H_
#define LFIW_TESTS_MODELS_CHANGE_FIELDS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/error.h"
#include "core/layers.h"
#include "models/fit.h"
#include "models/mlp.h"
#include "tests/core/test_dir.h"

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

// Returns options of a fit of two steps.
template <class Options>
Options TinyFit() {
  Options options;
  options.network = {
      .hidden_layers = 1, .width = 4, .activation = Activation::kSilu, .precision = {}};
  options.fit = {.steps = 2, .batch = 8, .validate_every = 1, .adam = {}};
  return options;
}

// Fits once and expects that its checkpoint is refused when any one of the options is another, but
// for the one named `free`, which a checkpoint does not depend on. fit_in(options, run) fits with
// the checkpoints of `run`.
template <class Options, class FitIn>
void ExpectEveryFieldCounts(const Options& options, const FitIn& fit_in,
                            const std::string& free = "") {
  const TestDir folder;
  const FitRun run{.folder = folder.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  fit_in(options, run);
  EXPECT_NO_THROW(fit_in(options, run));
  const auto changed = EachFieldChanged(options);
  EXPECT_GE(changed.size(), 15u);
  for (const auto& [name, other] : changed) {
    if (name == free) {
      EXPECT_NO_THROW(fit_in(other, run)) << name;
    } else {
      EXPECT_THROW(fit_in(other, run), DataError) << name;
    }
  }
}

}  // namespace lfiw::models

#endif  // LFIW_TESTS_MODELS_CHANGE_FIELDS_H_
