#ifndef LFIW_TESTS_EXPERIMENTS_STAGE_KEYS_H_
#define LFIW_TESTS_EXPERIMENTS_STAGE_KEYS_H_

#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/config/any_options.h"
#include "core/config/config.h"
#include "core/layers.h"
#include "core/run/atomic_file.h"
#include "core/run/stage.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {

// Checks that the key of a stage holds all that it should, by changing each field in turn.

// Gives every list of a struct an element and every optional a value.
class FieldFiller {
 public:
  template <class T>
  void Field(std::string_view /*name*/, T& value, std::string_view /*doc*/,
             Limits /*limits*/ = {}) {
    Fill(value);
  }

 private:
  template <class T>
  void Fill(T& value) {
    if constexpr (core::internal::Struct<T>) {
      value.Visit(*this);
    } else if constexpr (core::internal::IsOptional<T>::value) {
      if (!value) value.emplace();
      Fill(*value);
    } else if constexpr (core::internal::IsVector<T>::value) {
      if (value.empty()) value.emplace_back();
      Fill(value.front());
    }
  }
};

// Options that no stage has.
struct OtherOptions {
  double other = 1.0;

  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("other", other, "a field that no options of a stage have");
  }
};

// Makes one change of a struct: change number `target` of those that are possible.
class FieldChanger {
 public:
  explicit FieldChanger(std::int64_t target) : target_(target) {}

  // Changes that were met up to the one that was made, or all.
  std::int64_t count() const { return count_; }
  // Where it was made; empty if nowhere.
  const std::string& place() const { return place_; }

  template <class T>
  void Field(std::string_view name, T& value, std::string_view /*doc*/, Limits /*limits*/ = {}) {
    const std::string above = path_;
    path_ = core::internal::JoinPath(path_, name);
    Change(value);
    path_ = above;
  }

 private:
  // True once: when it is the turn of the wanted change.
  bool IsDue() {
    if (!place_.empty() || count_++ != target_) return false;
    place_ = path_;
    return true;
  }

  template <class T>
  void Change(T& value) {
    if constexpr (core::internal::Struct<T>) {
      value.Visit(*this);
    } else if constexpr (core::internal::IsOptional<T>::value) {
      ChangeOptional(value);
    } else if constexpr (core::internal::IsVector<T>::value) {
      if (IsDue()) value.emplace_back();
      if (!value.empty()) Change(value.front());
    } else if constexpr (std::same_as<T, core::AnyOptions>) {
      // what a struct of options holds is tested beside it; that another one counts, here
      if (IsDue()) value = core::AnyOptions(OtherOptions());
    } else if (IsDue()) {
      ChangeScalar(value);
    }
  }

  template <class T>
  void ChangeOptional(std::optional<T>& value) {
    if (IsDue()) {
      if (value) {
        value.reset();
      } else {
        value.emplace();
      }
    }
    if (value) Change(*value);
  }

  template <class T>
  static void ChangeScalar(T& value) {
    if constexpr (std::same_as<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      const std::size_t values = core::internal::NamesOf<T>().size();
      value = static_cast<T>((static_cast<std::size_t>(value) + 1) % values);
    } else if constexpr (std::integral<T>) {
      value = value == std::numeric_limits<T>::max() ? T{0} : static_cast<T>(value + 1);
    } else if constexpr (std::floating_point<T>) {
      value = std::isfinite(value) ? value * T{1.5} + T{0.25} : T{1.0};
    } else {
      value += "x";
    }
  }

  std::int64_t target_;
  std::int64_t count_ = 0;
  std::string path_, place_;
};

// A toolchain of made-up sources, one for each layer.
inline core::Toolchain SomeToolchain() {
  core::Toolchain toolchain{.sources = {}, .computed_with = {{"BLAS", "some"}, {"CPU", "other"}}};
  for (const std::string_view layer : EnumNames(core::Layer{})) {
    toolchain.sources.emplace_back(layer);
  }
  return toolchain;
}

