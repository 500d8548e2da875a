#ifndef LFIW_CORE_RUN_FMA_PEAK_H_
#define LFIW_CORE_RUN_FMA_PEAK_H_

#include <cstdint>

namespace lfiw::core {

// Computes fused multiply-adds of floats in registers, with the widest vectors that this CPU has,
// and returns how many operations (two per multiply-add) they were: divided by the time that it
// took, what no matrix product in float can exceed on one core. At least `rounds` times 24
// independent chains, enough to fill two units with a latency of four cycles or more.
std::int64_t ComputeFusedMultiplyAdds(std::int64_t rounds);

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_FMA_PEAK_H_
