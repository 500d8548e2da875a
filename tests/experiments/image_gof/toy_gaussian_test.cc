#include "experiments/image_gof/toy_gaussian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ToyGaussianConfig Small() {
  ToyGaussianConfig config;
  config.sizes = {20, 30};
  config.bootstraps = 4;
  config.grid.points = 11;
  config.classifier.fit.steps = 10;
  return config;
}

class ToyGaussianTest : public testing::Test {
 protected:
  std::string Run(const ToyGaussianConfig& config, const std::string& out,
                  const std::string& file) {
    RunDirectory directory(dir_ / out);
    EXPECT_EQ(RunToyGaussian(config, {cache_, directory, Verbosity::kQuiet, "lfiw run"}).status, 0);
    return ReadFile(directory.File(file));
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
};

TEST_F(ToyGaussianTest, HasALineForEverySizeAndOneForEveryPointOfTheCurves) {
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  EXPECT_EQ(lines(Run(Small(), "run", "results.csv")), 1 + 2);
  EXPECT_EQ(lines(Run(Small(), "run", "curves.csv")), 1 + 2 * 11);
  EXPECT_THAT(ReadFile(dir_ / "run/report.html"), HasSubstr("Does resampling improve the model?"));
}

TEST_F(ToyGaussianTest, ASecondRunReusesItsStagesAndGivesTheSamePage) {
  const std::string first = Run(Small(), "first", "report.html");
  EXPECT_EQ(Run(Small(), "second", "report.html"), first);
  EXPECT_EQ(cache_.records().back().outcome, StageOutcome::kReused);
}

TEST_F(ToyGaussianTest, AnEmptyOrReversedGridIsRefused) {
  ToyGaussianConfig config = Small();
  config.grid.low = config.grid.high;
  EXPECT_THAT([&] { Run(config, "run", "results.csv"); },
              ThrowsMessage<ConfigError>(HasSubstr("expected low below high")));
}

}  // namespace
}  // namespace lfiw::experiments
