#ifndef LFIW_TESTS_SMALL_LOGS_H_
#define LFIW_TESTS_SMALL_LOGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/matrix.h"
#include "core/rng.h"

namespace lfiw::core {

// x' = A x + B a + noise, r = 1 - cost |x'|^2 - action_cost |a|^2, a system whose policies have
// values that many rollouts tell.
struct LinearSystem {
  MatrixD a = (MatrixD(2, 2) << 0.95, 0.1, 0.0, 0.85).finished();
  MatrixD b = (MatrixD(2, 1) << 0.0, 0.5).finished();
  double noise = 0.05;
  double start_mean = 0.5, start_deviation = 0.3;  // of each state at the start
  double cost = 1.0, action_cost = 0.05;
  // The environment ends an episode where the first state exceeds this, with this further reward.
  std::optional<double> fall = std::nullopt;
  double fall_reward = 0.0;
  std::int64_t horizon = 20;  // time limit
  // Number of discrete actions, 0: continuous. Action k pushes as much as -1 + 2 k / (n - 1).
  std::int64_t discrete = 0;
};

// Continuous: a ~ N(gain x + offset, deviation^2). Discrete: logits gain x + offset.
struct LinearPolicy {
  MatrixD gain = (MatrixD(1, 2) << -0.4, -0.6).finished();  // [action_dim, obs_dim]
  VectorD offset = VectorD::Zero(1);                        // [action_dim]
  double deviation = 0.3;
};

// Steps of episodes, one row each, as most loggers keep them.
struct StepTable {
  MatrixF observations = {}, next_observations = {};  // [steps, obs_dim]
  MatrixF actions = {};                    // [steps, action_dim]; discrete: [steps, 1], the index
  std::vector<double> rewards = {};        // [steps]
  std::vector<double> log_densities = {};  // [steps], of the behavior policy
  // [steps]: 1 where the environment ended the episode, and where its time limit did
  std::vector<std::uint8_t> terminals = {}, timeouts = {};
  std::vector<std::int64_t> episodes = {}, times = {};  // [steps]
  std::int64_t discrete = 0;

  std::int64_t steps() const { return observations.rows(); }
  bool Ends(std::int64_t row) const;
  // First rows of episodes, and the number of steps at the end.
  std::vector<std::int64_t> Starts() const;
  // The rows with these indices, in this order.
  StepTable Rows(const std::vector<std::int64_t>& rows) const;
};

StepTable Collect(const LinearSystem& system, const LinearPolicy& policy, std::int64_t episodes,
                  Stream& stream);
// Sums of rewards of the episodes, [episodes].
std::vector<double> ReturnsOf(const StepTable& table);

// Writes a policy in lfiw's format for networks; `discrete` is the system's number of actions.
void SavePolicyFile(const LinearPolicy& policy, std::int64_t discrete, const std::string& path);

// Names of arrays and columns of files; what is empty is left out.
struct TableNames {
  std::string next_observations = "next_observations";
  std::string terminals = "terminals";
  std::string timeouts = "timeouts";
};

// How a table is written.
enum class TableFormat {
  kOwn,        // npz with offsets and last observations
  kFlatNpz,    // one row a step
  kFlatHdf5,   // the same as D4RL
  kPadded,     // npz [episodes, steps, ...] with lengths
  kBuffer,     // npz [steps, environments, ...], as Stable-Baselines3
  kD3rlpy1,    // HDF5 with episode_terminals and without next observations
  kImitation,  // npz with indices
  kCsv,        // with a line for the observation after the last step
  kCsvNoLast,  // without
  kJson,       // lines with next observations
  kMinari,     // a directory
};
const char* FormatName(TableFormat format);

// Writes `table` below `folder` and returns the path.
std::string WriteTable(const StepTable& table, TableFormat format, const TableNames& names,
                       const std::string& folder);

}  // namespace lfiw::core

#endif  // LFIW_TESTS_SMALL_LOGS_H_
