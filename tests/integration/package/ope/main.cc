#include <cstdio>

#include "envs/env_registry.h"
#include "ope/rollouts/lfiw.h"

// Two model rollouts of one step, returns 1 and 3; weights 3 : 1 give (3 * 1 + 1 * 3) / 4 = 1.5.
int main() {
  lfiw::core::Array<double, 3> rewards({1, 2, 1});
  rewards(0, 0, 0) = 1.0;
  rewards(0, 1, 0) = 3.0;
  lfiw::core::Array<double, 4> log_weights({1, 1, 2, 1});
  log_weights(0, 0, 0, 0) = 1.0986122886681098;
  const lfiw::ope::LfiwResult result = lfiw::ope::EstimateLfiw(rewards, log_weights, {}, {});
  const double value = *result.horizons.back().value;
  std::printf("%s %.12f\n", lfiw::envs::FindEnv("hopper")->spec().name.c_str(), value);
  return value > 1.5 - 1e-9 && value < 1.5 + 1e-9 ? 0 : 1;
}
