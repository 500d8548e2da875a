#include "experiments/image_gof/gof_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>

#include <string>
#include <tuple>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "core/run/stage_cache.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"
#include "tests/experiments/image_gof/tiny_generators.h"
#include "tests/models/image/test_images.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
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

  // Images of noise, classes 0 and 1 in turn.
  std::string Images(const std::string& name, std::int64_t count) {
    ImageBatch images = NoiseImages(count, 8, 3);
    for (std::int64_t i = 0; i < count; ++i) images.labels.push_back(i % 2);
    WriteImages(images, dir_ / name);
    return dir_ / name;
  }

  // Both kinds of trained generators, and a network of three features and two logits.
  GofTableConfig TrainedConfig() {
    torch::jit::Module module("features");
    module.define("def forward(self, x):\n    return x.flatten(2).mean(2), x.flatten(1)[:, :2]\n");
    module.save(dir_ / "features.pt");
    GofTableConfig config = Config();
    config.real_train = {Images("train_images.npz", 50)};
    config.real_test = {Images("test_images.npz", 40)};
    config.real_check = {Images("check_images.npz", 30)};
    config.features = dir_ / "features.pt";
    config.generators = {TinyPixelCnn(), TinySngan()};
    config.sizes = {20};
    config.density_images = 25;
    return config;
  }

  std::string Run(const GofTableConfig& config, const std::string& file,
                  const std::string& cache_name = "cache") {
    StageCache cache(dir_ / cache_name);
    RunDirectory directory(dir_ / "run");
    EXPECT_EQ(RunGofTable(config, {cache, directory, Verbosity::kQuiet, "lfiw run"}).status, 0);
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

TEST_F(GofTableTest, TrainsItsGeneratorsAndShowsThem) {
  const std::string page = Run(TrainedConfig(), "report.html");
  for (const char* words :
       {"Training of PixelCNN++", "Training of SNGAN", "samples drawn at random",
        "held out bits per dimension", "Density of test images", "Z is not known",
        "The same on the check images", "of 30 labeled check images right"}) {
    EXPECT_THAT(page, HasSubstr(words)) << words;
  }
  EXPECT_THAT(ReadFile(dir_ / "run/plots/samples_1_pixelcnn.png"), HasSubstr("PNG"));
  EXPECT_THAT(ReadFile(dir_ / "run/density.csv"), HasSubstr("\"PixelCNN++\",25,"));
  EXPECT_THAT(ReadFile(dir_ / "run/classifiers.csv"),
              AllOf(HasSubstr("\"SNGAN\",\"real_train, cross-fitted\",50,60,"),
                    HasSubstr("\"SNGAN\",\"check images\",30,30,")));
  EXPECT_THAT(ReadFile(dir_ / "run/metrics.jsonl"),
              AllOf(HasSubstr("held_out_bits_per_dimension"), HasSubstr("generator_loss"),
                    HasSubstr("SNGAN classifier fold 1")));
}

TEST_F(GofTableTest, OneAndTwoThreadsGiveTheSameTables) {
  SetThreads(1);
  const std::string one = Run(TrainedConfig(), "report.html", "one");
  SetThreads(2);
  const std::string two = Run(TrainedConfig(), "report.html", "two");
  SetThreads(0);
  EXPECT_EQ(one, two);
}

TEST_F(GofTableTest, DensitiesNeedTestImagesOfTheSameSize) {
  GofTableConfig config = TrainedConfig();
  WriteImages(NoiseImages(40, 16, 3), dir_ / "large.npz");
  config.real_test = {dir_ / "large.npz"};
  EXPECT_THAT([&] { Run(config, "results.csv"); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("40 images of 16 x 16 x 3"), HasSubstr("density_images=0"))));
}

TEST_F(GofTableTest, WithoutGeneratorsThereIsNothingToMeasure) {
  GofTableConfig config = Config();
  config.generators.clear();
  EXPECT_THAT([&] { Run(config, "results.csv"); },
              ThrowsMessage<ConfigError>(HasSubstr("expected at least one of each")));
}

}  // namespace
}  // namespace lfiw::experiments
