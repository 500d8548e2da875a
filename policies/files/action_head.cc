#include "policies/files/action_head.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/error.h"
#include "policies/normal_density.h"

namespace lfiw::policies {
namespace {

double LargestOf(const float* logits, std::int64_t count) {
  return static_cast<double>(*std::max_element(logits, logits + count));
}

void WriteOneHot(std::int64_t chosen, std::int64_t count, float* action) {
  std::fill(action, action + count, 0.0f);
  action[chosen] = 1.0f;
}

std::int64_t DrawCategory(const float* logits, std::int64_t count, double noise) {
  const double largest = LargestOf(logits, count);
  double total = 0.0;
  for (std::int64_t k = 0; k < count; ++k) total += std::exp(logits[k] - largest);
  const double threshold = total * std::exp(LogNormalCdf(noise));
  double sum = 0.0;
  std::int64_t possible = 0;  // the last one so far
  for (std::int64_t k = 0; k < count; ++k) {
    const double weight = std::exp(logits[k] - largest);
    if (weight == 0.0) continue;
    possible = k;
    sum += weight;
    if (sum > threshold) return k;
  }
  return possible;
}

std::int64_t IndexOfOneHot(const float* action, std::int64_t count) {
  const std::int64_t index = std::max_element(action, action + count) - action;
  for (std::int64_t k = 0; k < count; ++k) {
    if (action[k] == (k == index ? 1.0f : 0.0f)) continue;
    Throw<PolicyError>("a discrete action is ({}), expected a single 1 among zeros",
                       fmt::join(action, action + count, ", "));
  }
  return index;
}

double LogProbability(const float* logits, std::int64_t count, std::int64_t chosen) {
  const double largest = LargestOf(logits, count);
  double total = 0.0;
  for (std::int64_t k = 0; k < count; ++k) total += std::exp(logits[k] - largest);
  return logits[chosen] - largest - std::log(total);
}

}  // namespace

std::int64_t ActionHead::outputs() const {
  return kind == OutputKind::kMeanLogStd ? 2 * action_dim : action_dim;
}

std::int64_t ActionHead::noise_dim() const {
  if (kind == OutputKind::kAction) return 0;
  return kind == OutputKind::kLogits ? 1 : action_dim;
}

std::string ActionHead::FaultOf(const float* outputs) const {
  const std::span<const float> values(outputs, static_cast<std::size_t>(this->outputs()));
  if (std::ranges::any_of(values, [](float x) { return std::isnan(x); })) return "NaN";
  const auto is_finite = [](float x) { return std::isfinite(x); };
  if (kind == OutputKind::kLogits) {
    if (std::ranges::count(values, std::numeric_limits<float>::infinity()) > 0) {
      return "a logit of +infinity";
    }
    return std::ranges::any_of(values, is_finite) ? "" : "a logit of -infinity for every action";
  }
  // deviations are clamped
  const auto means = values.first(static_cast<std::size_t>(action_dim));
  return std::ranges::all_of(means, is_finite) ? "" : "an action that is not finite";
}

float ActionHead::LogStd(const float* outputs, std::int64_t dim) const {
  if (kind == OutputKind::kMean) return log_std[dim];
  const float predicted = outputs[action_dim + dim];
  if (log_std_bound == LogStdBound::kTanh) {
    return log_std_low + 0.5f * (log_std_high - log_std_low) * (std::tanh(predicted) + 1.0f);
  }
  return std::clamp(predicted, log_std_low, log_std_high);
}

float ActionHead::Finish(double action, std::int64_t dim) const {
  switch (squash) {
    case Squash::kNone:
      break;
    case Squash::kTanh:
      action = 0.5 * (static_cast<double>(low[dim]) + static_cast<double>(high[dim]) +
                      (static_cast<double>(high[dim]) - static_cast<double>(low[dim])) *
                          std::tanh(action));
      break;
    case Squash::kClip:
      action = std::clamp(action, static_cast<double>(low[dim]), static_cast<double>(high[dim]));
      break;
  }
  return static_cast<float>(action);
}

void ActionHead::Draw(const float* outputs, const float* noise, float* action) const {
  if (kind == OutputKind::kAction) return Mean(outputs, action);
  if (kind == OutputKind::kLogits) {
    return WriteOneHot(DrawCategory(outputs, action_dim, static_cast<double>(noise[0])), action_dim,
                       action);
  }
  for (std::int64_t j = 0; j < action_dim; ++j) {
    action[j] = Finish(outputs[j] + std::exp(static_cast<double>(LogStd(outputs, j))) *
                                        static_cast<double>(noise[j]),
                       j);
  }
}

void ActionHead::Mean(const float* outputs, float* action) const {
  if (kind == OutputKind::kLogits) {
    const float* likeliest = std::max_element(outputs, outputs + action_dim);
    return WriteOneHot(likeliest - outputs, action_dim, action);
  }
  for (std::int64_t j = 0; j < action_dim; ++j) {
    action[j] = Finish(static_cast<double>(outputs[j]), j);
  }
}

double ActionHead::DimensionLogDensity(const float* outputs, std::int64_t dim, float action,
                                       double env_low, double env_high) const {
  const auto mean = static_cast<double>(outputs[dim]);
  const double scale = std::exp(static_cast<double>(LogStd(outputs, dim)));
  if (squash == Squash::kNone) return LogCensoredDensity(action, mean, scale, env_low, env_high);
  const auto own_low = static_cast<double>(low[dim]), own_high = static_cast<double>(high[dim]);
  if (squash == Squash::kTanh) {
    const SquashedNormal draw{mean, scale, 0.5 * (own_low + own_high), 0.5 * (own_high - own_low)};
    return LogSquashedDensity(action, draw, env_low, env_high);
  }
  // clipped by the policy, then by the environment
  if (action < own_low || action > own_high) return -std::numeric_limits<double>::infinity();
  return LogCensoredDensity(action, mean, scale, std::max(own_low, env_low),
                            std::min(own_high, env_high));
}

double ActionHead::LogDensity(const float* outputs, const float* action, const double* env_low,
                              const double* env_high) const {
  LFIW_ASSERT(has_density());
  if (kind == OutputKind::kLogits) {
    return LogProbability(outputs, action_dim, IndexOfOneHot(action, action_dim));
  }
  double sum = 0.0;
  for (std::int64_t j = 0; j < action_dim; ++j) {
    sum += DimensionLogDensity(outputs, j, action[j], env_low[j], env_high[j]);
  }
  return sum;
}

}  // namespace lfiw::policies
