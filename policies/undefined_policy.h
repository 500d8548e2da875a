#ifndef LFIW_POLICIES_UNDEFINED_POLICY_H_
#define LFIW_POLICIES_UNDEFINED_POLICY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/layers.h"

namespace lfiw::policies {

// Throws PolicyError: the policy of `source` gives `fault` ("NaN") at an observation, of which the
// first numbers are quoted, and a step where one is known.
[[noreturn]] void RejectUndefinedPolicy(const std::string& source, const std::string& fault,
                                        std::span<const float> observation,
                                        std::optional<std::int64_t> step);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_UNDEFINED_POLICY_H_
