#include "experiments/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "core/error.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
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
  EXPECT_EQ(RunBench(config, {cache, directory, Verbosity::kQuiet, "lfiw bench"}).status, 0);
  SetThreads(0);
  return ReadFile(dir / "out/results.csv");
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
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

TEST(RunBench, EvaluatesClosedFormSystemsWithoutAnEnd) {
  BenchConfig config = SmallConfig();
  config.value.horizon = EstimandOptions::kNoEnd;
  config.value.discount = 0.9;
  config.tabular = {"gridworld"};
  config.log_episodes = {300};
  config.seeds = 1;
  config.estimators = {"fqe", "mwl", "model"};
  const std::vector<std::string> rows = Lines(ResultsOf(config, 2));
  ASSERT_EQ(rows.size(), 5u * 3u + 1u);
  const auto refused = [&](const std::string& estimator) {
    return std::ranges::count_if(rows, [&](const std::string& row) {
      return row.find("," + estimator + ",") != std::string::npos &&
             row.find("finite horizon only") != std::string::npos;
    });
  };
  EXPECT_EQ(refused("model"), 5);
  EXPECT_EQ(refused("fqe"), 0);
  EXPECT_EQ(refused("mwl"), 0);
}

TEST(RunBench, RefusesAnEndlessHorizonOfEnvironmentsAndWithoutDiscount) {
  BenchConfig config = SmallConfig();
  config.value.horizon = EstimandOptions::kNoEnd;
  config.tasks.emplace_back();
  try {
    CheckConfig(config);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("leave tasks out"));
    EXPECT_THAT(error.what(), HasSubstr("value.discount: 1"));
  }
}

TEST(RunBench, MeasuresTheCoverageOfEveryKindOfInterval) {
  BenchConfig config = SmallConfig();
  config.intervals = {EpisodeIntervalMethod::kStudentT, EpisodeIntervalMethod::kHoeffding};
  config.estimators = {"is", "model"};
  const TestDir dir;
  StageCache cache(dir / "cache");
  RunDirectory directory(dir / "out");
  EXPECT_EQ(RunBench(config, {cache, directory, Verbosity::kQuiet, "lfiw bench"}).status, 0);
  const std::string coverage = ReadFile(dir / "out/coverage.csv");
  EXPECT_THAT(coverage, HasSubstr("model_win,30,is,,student_t,0.95,2,0,"));
  EXPECT_THAT(coverage, HasSubstr("model_win,30,is,,hoeffding,0.95,2,0,1,"));
  EXPECT_THAT(coverage, HasSubstr("linear_gaussian_0,30,is,,hoeffding,0.95,0,8,,,\"refused\""));
  EXPECT_THAT(coverage, HasSubstr("model_win,30,model,,monte_carlo,0.95,2,0,"));
  // timings are in a file of their own
  EXPECT_THAT(ReadFile(dir / "out/timings.csv"), HasSubstr("model_win,"));
}

TEST(RunBench, RefusesAConfigurationWithNothingToDo) {
  EXPECT_THROW(CheckConfig(BenchConfig()), ConfigError);
}

}  // namespace
}  // namespace lfiw::experiments
