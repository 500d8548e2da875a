#include "policies/undefined_policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace lfiw::policies {
namespace {

// Numbers of an observation that are quoted.
constexpr std::size_t kShownNumbers = 8;

}  // namespace

void RejectUndefinedPolicy(const std::string& source, const std::string& fault,
                           std::span<const float> observation, std::optional<std::int64_t> step) {
  const auto shown = observation.first(std::min(observation.size(), kShownNumbers));
  Throw<PolicyError>(
      "{}: the policy gives {} at the observation ({}{}){}, expected numbers that define an "
      "action; "
      "make it defined wherever it may get to",
      source, fault, fmt::join(shown, ", "), shown.size() < observation.size() ? ", ..." : "",
      step ? fmt::format(" of step {}", *step) : "");
}

}  // namespace lfiw::policies