// Expects that any change of any field of a stage's key makes another identity.
template <class S>
void ExpectEveryFieldCounts() {
  typename S::Key key{};
  FieldFiller filler;
  key.Visit(filler);
  const auto hash = [](const typename S::Key& of) {
    return core::IdFromHashes<S>(of, {"input"}, SomeToolchain()).Hash();
  };
  const std::string before = hash(key);
  EXPECT_EQ(hash(key), before);
  FieldChanger none(-1);
  key.Visit(none);
  ASSERT_GT(none.count(), 0) << S::kInfo.name << " has a key without fields";
  for (std::int64_t k = 0; k < none.count(); ++k) {
    typename S::Key changed = key;
    FieldChanger changer(k);
    changed.Visit(changer);
    EXPECT_NE(hash(changed), before) << S::kInfo.name << ": " << changer.place();
  }
}

// Expects that a stage's identity depends on its inputs, its version and what computes.
template <class S>
void ExpectAllElseCounts() {
  const core::Toolchain toolchain = SomeToolchain();
  const core::StageId id = core::IdFromHashes<S>({}, {"one", "two"}, toolchain);
  const auto expect_other = [&](const core::StageId& other, const std::string& what) {
    EXPECT_NE(other.Hash(), id.Hash()) << S::kInfo.name << ": " << what;
  };
  expect_other(core::IdFromHashes<S>({}, {"one", "other"}, toolchain), "an input");
  expect_other(core::IdFromHashes<S>({}, {"two", "one"}, toolchain), "order of inputs");
  expect_other(core::IdFromHashes<S>({}, {"one"}, toolchain), "number of inputs");
  core::StageId later = id;
  later.version += 1;
  expect_other(later, "version");
  core::Toolchain other_blas = toolchain;
  other_blas.computed_with["BLAS"] = "another";
  expect_other(core::IdFromHashes<S>({}, {"one", "two"}, other_blas), "computed_with");
  for (std::size_t layer = 0; layer < toolchain.sources.size(); ++layer) {
    core::Toolchain other_code = toolchain;
    other_code.sources[layer] = "changed";
    const bool counts = layer <= static_cast<std::size_t>(S::kInfo.layer);
    EXPECT_EQ(core::IdFromHashes<S>({}, {"one", "two"}, other_code).Hash() != id.Hash(), counts)
        << S::kInfo.name << ": sources of " << toolchain.sources[layer];
  }
}

// The stages of a folder, as its test lists them.
template <class... S>
struct StageTypes {
  static std::vector<std::string> Names() { return {std::string(S::kInfo.name)...}; }
  static void ExpectKeysAreComplete() {
    (ExpectEveryFieldCounts<S>(), ...);
    (ExpectAllElseCounts<S>(), ...);
  }
};

// The sources below a folder of the checkout.
inline std::vector<std::filesystem::path> SourcesBelow(const std::string& folder) {
  std::vector<std::filesystem::path> sources;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SourceFile(folder))) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() == ".h" || path.extension() == ".cc") sources.push_back(path);
  }
  return sources;
}

// The names of the stages that a source declares.
inline std::vector<std::string> StageNamesIn(const std::filesystem::path& source) {
  static const std::regex kDeclaration(
      R"re(static constexpr StageInfo kInfo\s*\{\s*\.name\s*=\s*"(\w+)")re");
  const std::string text = core::ReadFile(source.string());
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), kDeclaration), end; at != end; ++at) {
    names.push_back((*at)[1].str());
  }
  return names;
}

// The same of all sources below a folder.
inline std::vector<std::string> StageNamesBelow(const std::string& folder) {
  std::vector<std::string> names;
  for (const std::filesystem::path& source : SourcesBelow(folder)) {
    const std::vector<std::string> some = StageNamesIn(source);
    names.insert(names.end(), some.begin(), some.end());
  }
  return names;
}

}  // namespace lfiw::experiments

#endif  // LFIW_TESTS_EXPERIMENTS_STAGE_KEYS_H_
