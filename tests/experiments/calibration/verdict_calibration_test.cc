#include "experiments/calibration/verdict_calibration.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/calibration/tiny_verdict_calibration.h"

namespace lfiw::experiments {
namespace {

VerdictCalibrationConfig SmallConfig() {
  VerdictCalibrationConfig config = TinyVerdictCalibration();
  config.good = config.doubtful = 1;
  config.failures = 3;
  return config;
}

std::string ResultsOf(const VerdictCalibrationConfig& config, const TestDir& dir,
                      const std::string& cache_name) {
  StageCache cache(dir / cache_name);
  RunDirectory directory(dir / "run");
  EXPECT_EQ(RunVerdictCalibration(config, {cache, directory, Verbosity::kQuiet, "lfiw run"}).status,
            0);
  return ReadFile(directory.File("results.csv"));
}

TEST(RunVerdictCalibration, GivesTheSameBytesForAnyNumberOfThreads) {
  const TestDir dir;
  const VerdictCalibrationConfig config = SmallConfig();
  SetThreads(1);
  const std::string one = ResultsOf(config, dir, "one");
  SetThreads(3);
  EXPECT_EQ(ResultsOf(config, dir, "three"), one);
  SetThreads(0);
  EXPECT_EQ(std::ranges::count(one, '\n'), 6);
}

TEST(RunVerdictCalibration, SummarizesTheVerdictsInAFileOfItsOwn) {
  const TestDir dir;
  ResultsOf(SmallConfig(), dir, "cache");
  const std::string csv = ReadFile(dir / "run/summary.csv");
  EXPECT_NE(csv.find("\nthe estimate stated first,all failures,3,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nthe estimate stated first,all good,1,"), std::string::npos) << csv;
}

TEST(RunVerdictCalibration, JudgesTheDoublyRobustEstimateOfTheSameCases) {
  const TestDir dir;
  VerdictCalibrationConfig config = TinyDoublyRobustCalibration();
  config.good = config.doubtful = 0;
  config.failures = 2;  // a support gap, and a model of another system
  const std::string csv = ResultsOf(config, dir, "cache");
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  const std::string::size_type first = csv.find(",dr_lfiw,");
  ASSERT_NE(first, std::string::npos);
  EXPECT_NE(csv.find(",dr_lfiw,", first + 1), std::string::npos);
  EXPECT_NE(ReadFile(dir / "run/report.html").find("doubly robust LFIW"), std::string::npos);
}

TEST(RunVerdictCalibration, NamesFoldsThatTheEnsembleCannotHave) {
  const TestDir dir;
  VerdictCalibrationConfig config = SmallConfig();
  config.cross_fit = 3;
  try {
    ResultsOf(config, dir, "cache");
    FAIL() << "no error";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "cross_fit: 3 folds need 2 .. dynamics.members = 2");
  }
}

TEST(RunVerdictCalibration, OtherLimitsJudgeTheKeptOutcomesAnew) {
  const TestDir dir;
  VerdictCalibrationConfig config = SmallConfig();
  ResultsOf(config, dir, "cache");
  // every horizon is as long as the log or longer
  config.verdict.reach = {.caution = 0.1, .refuse = 0.5};
  StageCache cache(dir / "cache");
  RunDirectory directory(dir / "again");
  RunVerdictCalibration(config, {cache, directory, Verbosity::kQuiet, "lfiw run"});
  for (const StageRecord& record : cache.records()) {
    EXPECT_EQ(record.outcome, StageOutcome::kReused);
  }
  const std::string csv = ReadFile(directory.File("results.csv"));
  EXPECT_EQ(csv.find(",trust,"), std::string::npos);
  EXPECT_EQ(csv.find(",caution,"), std::string::npos);
}

}  // namespace
}  // namespace lfiw::experiments
