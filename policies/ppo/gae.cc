#include "policies/ppo/gae.h"

#include "core/error.h"

namespace lfiw::policies {

void ComputeAdvantages(std::span<const float> rewards, std::span<const float> values,
                       std::span<const std::uint8_t> ended, double discount, double lambda,
                       std::span<float> advantages) {
  LFIW_ASSERT(values.size() == rewards.size() + 1 && ended.size() == rewards.size() &&
              advantages.size() == rewards.size());
  double advantage = 0.0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    const double continues = ended[t] != 0 ? 0.0 : discount;
    const double delta = static_cast<double>(rewards[t]) +
                         continues * static_cast<double>(values[t + 1]) -
                         static_cast<double>(values[t]);
    advantage = delta + continues * lambda * advantage;
    advantages[t] = static_cast<float>(advantage);
  }
}

}  // namespace lfiw::policies
