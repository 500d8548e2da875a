#include "experiments/cli/sweep_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

void WriteReportOf(double value, const std::string& directory) {
  std::filesystem::create_directories(directory);
  std::ofstream(directory + "/report.json")
      << R"({"headline": 1, "truth": {"value": 10.0}, "verdict": {"level": "trust"}, "rows": [
           {"estimator": "model", "value": 1.0},
           {"estimator": "calibrated_model", "value": )"
      << value << R"(, "stderr": 0.5, "ci_low": 8.0, "ci_high": 11.0}]})";
}

TEST(ReadSweptRun, IsWhatIsStatedFirst) {
  const TestDir dir;
  WriteReportOf(9.0, dir / "run");
  const auto runs = ReadSweptRun("seed=1", dir / "run");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(runs[0].estimator, "calibrated_model");
  EXPECT_EQ(runs[0].value, 9.0);
  EXPECT_EQ(runs[0].truth, 10.0);
  EXPECT_EQ(runs[0].verdict, "trust");
  EXPECT_EQ(runs[0].policy, "");
}

TEST(ReadSweptRun, HasARowForEveryPolicyByName) {
  const TestDir dir;
  WriteReportOf(9.0, dir / "run");
  WriteReportOf(7.0, dir / "run/policies/b");
  WriteReportOf(8.0, dir / "run/policies/a");
  const auto runs = ReadSweptRun("seed=1", dir / "run");
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].policy, "a");
  EXPECT_EQ(runs[0].value, 8.0);
  EXPECT_EQ(runs[1].directory, dir / "run");
}

TEST(ReadSweptRun, OfARunThatStatesNothingIsNothing) {
  const TestDir dir;
  EXPECT_THAT(ReadSweptRun("seed=1", dir.path()), IsEmpty());
}

TEST(SweepText, SaysWhatTheRunsSayTogether) {
  std::vector<SweptRun> runs(2);
  runs[0] = {.overrides = "seed=1",
             .directory = "d/0",
             .policy = "",
             .estimator = "model",
             .value = 9.0,
             .standard_error = 1.0,
             .low = 8.0,
             .high = 11.0,
             .truth = 10.0,
             .verdict = "trust"};
  runs[1] = runs[0];
  runs[1].overrides = "seed=2";
  runs[1].value = 13.0;
  runs[1].low = 12.0;
  runs[1].high = 14.0;
  const std::string text = SweepText(runs);
  EXPECT_THAT(text, HasSubstr("seed=2"));
  EXPECT_THAT(text, HasSubstr("over 2 values: mean 11.00, standard deviation 2.8; root mean square "
                              "error 2.2; 1 of 2 intervals hold the truth\n"));
  runs[0].truth.reset();
  runs[1].truth.reset();
  EXPECT_THAT(SweepText(runs), Not(HasSubstr("truth\n")));
  EXPECT_EQ(SweepText({}), "");
}

TEST(SweepCsv, HasALineForEachRun) {
  SweptRun run;
  run.overrides = "seed=1 log.episodes=20";
  run.directory = "out/0";
  run.value = 2.5;
  EXPECT_EQ(SweepCsv(std::vector<SweptRun>{run}),
            "overrides,directory,policy,estimator,value,stderr,ci_low,ci_high,truth,verdict\n"
            "\"seed=1 log.episodes=20\",\"out/0\",\"\",,2.5,,,,,\n");
}

}  // namespace
}  // namespace lfiw::experiments
