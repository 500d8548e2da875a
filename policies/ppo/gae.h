#ifndef LFIW_POLICIES_PPO_GAE_H_
#define LFIW_POLICIES_PPO_GAE_H_

#include <cstdint>
#include <span>

#include "core/layers.h"

namespace lfiw::policies {

// Generalized advantage estimation (Schulman et al. 2016) over one stretch of n steps, which may
// hold several episodes:
//   delta_t = r_t + discount V(s_{t+1}) (1 - ended_t) - V(s_t)
//   A_t = delta_t + discount lambda (1 - ended_t) A_{t+1}
// values [n + 1]: V(s_0) .. V(s_n); ended [n]: 1 where step t was its episode's last, be it by
// termination or by the time limit; advantages [n] (written).
void ComputeAdvantages(std::span<const float> rewards, std::span<const float> values,
                       std::span<const std::uint8_t> ended, double discount, double lambda,
                       std::span<float> advantages);

}  // namespace lfiw::policies

#endif  // LFIW_POLICIES_PPO_GAE_H_
