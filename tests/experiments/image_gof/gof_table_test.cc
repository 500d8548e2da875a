#include "experiments/image_gof/gof_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/npz.h"
#include "core/stage_cache.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"

namespace lfiw {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class GofTableTest : public testing::Test {
 protected:
  std::string Samples(const std::string& name, std::uint64_t seed, float shift) {
    NpzFile file;
    file.Put("features", NormalRows(600, 3, seed, shift));
    file.Put("logits", NormalRows(600, 4, seed + 50));
    file.Write(dir_ / name);
    return dir_ / name;
  }

  GofTableConfig Config() {
    GofTableConfig config;
    config.real_train = {Samples("train.npz", 1, 0.0f)};
    config.real_test = {Samples("test.npz", 2, 0.0f)};
    for (const auto& [name, seed, shift] : {std::tuple{"a", 3, 0.5f}, std::tuple{"b", 4, 0.0f}}) {
      GeneratorOptions& generator = config.generators.emplace_back();
      generator.name = name;
      generator.samples = {Samples(std::string(name) + ".npz", seed, shift)};
    }
    config.runs = 3;
    config.sizes = {200, 600};
    config.classifier.folds = 2;
    config.classifier.epochs = 3;
    config.classifier.fit.network.width = 16;
    return config;
  }

  std::string Run(const GofTableConfig& config, const std::string& file) {
    StageCache cache(dir_ / "cache");
    RunDirectory directory(dir_ / "run");
    EXPECT_EQ(RunGofTable(config, {cache, directory, Verbosity::kQuiet, "lfiw run"}), 0);
    return ReadFile(directory.File(file));
  }

  TestDir dir_;
};

TEST_F(GofTableTest, HasARowForTheReferenceAndTwoForEveryGenerator) {
  const std::string csv = Run(Config(), "results.csv");
  for (const char* row : {"\"-\",\"reference\",fid,", "\"a\",\"default (no debiasing)\",kid,",
                          "\"a\",\"LFIW\",inception_score,", "\"b\",\"LFIW\",mmd_rbf"}) {
    EXPECT_THAT(csv, HasSubstr(row));
  }
  EXPECT_THAT(csv, HasSubstr(",3,200,"));
}

TEST_F(GofTableTest, HasATableOfBiasAndVarianceForEverySize) {
  const std::string csv = Run(Config(), "bias_variance.csv");
  EXPECT_THAT(csv, HasSubstr("\"a\",200,none,,3,1,"));
  EXPECT_THAT(csv, HasSubstr("\"b\",600,clipped,beta=0.01,3,0,"));
  EXPECT_THAT(Run(Config(), "report.html"), HasSubstr("draws overlap"));
}

TEST_F(GofTableTest, WithoutGeneratorsThereIsNothingToMeasure) {
  GofTableConfig config = Config();
  config.generators.clear();
  EXPECT_THAT([&] { Run(config, "results.csv"); },
              ThrowsMessage<ConfigError>(HasSubstr("expected at least one of each")));
}

}  // namespace
}  // namespace lfiw
