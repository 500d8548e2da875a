#include "models/image/logistic_mixture.h"

#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace lfiw::models {
namespace {

constexpr double kLowestLogScale = -7.0;
constexpr double kHalfBin = 1.0 / 255.0;

// Log-probability of the bin at x of logistic distributions; all of one shape.
at::Tensor BinLogProbability(const at::Tensor& x, const at::Tensor& mean,
                             const at::Tensor& log_scale) {
  const at::Tensor inverse_scale = at::exp(-log_scale);
  const at::Tensor centered = x - mean;
  const at::Tensor upper = inverse_scale * (centered + kHalfBin);
  const at::Tensor lower = inverse_scale * (centered - kHalfBin);
  const at::Tensor below_upper = -at::softplus(-upper);  // log cdf of the upper edge
  const at::Tensor above_lower = -at::softplus(lower);   // log (1 - cdf) of the lower edge
  // cdf(upper) - cdf(lower) = cdf(upper) (1 - cdf(lower)) (1 - exp(lower - upper))
  const at::Tensor inner =
      below_upper + above_lower + at::log(-at::expm1(-2.0 * kHalfBin * inverse_scale));
  return at::where(x < -0.999, below_upper, at::where(x > 0.999, above_lower, inner));
}

double OpenUniform(Stream& stream) {
  return (static_cast<double>(stream.NextBits()) + 0.5) * 0x1p-32;
}

}  // namespace

at::Tensor LogisticMixture::LogProbability(const at::Tensor& parameters,
                                           const at::Tensor& images) const {
  LFIW_ASSERT(parameters.size(1) == parameter_count() && images.size(1) == channels);
  const auto group = [&](std::int64_t index) {
    return parameters.narrow(1, index * components, components);
  };
  at::Tensor sum = at::log_softmax(group(0), 1);
  std::int64_t coefficient = 1 + 2 * channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    at::Tensor mean = group(1 + 2 * c);
    for (std::int64_t d = 0; d < c; ++d) {
      mean = mean + at::tanh(group(coefficient++)) * images.narrow(1, d, 1);
    }
    const at::Tensor log_scale = at::clamp_min(group(2 + 2 * c), kLowestLogScale);
    sum = sum + BinLogProbability(images.narrow(1, c, 1), mean, log_scale);
  }
  return at::logsumexp(sum, {1});
}

void LogisticMixture::Sample(std::span<const float> parameters, Stream& stream,
                             std::span<std::uint8_t> pixel) const {
  LFIW_ASSERT(std::ssize(parameters) == parameter_count() && std::ssize(pixel) == channels);
  const auto at = [&](std::int64_t group, std::int64_t k) {
    return static_cast<double>(parameters[static_cast<std::size_t>(group * components + k)]);
  };
  // the component: the largest logit with Gumbel noise
  std::int64_t chosen = 0;
  double best = -std::numeric_limits<double>::infinity();
  for (std::int64_t k = 0; k < components; ++k) {
    const double noisy = at(0, k) - std::log(-std::log(OpenUniform(stream)));
    if (noisy > best) {
      best = noisy;
      chosen = k;
    }
  }
  // rounding a draw to the nearest byte is a draw from the bins
  std::array<double, 4> values{};
  std::int64_t coefficient = 1 + 2 * channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    double mean = at(1 + 2 * c, chosen);
    for (std::int64_t d = 0; d < c; ++d) {
      mean += std::tanh(at(coefficient++, chosen)) * values[static_cast<std::size_t>(d)];
    }
    const double u = OpenUniform(stream);
    const double scale = std::exp(std::max(at(2 + 2 * c, chosen), kLowestLogScale));
    const double x = mean + scale * (std::log(u) - std::log1p(-u));
    const double byte = std::clamp(std::round((x + 1.0) * 127.5), 0.0, 255.0);
    pixel[static_cast<std::size_t>(c)] = static_cast<std::uint8_t>(byte);
    values[static_cast<std::size_t>(c)] = byte / 127.5 - 1.0;
  }
}

}  // namespace lfiw::models
