#include "experiments/image_gof/gof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/stage_cache.h"
#include "experiments/presentation/stage_files.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class GofTest : public testing::Test {
 protected:
  // Features of n samples, moved by `shift` in every one of 3 dimensions.
  std::string Samples(const std::string& name, std::uint64_t seed, float shift) {
    NpzFile file;
    file.Put("features", NormalRows(600, 3, seed, shift));
    file.Write(dir_ / name);
    return dir_ / name;
  }

  GofConfig Config(const std::string& real, const std::string& generated) {
    GofConfig config;
    config.real = {real};
    config.generated = {generated};
    config.classifier.folds = 2;
    config.classifier.epochs = 3;
    config.classifier.fit.network.width = 16;
    config.metrics.kid_block = 100;
    return config;
  }

  nlohmann::json Run(const GofConfig& config, const std::string& out) {
    RunDirectory directory(dir_ / out);
    EXPECT_EQ(RunGof(config, {cache_, directory, Verbosity::kQuiet, "lfiw gof"}).status, 0);
    return ReadJson(directory.File("results.json"));
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
};

TEST_F(GofTest, EqualSetsAreTheSameAndShiftedOnesDifferent) {
  const std::string real = Samples("real.npz", 1, 0.0f);
  const auto same = Run(Config(real, Samples("same.npz", 2, 0.0f)), "same");
  EXPECT_EQ(same["verdict"]["resemblance"], "no difference found");
  const auto other = Run(Config(real, Samples("other.npz", 3, 1.0f)), "other");
  EXPECT_EQ(other["verdict"]["resemblance"], "different");
}

TEST_F(GofTest, ASecondRunTakesItsStagesFromTheCacheAndGivesTheSameBytes) {
  const GofConfig config = Config(Samples("real.npz", 1, 0.0f), Samples("generated.npz", 2, 0.5f));
  Run(config, "first");
  Run(config, "second");
  EXPECT_EQ(cache_.records().back().outcome, StageOutcome::kReused);
  for (const char* file : {"results.json", "results.csv", "weights.csv", "report.html"}) {
    EXPECT_EQ(ReadFile(dir_ / "first/" + file), ReadFile(dir_ / "second/" + file)) << file;
  }
}

TEST_F(GofTest, ThePageSaysWhatTheVerdictIs) {
  Run(Config(Samples("real.npz", 1, 0.0f), Samples("generated.npz", 2, 1.0f)), "run");
  const std::string page = ReadFile(dir_ / "run/report.html");
  EXPECT_THAT(page, HasSubstr("differ clearly"));
  EXPECT_THAT(page, HasSubstr("Does resampling improve the model?"));
  EXPECT_THAT(page, HasSubstr("Calibration of the classifier"));
}

TEST_F(GofTest, WithoutFilesThereIsNothingToMeasure) {
  GofConfig config = Config("real.npz", "generated.npz");
  config.generated.clear();
  EXPECT_THAT([&] { Run(config, "run"); },
              ThrowsMessage<ConfigError>(HasSubstr("generated: an empty list")));
}

}  // namespace
}  // namespace lfiw::experiments
