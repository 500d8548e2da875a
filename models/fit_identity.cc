#include "models/fit_identity.h"

#include <algorithm>
#include <string_view>

#include "core/run/sha256.h"

namespace lfiw::models {
namespace {

constexpr std::string_view kSeparators = ";,{}";

// Returns the item of the text that holds position `at`.
std::string ItemAt(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.find_last_of(kSeparators, at - 1);
  std::size_t begin = before == std::string::npos ? 0 : before + 1;
  while (begin < text.size() && text[begin] == ' ') ++begin;
  const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
  return begin < end ? text.substr(begin, end - begin) : "nothing";
}

}  // namespace

std::string EpisodesText(std::span<const std::int64_t> episodes) {
  return fmt::format("{} episodes {}", episodes.size(),
                     Sha256Hex(fmt::format("{}", fmt::join(episodes, ","))).substr(0, 16));
}

std::string IdentityDifference(const std::string& found, const std::string& expected) {
  const auto [first, second] =
      std::mismatch(found.begin(), found.end(), expected.begin(), expected.end());
  const auto at = static_cast<std::size_t>(first - found.begin());
  return fmt::format("{}, expected {}", ItemAt(found, at), ItemAt(expected, at));
}

}  // namespace lfiw::models
