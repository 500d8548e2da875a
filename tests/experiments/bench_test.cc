#include "experiments/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/parallel.h"
#include "tests/core/test_dir.h"

namespace lfiw {
namespace {

using ::testing::HasSubstr;

BenchConfig SmallConfig() {
  BenchConfig config;
  config.tabular = {"model_win"};
  config.linear_gaussian = 1;
  config.log_episodes = {30};
  config.seeds = 2;
  config.estimators = {"wis", "fqe", "dr_lfiw", "model"};
  config.interval.resamples = 100;
  return config;
}

std::string ResultsOf(const BenchConfig& config, int threads) {
  const TestDir dir;
  SetThreads(threads);
  StageCache cache(dir / "cache");
  RunDirectory directory(dir / "out");
  EXPECT_EQ(RunBench(config, {cache, directory, Verbosity::kQuiet, "lfiw bench"}), 0);
  SetThreads(0);
  return ReadFile(dir / "out/results.csv");
}

TEST(RunBench, GivesARowPerEstimateAndTheSameBytesForAnyNumberOfThreads) {
  const std::string results = ResultsOf(SmallConfig(), 1);
  // (1 tabular policy + 4 linear-Gaussian ones) x 2 logs x 4 estimators, and the header
  EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 5 * 2 * 4 + 1);
  EXPECT_EQ(results, ResultsOf(SmallConfig(), 2));
}

TEST(RunBench, RefusesUnknownNamesAllAtOnce) {
  BenchConfig config = SmallConfig();
  config.estimators = {"wiss"};
  config.tabular = {"modelwin"};
  try {
    CheckConfig(config);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean wis?"));
    EXPECT_THAT(error.what(), HasSubstr("model_win"));
  }
}

TEST(RunBench, RefusesAConfigurationWithNothingToDo) {
  EXPECT_THROW(CheckConfig(BenchConfig()), ConfigError);
}

}  // namespace
}  // namespace lfiw
