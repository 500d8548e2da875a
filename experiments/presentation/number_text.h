#ifndef LFIW_EXPERIMENTS_PRESENTATION_NUMBER_TEXT_H_
#define LFIW_EXPERIMENTS_PRESENTATION_NUMBER_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "core/layers.h"

namespace lfiw::experiments {

// Numbers as people read them. What is absent or not finite is never shown as a number: it becomes
// kNoNumber.
inline constexpr const char* kNoNumber = "\xE2\x80\x93";  // an en dash

// `digits` significant digits: 0.0123, 217.8, 14170, 1.3e+30.
std::string NumberText(std::optional<double> value, int digits = 4);

// Exactly `decimals` digits after the point; magnitudes of 1e7 and above get an exponent.
std::string FixedText(std::optional<double> value, int decimals);

// Decimals that show a standard error with two significant digits, and its value as precisely:
// 4.03 -> 1, 53.2 -> 0. Without a usable standard error, what four digits of `value` need.
int DecimalsFor(std::optional<double> value, std::optional<double> stderr_value);

// "217.8 ± 4.0"; without a standard error just the value.
std::string EstimateText(std::optional<double> value, std::optional<double> stderr_value);

// "1,000,000".
std::string CountText(std::optional<double> count);

// "340 ms", "12.3 s", "4 min 05 s", "2 h 03 min".
std::string DurationText(std::optional<double> seconds);

// "27 B", "1.4 KiB", "412.0 MiB".
std::string BytesText(std::int64_t bytes);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_PRESENTATION_NUMBER_TEXT_H_
