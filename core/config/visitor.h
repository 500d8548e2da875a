#ifndef LFIW_CORE_CONFIG_VISITOR_H_
#define LFIW_CORE_CONFIG_VISITOR_H_

#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

namespace lfiw::core {

// Configuration structs are plain structs with in-class defaults. Each names its fields once, in a
// member template that readers, writers, hashers and the documentation all use:
//
//   struct FitOptions {
//     std::int64_t steps = 100'000;
//     double learning_rate = 1e-3;
//     template <class Visitor>
//     void Visit(Visitor& v) {
//       v.Field("steps", steps, "gradient steps", AtLeast(1));
//       v.Field("learning_rate", learning_rate, "Adam step size", Positive());
//     }
//   };
//
// A field may be bool, an integer, double, std::string, an enum with EnumNames, another such
// struct, or a std::vector or std::optional of any of these. Limits hold for each number of a list.

// Limits of a number, stated where the field is declared and checked when a file is read.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;          // `low` itself is not allowed
  bool infinity_allowed = false;  // `inf` may be written: the largest integer
};
constexpr Limits AtLeast(double low) { return {.low = low}; }
constexpr Limits Between(double low, double high) { return {.low = low, .high = high}; }
constexpr Limits Positive() { return {.low = 0.0, .low_open = true}; }
constexpr Limits OrInfinity(Limits limits) {
  limits.infinity_allowed = true;
  return limits;
}

// An enum names its values, in order of their numbers from 0, by a function beside it, which
// argument-dependent lookup finds:
//   enum class Kind { kFirst, kSecond };
//   constexpr auto EnumNames(Kind /*kind*/) {
//     return std::to_array<std::string_view>({"first", "second"});
//   }
// Spellings that are read too, but never written, are named likewise by OtherEnumNames.
template <class E>
constexpr std::string_view EnumName(E value) {
  return EnumNames(E{})[static_cast<std::size_t>(value)];
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_CONFIG_VISITOR_H_
