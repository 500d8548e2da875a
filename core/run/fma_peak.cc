#include "core/run/fma_peak.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "core/layers.h"

namespace lfiw::core {
namespace {

constexpr int kChains = 24;

// The empty statements keep the compiler from leaving the chains out, and unrolled loops keep the
// chains in registers.
#ifdef __x86_64__
__attribute__((target("avx512f"))) std::int64_t Wide(std::int64_t rounds) {
  const __m512 factor = _mm512_set1_ps(0.999f), addend = _mm512_set1_ps(0.001f);
  __m512 chains[kChains];
#pragma GCC unroll 24
  for (__m512& chain : chains) chain = factor;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 24
    for (__m512& chain : chains) {
      chain = _mm512_fmadd_ps(chain, factor, addend);
      asm volatile("" : "+v"(chain));
    }
  }
  return 2 * 16 * kChains * rounds;
}

__attribute__((target("avx2,fma"))) std::int64_t Middle(std::int64_t rounds) {
  constexpr int kFew = 12;  // of the 16 registers
  const __m256 factor = _mm256_set1_ps(0.999f), addend = _mm256_set1_ps(0.001f);
  __m256 chains[kFew];
#pragma GCC unroll 12
  for (__m256& chain : chains) chain = factor;
  for (std::int64_t i = 0; i < 2 * rounds; ++i) {
#pragma GCC unroll 12
    for (__m256& chain : chains) {
      chain = _mm256_fmadd_ps(chain, factor, addend);
      asm volatile("" : "+x"(chain));
    }
  }
  return 2 * 8 * kFew * 2 * rounds;
}
#endif

// Whatever the compiler makes of four floats at once.
std::int64_t Narrow(std::int64_t rounds) {
  using Four = float __attribute__((vector_size(16)));
  constexpr int kFew = 12;
  const Four factor = {0.999f, 0.999f, 0.999f, 0.999f}, addend = {0.001f, 0.001f, 0.001f, 0.001f};
  Four chains[kFew];
#pragma GCC unroll 12
  for (Four& chain : chains) chain = factor;
  for (std::int64_t i = 0; i < 2 * rounds; ++i) {
#pragma GCC unroll 12
    for (Four& chain : chains) {
      chain = chain * factor + addend;
#ifdef __x86_64__
      asm volatile("" : "+x"(chain));
#else
      asm volatile("" : "+w"(chain));
#endif
    }
  }
  return 2 * 4 * kFew * 2 * rounds;
}

}  // namespace

std::int64_t ComputeFusedMultiplyAdds(std::int64_t rounds) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") != 0) return Wide(rounds);
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) {
    return Middle(rounds);
  }
#endif
  return Narrow(rounds);
}

}  // namespace lfiw::core
