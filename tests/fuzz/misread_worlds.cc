// Random systems and policies whose values many rollouts tell.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/statistics.h"
#include "tests/fuzz/misread_case.h"

namespace lfiw::core {
namespace {

constexpr std::int64_t kTruthEpisodes = 20'000;

std::vector<double> Simulate(const LinearSystem& system, const LinearPolicy& policy,
                             std::int64_t episodes, Stream stream) {
  return ReturnsOf(Collect(system, policy, episodes, stream));
}

MatrixD RandomMatrix(Eigen::Index rows, Eigen::Index cols, double size, Stream& stream) {
  MatrixD out(rows, cols);
  for (double& value : out.reshaped()) value = size * stream.Normal();
  return out;
}

// A damped rotation that one or two actions push.
LinearSystem RandomSystem(bool discrete, Stream& stream) {
  LinearSystem system;
  const double radius = stream.Uniform(0.8, 0.93), angle = stream.Uniform(0.05, 0.3);
  system.a << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
  system.a *= radius;
  const Eigen::Index actions = discrete ? 1 : 1 + static_cast<Eigen::Index>(stream.Below(2));
  system.b = MatrixD(2, actions);
  for (double& value : system.b.reshaped()) {
    value = stream.Uniform(0.25, 0.5) * (stream.Below(2) == 0 ? 1.0 : -1.0);
  }
  system.noise = stream.Uniform(0.03, 0.07);
  system.cost = stream.Uniform(0.5, 1.0);
  system.discrete = discrete ? 2 + static_cast<std::int64_t>(stream.Below(3)) : 0;
  system.horizon = 12 + static_cast<std::int64_t>(stream.Below(12));
  return system;
}

LinearPolicy RandomPolicy(const LinearSystem& system, const LinearPolicy* near, Stream& stream) {
  LinearPolicy policy;
  const Eigen::Index outputs = system.discrete > 0 ? system.discrete : system.b.cols();
  const double size = system.discrete > 0 ? 0.6 : 0.2;
  policy.gain = RandomMatrix(outputs, 2, size, stream);
  policy.offset = RandomMatrix(outputs, 1, size, stream);
  policy.deviation = 0.35;
  if (near == nullptr) return policy;
  policy.gain = near->gain + 0.3 * policy.gain;
  policy.offset = near->offset + 0.3 * policy.offset;
  return policy;
}

// Where the first state of at most four tenths of the episodes gets to, hardly any at the start.
double FallLevel(const LinearSystem& system, const LinearPolicy& behavior, Stream stream) {
  const StepTable table = Collect(system, behavior, 400, stream);
  std::vector<double> highest;
  double high = -HUGE_VAL;
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    if (table.times[static_cast<std::size_t>(i)] > 2) {
      high = std::max(high, static_cast<double>(table.next_observations(i, 0)));
    }
    if (!table.Ends(i)) continue;
    highest.push_back(high);
    high = -HUGE_VAL;
  }
  return std::max(Quantile(highest, 0.6), system.start_mean + 2.0 * system.start_deviation);
}

}  // namespace

// Of some policies near the one that logged, the one that differs most in value, but by no more
// than a third of a return: farther away is another question than that of a log that is misread.
World MakeWorld(bool falls, bool discrete, Stream& stream) {
  World world;
  world.system = RandomSystem(discrete, stream);
  world.behavior = RandomPolicy(world.system, nullptr, stream);
  const Stream simulation = stream;
  if (falls) {
    world.system.fall = FallLevel(world.system, world.behavior, simulation);
    world.system.fall_reward = stream.Below(2) == 0 ? -3.0 : 5.0;
  }
  const std::vector<double> logged = Simulate(world.system, world.behavior, 1000, simulation);
  const double limit = std::max(std::abs(Mean(logged)), StandardDeviation(logged)) / 3.0;
  world.evaluation = world.behavior;
  double farthest = 0.0;
  for (int k = 0; k < 6; ++k) {
    const LinearPolicy policy = RandomPolicy(world.system, &world.behavior, stream);
    const double distance =
        std::abs(Mean(Simulate(world.system, policy, 1000, simulation)) - Mean(logged));
    if (distance <= farthest || distance > limit) continue;
    farthest = distance;
    world.evaluation = policy;
  }
  const std::vector<double> returns =
      Simulate(world.system, world.evaluation, kTruthEpisodes, simulation);
  world.truth = Mean(returns);
  world.size = std::max(std::abs(world.truth), StandardDeviation(returns));
  return world;
}

}  // namespace lfiw::core
