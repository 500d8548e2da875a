#include <cmath>
#include <cstdint>

#include "tests/fuzz/mistakes.h"

namespace lfiw::core {
namespace {

void RandomUnits(Stream& stream, double& scale, double& shift) {
  scale = stream.Uniform(4.0, 20.0);
  shift = stream.Uniform(-5.0, 5.0) * scale;
}

}  // namespace

// Rewards divided by a deviation that changes while the log is written.
void DriftRewards(Case& c, Stream& stream) {
  const double first = stream.Uniform(2.0, 4.0), pace = stream.Uniform(0.1, 0.5);
  for (std::size_t i = 0; i < c.table.rewards.size(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(c.table.rewards.size());
    c.table.rewards[i] /= 1.0 + first * std::exp(-place / pace);
  }
}

void SpoilRewards(Case& c, Stream& stream) {
  const double size = std::pow(10.0, stream.Uniform(3.5, 7.0));
  for (std::uint64_t k = 1 + stream.Below(3); k > 0; --k) {
    c.table.rewards[stream.Below(c.table.rewards.size())] = Coin(stream) ? size : -size;
  }
}

// The policy takes (x - shift) / scale, the log holds x.
void NormalisedPolicy(Case& c, Stream& stream) {
  double scale = 1.0, shift = 0.0;
  RandomUnits(stream, scale, shift);
  c.table.observations =
      (c.table.observations.array() * static_cast<float>(scale) + static_cast<float>(shift))
          .matrix();
  c.table.next_observations =
      (c.table.next_observations.array() * static_cast<float>(scale) + static_cast<float>(shift))
          .matrix();
}

// The policy takes the state, the log holds (x - shift) / scale.
void NormalisedLog(Case& c, Stream& stream) {
  double scale = 1.0, shift = 0.0;
  RandomUnits(stream, scale, shift);
  c.policy.gain /= scale;
  c.policy.offset -= c.policy.gain * VectorD::Constant(2, shift);
}

// Weights so large that some observations give infinity less infinity.
void UndefinedPolicy(Case& c, Stream& stream) {
  const double level = stream.Uniform(1e38, 3e38);
  c.policy.gain.setConstant(level);
  c.policy.gain.col(1).setConstant(-level);
  c.policy.offset.setConstant(0.0);
}

void FloatIndices(Case& c, Stream& /*stream*/) { c.table.discrete = 0; }

void AddUpRewards(Case& c, Stream& /*stream*/) {
  for (std::size_t i = 1; i < c.table.rewards.size(); ++i) {
    if (c.table.times[i] > 0) c.table.rewards[i] += c.table.rewards[i - 1];
  }
}

// Observations divided by a deviation that changes while the log is written.
void DriftObservations(Case& c, Stream& stream) {
  const double first = stream.Uniform(1.0, 4.0), pace = stream.Uniform(0.1, 0.4);
  for (std::int64_t i = 0; i < c.table.steps(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(c.table.steps());
    const auto scale = static_cast<float>(1.0 + first * std::exp(-place / pace));
    c.table.observations.row(i) /= scale;
    c.table.next_observations.row(i) /= scale;
  }
}

}  // namespace lfiw::core
