#include "experiments/presentation/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lfiw::experiments {
namespace {

constexpr double kExponentFrom = 1e7;
constexpr int kMostDecimals = 6;

bool Usable(const std::optional<double>& value) { return value && std::isfinite(*value); }

// the power of ten of the leading digit
int Magnitude(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }

// A rounded "-0.00" reads as if the sign meant something.
std::string WithoutNegativeZero(std::string text) {
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  return text;
}

}  // namespace

std::string NumberText(std::optional<double> value, int digits) {
  if (!Usable(value)) return kNoNumber;
  const double size = std::abs(*value);
  if (size != 0.0 && (size >= kExponentFrom || size < 1e-4))
    return fmt::format("{:.{}g}", *value, digits);
  const int decimals = size == 0.0 ? 0 : std::max(0, digits - 1 - Magnitude(size));
  std::string text = fmt::format("{:.{}f}", *value, decimals);
  // exact values such as 0.5 need no padding
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return WithoutNegativeZero(text);
}

std::string FixedText(std::optional<double> value, int decimals) {
  if (!Usable(value)) return kNoNumber;
  if (std::abs(*value) >= kExponentFrom) return fmt::format("{:.4g}", *value);
  return WithoutNegativeZero(fmt::format("{:.{}f}", *value, decimals));
}

int DecimalsFor(std::optional<double> value, std::optional<double> stderr_value) {
  if (Usable(stderr_value) && *stderr_value > 0.0)
    return std::clamp(1 - Magnitude(*stderr_value), 0, kMostDecimals);
  if (Usable(value) && *value != 0.0) return std::clamp(3 - Magnitude(*value), 0, kMostDecimals);
  return 1;
}

std::string EstimateText(std::optional<double> value, std::optional<double> stderr_value) {
  const int decimals = DecimalsFor(value, stderr_value);
  if (!Usable(value) || !Usable(stderr_value)) return FixedText(value, decimals);
  return fmt::format("{} \xC2\xB1 {}", FixedText(value, decimals),
                     FixedText(stderr_value, decimals));
}

std::string CountText(std::optional<double> count) {
  if (!Usable(count)) return kNoNumber;
  std::string text = fmt::format("{:.0f}", *count);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t groups = (text.size() - first - 1) / 3, at = text.size(); groups > 0; --groups)
    text.insert(at -= 3, 1, ',');
  return text;
}

std::string DurationText(std::optional<double> seconds) {
  if (!Usable(seconds)) return kNoNumber;
  // the limits are where rounding would reach the next unit
  if (*seconds < 0.9995) return fmt::format("{:.0f} ms", *seconds * 1e3);
  if (*seconds < 59.95) return fmt::format("{:.1f} s", *seconds);
  const auto whole = static_cast<long long>(std::llround(*seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string BytesText(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024.0 && unit + 1 < kUnits.size(); ++unit) size /= 1024.0;
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace lfiw::experiments
