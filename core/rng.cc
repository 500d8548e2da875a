#include "core/rng.h"

#include <Random123/philox.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/index_list.h"

namespace lfiw::core {
namespace {

using Philox = r123::Philox4x32;
__extension__ using WideWord = unsigned __int128;

// splitmix64's finalizer: a bijection that spreads every input bit over the output.
std::uint64_t Mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Absorbs one word into the 128-bit name of a stream.
std::array<std::uint64_t, 2> Absorb(std::array<std::uint64_t, 2> name, std::uint64_t word) {
  return {Mix(name[0] ^ Mix(word)), Mix(name[1] + Mix(word ^ 0xa0761d6478bd642fULL))};
}

std::array<std::uint32_t, 4> Block(const std::array<std::uint64_t, 2>& name, std::uint64_t index) {
  const Philox::ctr_type counter = {
      {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
       static_cast<std::uint32_t>(name[1]), static_cast<std::uint32_t>(name[1] >> 32)}};
  const Philox::key_type key = {
      {static_cast<std::uint32_t>(name[0]), static_cast<std::uint32_t>(name[0] >> 32)}};
  const Philox::ctr_type bits = Philox()(counter, key);
  return {bits[0], bits[1], bits[2], bits[3]};
}

// Consecutive blocks side by side, [word][block]: the loops over blocks vectorize.
constexpr std::size_t kSideBySide = 32;
using Blocks = std::array<std::array<std::uint32_t, kSideBySide>, 4>;

// The blocks from `first` on, the same as Block computes. Philox4x32-10: Salmon et al. 2011, with
// the constants of Random123.
void FillBlocks(const std::array<std::uint64_t, 2>& name, std::uint64_t first, Blocks& blocks) {
  auto& [a, b, c, d] = blocks;
  for (std::size_t i = 0; i < kSideBySide; ++i) {
    a[i] = static_cast<std::uint32_t>(first + i);
    b[i] = static_cast<std::uint32_t>((first + i) >> 32);
    c[i] = static_cast<std::uint32_t>(name[1]);
    d[i] = static_cast<std::uint32_t>(name[1] >> 32);
  }
  auto key0 = static_cast<std::uint32_t>(name[0]);
  auto key1 = static_cast<std::uint32_t>(name[0] >> 32);
  for (int round = 0; round < 10; ++round) {
    for (std::size_t i = 0; i < kSideBySide; ++i) {
      const std::uint64_t left = std::uint64_t{PHILOX_M4x32_0} * a[i];
      const std::uint64_t right = std::uint64_t{PHILOX_M4x32_1} * c[i];
      a[i] = static_cast<std::uint32_t>(right >> 32) ^ b[i] ^ key0;
      b[i] = static_cast<std::uint32_t>(right);
      c[i] = static_cast<std::uint32_t>(left >> 32) ^ d[i] ^ key1;
      d[i] = static_cast<std::uint32_t>(left);
    }
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
}

// (0, 1]: safe under a logarithm.
float OpenUnit(std::uint32_t bits) { return (static_cast<float>(bits >> 8) + 1.0f) * 0x1p-24f; }

double UnitFromWords(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

}  // namespace

Stream::Stream(std::uint64_t root_seed, std::string_view purpose,
               std::initializer_list<std::uint64_t> indices)
    : name_{Mix(root_seed), Mix(~root_seed)} {
  // FNV-1a of the purpose, then every index
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : purpose) {
    hash = (hash ^ static_cast<std::uint64_t>(static_cast<unsigned char>(c))) * 0x100000001b3ULL;
  }
  name_ = Absorb(name_, hash);
  for (const std::uint64_t index : indices) name_ = Absorb(name_, index);
}

Stream Stream::Child(std::uint64_t index) const { return Stream(Absorb(name_, index)); }

void Stream::Refill() { block_ = Block(name_, position_ / 4); }

void Stream::AlignToBlock() { position_ = (position_ + 3) / 4 * 4; }

void Stream::Seek(std::uint64_t position) {
  position_ = position;
  if (position_ % 4 != 0) Refill();
}

std::uint32_t Stream::NextBits() {
  if (position_ % 4 == 0) Refill();
  return block_[position_++ % 4];
}

double Stream::Uniform() {
  const std::uint32_t high = NextBits();
  return UnitFromWords(high, NextBits());
}

double Stream::Uniform(double low, double high) { return low + (high - low) * Uniform(); }

double Stream::Normal() {
  const double radius = std::sqrt(-2.0 * std::log1p(-Uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * Uniform());
}

std::uint64_t Stream::Below(std::uint64_t bound) {
  LFIW_ASSERT(bound >= 1);
  // rejects the incomplete last range of 64-bit words
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
  while (true) {
    const std::uint64_t high = NextBits();
    const std::uint64_t bits = (high << 32) | NextBits();
    if (bits < limit) return bits % bound;
  }
}

void Stream::FillBelow(std::uint64_t bound, std::span<std::uint64_t> out) {
  LFIW_ASSERT(bound >= 1);
  std::size_t done = 0;
  // single draws up to the next whole block
  while (done < out.size() && position_ % 4 != 0) out[done++] = Below(bound);
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
  // bits / bound from a product, which is at most one too small
  const std::uint64_t inverse = ~std::uint64_t{0} / bound;
  const auto remainder = [&](std::uint64_t bits) {
    const std::uint64_t ratio = static_cast<std::uint64_t>(WideWord{bits} * inverse >> 64);
    const std::uint64_t rest = bits - ratio * bound;
    return rest < bound ? rest : rest - bound;
  };
  Blocks blocks;
  while (out.size() - done >= 2 * kSideBySide) {
    FillBlocks(name_, position_ / 4, blocks);
    for (std::size_t i = 0; i < kSideBySide; ++i) {
      for (const std::size_t word : {std::size_t{0}, std::size_t{2}}) {
        const std::uint64_t high = blocks[word][i];
        const std::uint64_t bits = (high << 32) | blocks[word + 1][i];
        if (bits < limit) out[done++] = remainder(bits);
      }
    }
    position_ += 4 * kSideBySide;
  }
  while (done < out.size()) out[done++] = Below(bound);
}

void Stream::FillNormal(std::span<float> out) {
  AlignToBlock();
  constexpr std::size_t kChunk = 256;
  Eigen::Array<float, kChunk / 2, 1> radius, angle;
  for (std::size_t begin = 0; begin < out.size(); begin += kChunk) {
    // one block gives two uniform pairs, hence four normals
    for (std::size_t k = 0; k < kChunk / 4; ++k) {
      const auto bits = Block(name_, position_ / 4 + k);
      const auto i = static_cast<Eigen::Index>(2 * k);
      radius(i) = OpenUnit(bits[0]);
      angle(i) = OpenUnit(bits[1]);
      radius(i + 1) = OpenUnit(bits[2]);
      angle(i + 1) = OpenUnit(bits[3]);
    }
    radius = (-2.0f * radius.log()).sqrt();
    angle *= 2.0f * std::numbers::pi_v<float>;
    Eigen::Array<float, kChunk, 1> normals;
    normals.head<kChunk / 2>() = radius * angle.cos();
    normals.tail<kChunk / 2>() = radius * angle.sin();
    const std::size_t count = std::min(kChunk, out.size() - begin);
    std::copy_n(normals.data(), count, out.begin() + static_cast<std::ptrdiff_t>(begin));
    position_ += kChunk;
  }
}

void Stream::FillNormal(std::span<double> out) {
  for (double& x : out) x = Normal();
}

void Stream::FillUniform(std::span<float> out) {
  AlignToBlock();
  for (std::size_t begin = 0; begin < out.size(); begin += 4) {
    const auto bits = Block(name_, position_ / 4);
    const std::size_t count = std::min<std::size_t>(4, out.size() - begin);
    for (std::size_t k = 0; k < count; ++k) {
      out[begin + k] = static_cast<float>(bits[k] >> 8) * 0x1p-24f;
    }
    position_ += 4;
  }
}

std::vector<std::int64_t> Stream::Permutation(std::int64_t n) {
  std::vector<std::int64_t> order = IndexList(n);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(Below(i))]);
  }
  return order;
}

}  // namespace lfiw::core
