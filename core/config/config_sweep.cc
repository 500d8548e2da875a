#include "core/config/config_sweep.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/error.h"

namespace lfiw::core {
namespace {

constexpr std::size_t kMaxCombinations = 100'000;

// Cuts at the commas outside brackets and quotes.
std::vector<std::string> SplitList(std::string_view text, const std::string& argument) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  if (depth != 0) Throw<ConfigError>("argument '{}': brackets do not match", argument);
  return parts;
}

double ParseBound(std::string_view text, const std::string& argument) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    Throw<ConfigError>("argument '{}': '{}' in a range is not a number", argument, text);
  }
  return value;
}

std::vector<std::string> ExpandRange(std::string_view inside, const std::string& argument) {
  std::vector<double> bounds;
  for (const std::string& part : SplitList(inside, argument)) {
    bounds.push_back(ParseBound(part, argument));
  }
  if (bounds.size() != 2 && bounds.size() != 3) {
    Throw<ConfigError>("argument '{}': expected range(first, end) or range(first, end, step)",
                       argument);
  }
  const double first = bounds[0];
  const double step = bounds.size() == 3 ? bounds[2] : 1.0;
  // a last step that reaches the end but for rounding does not count
  const double count = step == 0.0 ? 0.0 : std::ceil((bounds[1] - first) / step - 1e-9);
  if (!(count >= 1.0 && count <= static_cast<double>(kMaxCombinations))) {
    Throw<ConfigError>("argument '{}': the range holds {} values, expected 1 to {}", argument,
                       std::max(0.0, count), kMaxCombinations);
  }
  std::vector<std::string> values;
  for (double k = 0.0; k < count; k += 1.0) {
    // 12 digits hide the rounding of k * step
    values.push_back(fmt::format("{:.12g}", first + k * step));
  }
  return values;
}

// All "key=value" that one argument stands for.
std::vector<std::string> Choices(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0) {
    Throw<ConfigError>("argument '{}': expected key.path=value", argument);
  }
  const std::string key = argument.substr(0, equals + 1);
  constexpr std::string_view kRange = "range(";
  std::vector<std::string> choices;
  for (const std::string& part :
       SplitList(std::string_view(argument).substr(equals + 1), argument)) {
    if (!part.starts_with(kRange) || !part.ends_with(')')) {
      choices.push_back(key + part);
      continue;
    }
    const std::string_view inside =
        std::string_view(part).substr(kRange.size(), part.size() - kRange.size() - 1);
    for (const std::string& value : ExpandRange(inside, argument)) choices.push_back(key + value);
  }
  return choices;
}

}  // namespace

std::vector<std::vector<std::string>> ExpandSweep(const std::vector<std::string>& arguments) {
  std::vector<std::vector<std::string>> combinations(1);
  for (const std::string& argument : arguments) {
    const std::vector<std::string> choices = Choices(argument);
    if (combinations.size() * choices.size() > kMaxCombinations) {
      Throw<ConfigError>("the sweep has more than {} combinations", kMaxCombinations);
    }
    std::vector<std::vector<std::string>> longer;
    longer.reserve(combinations.size() * choices.size());
    for (const std::vector<std::string>& combination : combinations) {
      for (const std::string& choice : choices) {
        longer.push_back(combination);
        longer.back().push_back(choice);
      }
    }
    combinations = std::move(longer);
  }
  return combinations;
}

}  // namespace lfiw::core
