#ifndef LFIW_MODELS_FIT_IDENTITY_H_
#define LFIW_MODELS_FIT_IDENTITY_H_

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>

#include "core/config/config.h"
#include "core/layers.h"

namespace lfiw::models {

// Returns what a checkpoint must agree on beside its job's name: every option, so that none can be
// forgotten, the seed, and `data`, which says what else decides the result (how many rows, of
// what).
template <class Options>
std::string FitIdentity(const Options& options, std::uint64_t seed, const std::string& data) {
  return fmt::format("seed {}; {}; {}", seed, data, CanonicalText(options));
}

// Returns how many episodes are listed and a hash of which.
std::string EpisodesText(std::span<const std::int64_t> episodes);

// Says where two identities first differ: "activation":"silu", expected "activation":"tanh".
std::string IdentityDifference(const std::string& found, const std::string& expected);

}  // namespace lfiw::models

#endif  // LFIW_MODELS_FIT_IDENTITY_H_
