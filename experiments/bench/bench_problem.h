#ifndef LFIW_EXPERIMENTS_BENCH_BENCH_PROBLEM_H_
#define LFIW_EXPERIMENTS_BENCH_BENCH_PROBLEM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/run/result_table.h"
#include "core/run/stage_cache.h"
#include "experiments/bench/bench_config.h"
#include "experiments/presentation/terminal_progress.h"
#include "ope/estimator.h"
#include "ope/fit.h"
#include "ope/judgement/backtest.h"

namespace lfiw::experiments {

// An evaluated policy whose value is known.
struct BenchPolicy {
  std::string label;
  double truth = 0.0;
  double truth_standard_error = 0.0;  // 0: exact
};

// What `lfiw evaluate` states first of a policy, from the same log.
struct StatedAnswer {
  ResultRow row;
  std::optional<double> seconds;  // wall time of all fits and rollouts; none where not known
};

// Whether logs of a problem may be made and fitted as parallel tasks of a thread each, or use all
// threads one after the other.
enum class BenchTasks { kParallel, kSerial };

// One behavior policy in one system, and the policies to be evaluated from its logs.
class BenchProblem {
 public:
  virtual ~BenchProblem() = default;

  virtual std::string environment() const = 0;
  virtual std::string behavior() const = 0;
  virtual Estimand estimand() const = 0;
  virtual BenchTasks tasks() const = 0;
  virtual const std::vector<BenchPolicy>& policies() const = 0;
  // Arrays for estimators with these needs, from the log of that size and seed.
  virtual FittedInputs Inputs(std::size_t policy, std::int64_t episodes, std::uint64_t seed,
                              const std::set<std::string>& needs) const = 0;
  // The answer of `lfiw evaluate` with its verdict; none where it has nothing to say of the system.
  virtual std::optional<StatedAnswer> Stated(std::size_t /*policy*/, std::int64_t /*episodes*/,
                                             std::uint64_t /*seed*/) const {
    return {};
  }
  // Bounds of what one episode can add to that estimator's plain mean; none where none are known.
  virtual std::optional<ReturnRange> Contribution(const std::string& /*estimator*/) const {
    return {};
  }
};

// The problems of a configuration. Policies of environments are trained or loaded and their values
// measured here, kept by the cache, which outlives the problems, as does the configuration.
std::vector<std::unique_ptr<BenchProblem>> MakeBenchProblems(const BenchConfig& config,
                                                             StageCache& cache,
                                                             Verbosity verbosity);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_BENCH_PROBLEM_H_
