#ifndef LFIW_TESTS_FUZZ_SITUATIONS_H_
#define LFIW_TESTS_FUZZ_SITUATIONS_H_

#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "tests/fuzz/misread_case.h"

namespace lfiw::core {

using Formats = std::vector<TableFormat>;

// Which systems a mistake needs.
enum class Falls { kMay, kMust };
enum class Actions { kAny, kDiscrete, kContinuous };

struct Situation {
  const char* name;
  const Formats& formats;
  void (*plant)(Case&, Stream&);
  Falls falls = Falls::kMay;
  Actions actions = Actions::kAny;
};

// All situations, in the order in which they take turns.
const std::vector<Situation>& Situations();

// Case `index` of a seed, with the mistake of `situation` or, where it is null, without one.
Case MakeCase(std::uint64_t seed, std::int64_t index, const Situation* situation);

}  // namespace lfiw::core

#endif  // LFIW_TESTS_FUZZ_SITUATIONS_H_
