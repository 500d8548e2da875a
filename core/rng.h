#ifndef LFIW_CORE_RNG_H_
#define LFIW_CORE_RNG_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace lfiw::core {

// A counter-based random stream (Philox4x32-10, Salmon et al. 2011). A stream is named by a root
// seed, a purpose and indices (member, classifier, episode, ...), never by thread, time or order of
// use, so results do not depend on how work is scheduled. Copies continue independently from the
// same position; `position` and `Seek` make a stream resumable.
class Stream {
 public:
  Stream(std::uint64_t root_seed, std::string_view purpose,
         std::initializer_list<std::uint64_t> indices = {});

  // A stream of the same name with one more index.
  Stream Child(std::uint64_t index) const;

  std::uint32_t NextBits();

  // Uniform on [0, 1), 53 bits.
  double Uniform();
  // Uniform on [low, high).
  double Uniform(double low, double high);
  // Standard normal (Box-Muller in double).
  double Normal();
  // Uniform on {0, ..., bound - 1} without modulo bias. bound >= 1.
  std::uint64_t Below(std::uint64_t bound);

  // The draws of as many calls of Below, several times faster.
  void FillBelow(std::uint64_t bound, std::span<std::uint64_t> out);

  // Bulk draws, several times faster than single ones; they start at a fresh 128-bit block.
  void FillNormal(std::span<float> out);
  void FillNormal(std::span<double> out);
  void FillUniform(std::span<float> out);

  // A uniformly random permutation of 0 .. n-1 (Fisher-Yates).
  std::vector<std::int64_t> Permutation(std::int64_t n);

  // Number of 32-bit draws consumed so far.
  std::uint64_t position() const { return position_; }
  void Seek(std::uint64_t position);

 private:
  explicit Stream(std::array<std::uint64_t, 2> name) : name_(name) {}
  void Refill();
  // Starts at the next whole block, so that bulk draws need no left-overs.
  void AlignToBlock();

  std::array<std::uint64_t, 2> name_;  // 64 bits of key and the upper 64 bits of the counter
  std::uint64_t position_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

}  // namespace lfiw::core

#endif  // LFIW_CORE_RNG_H_
