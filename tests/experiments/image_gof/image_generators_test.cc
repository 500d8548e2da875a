#include "experiments/image_gof/image_generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/images/image_files.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/image_gof/feature_samples.h"
#include "tests/experiments/image_gof/tiny_generators.h"
#include "tests/models/change_fields.h"
#include "tests/models/image/test_images.h"
#include "tests/models/image/test_job.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ImageGeneratorsTest : public testing::Test {
 protected:
  ImageGeneratorsTest() {
    WriteImages(NoiseImages(40, 8, 3), dir_ / "train.npz");
    train_ = ReadSamples({dir_ / "train.npz"});
  }
  ~ImageGeneratorsTest() override { InterruptRequested() = false; }

  GeneratorOutput Make(const GeneratorOptions& options, const std::string& cache = "cache") {
    StageCache stages(dir_ / cache);
    RunDirectory directory(dir_ / "run");
    GeneratorOutput made =
        MakeSamples(options, train_, 3, {stages, directory, Verbosity::kQuiet, ""});
    outcomes_.clear();
    for (const StageRecord& record : stages.records()) outcomes_.push_back(record.outcome);
    return made;
  }

  ImageBatch Samples(const GeneratorOutput& made) { return ReadImages(made.samples[0]).images; }

  // The checkpoint folder that an interrupted stage has left.
  std::string Checkpoint(const std::string& cache, const std::string& stage) {
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / (cache + "/" + stage))) {
      if (entry.path().extension() == ".work") return entry.path().string() + "/checkpoint";
    }
    return "";
  }

  TestDir dir_;
  SampleSet train_;
  std::vector<StageOutcome> outcomes_;  // of the last Make
};

TEST_F(ImageGeneratorsTest, BothKindsAreTrainedAndSampledOnce) {
  for (const GeneratorOptions& options : {TinyPixelCnn(), TinySngan()}) {
    const GeneratorOutput made = Make(options);
    EXPECT_THAT(outcomes_, ElementsAre(StageOutcome::kComputed, StageOutcome::kComputed));
    const ImageBatch samples = Samples(made);
    EXPECT_EQ(samples.count, options.count);
    EXPECT_EQ(samples.image_size(), train_.images.image_size());
    ASSERT_TRUE(made.model);
    EXPECT_EQ(made.model->history.steps.back(), 4);
    EXPECT_EQ(made.model->history.names.size(), 2u);

    EXPECT_EQ(Make(options).model->history, made.model->history);
    EXPECT_THAT(outcomes_, ElementsAre(StageOutcome::kReused, StageOutcome::kReused));
  }
}

TEST_F(ImageGeneratorsTest, MoreSamplesNeedNoNewTraining) {
  GeneratorOptions options = TinySngan();
  const ImageBatch few = Samples(Make(options));
  options.count += 10;
  const ImageBatch more = Samples(Make(options));
  EXPECT_THAT(outcomes_, ElementsAre(StageOutcome::kReused, StageOutcome::kComputed));
  EXPECT_TRUE(std::equal(few.pixels.begin(), few.pixels.end(), more.pixels.begin()));
}

TEST_F(ImageGeneratorsTest, TrainingSeesNothingOfTheHeldOutImages) {
  const GeneratorOptions options = TinySngan();
  const std::string before = ReadFile(Make(options).model->file);
  std::fill(train_.images.pixels.end() - options.held_out * train_.images.image_size(),
            train_.images.pixels.end(), std::uint8_t{0});
  train_.hash = "other";
  EXPECT_EQ(before, ReadFile(Make(options).model->file));
}

TEST_F(ImageGeneratorsTest, FilesOfSamplesAreTakenAsTheyAre) {
  GeneratorOptions options;
  options.samples = {"a.npz", "b.npz"};
  const GeneratorOutput made = Make(options);
  EXPECT_EQ(made.samples, options.samples);
  EXPECT_FALSE(made.model);
}

TEST_F(ImageGeneratorsTest, OneAndTwoThreadsGiveTheSameBytes) {
  for (const GeneratorOptions& options : {TinyPixelCnn(), TinySngan()}) {
    SetThreads(1);
    const GeneratorOutput one = Make(options, "one");
    SetThreads(2);
    const GeneratorOutput two = Make(options, "two");
    SetThreads(0);
    EXPECT_EQ(ReadFile(one.model->file), ReadFile(two.model->file));
    EXPECT_EQ(ReadFile(one.samples[0]), ReadFile(two.samples[0]));
  }
}

TEST_F(ImageGeneratorsTest, AnInterruptedTrainingGoesOnFromItsCheckpoint) {
  const GeneratorOptions options = TinyPixelCnn();
  const std::string straight = ReadFile(Make(options, "straight").model->file);
  InterruptRequested() = true;
  EXPECT_THROW(Make(options), Interrupted);
  InterruptRequested() = false;
  const std::string checkpoint = Checkpoint("cache", "train_pixel_cnn") + "/pixel_cnn.npz";
  ASSERT_TRUE(std::filesystem::exists(std::filesystem::path(checkpoint).parent_path()));

  // the same training, stopped two steps later
  StopAfter stop(2);
  FitJob job = TestJob(checkpoint, &stop);
  job.name = "pixel_cnn";
  job.identity = CheckpointIdentity<TrainPixelCnnStage>({10, options.pixel_cnn, 3}, {train_, ""});
  ImageBatch images = train_.images, held_out = NoiseImages(0, 8, 3);
  const auto cut = 30 * images.image_size();
  held_out.count = images.count - 30;
  held_out.pixels.assign(images.pixels.begin() + cut, images.pixels.end());
  images.count = 30;
  images.pixels.resize(static_cast<std::size_t>(cut));
  EXPECT_THROW(TrainPixelCnn(images, held_out, options.pixel_cnn, 3, job), Interrupted);
  InterruptRequested() = false;
  EXPECT_EQ(straight, ReadFile(Make(options).model->file));
}

TEST_F(ImageGeneratorsTest, ACheckpointOfOtherOptionsIsRefused) {
  const auto check = [&]<class Stage>(Stage /*stage*/, auto options) {
    options.training.device = Device::kAuto;
    ExpectEveryFieldCounts(options, [&](const auto& changed, const FitRun& run) {
      std::filesystem::create_directories(run.folder + "/" + kCheckpointFolder);
      Stage::Make({10, changed, 3}, {train_, ""}, {.directory = run.folder});
    });
  };
  check(TrainPixelCnnStage(), TinyPixelCnn().pixel_cnn);
  check(TrainSnganStage(), TinySngan().sngan);
}

TEST_F(ImageGeneratorsTest, ACheckpointOfOtherImagesIsRefused) {
  const std::string folder = dir_ / "stage";
  std::filesystem::create_directories(folder + "/" + kCheckpointFolder);
  const auto train = [&](std::int64_t held_out) {
    TrainSnganStage::Make({held_out, TinySngan().sngan, 3}, {train_, ""}, {.directory = folder});
  };
  train(10);
  EXPECT_NO_THROW(train(10));
  EXPECT_THROW(train(11), DataError);
  train_.hash = "other";
  EXPECT_THROW(train(10), DataError);
}

TEST_F(ImageGeneratorsTest, SamplingGoesOnAfterTheBlocksThatAreThere) {
  GeneratorOptions options = TinySngan();
  options.count = 1100;
  const ImageBatch straight = Samples(Make(options, "straight"));
  options.count = 20;
  Make(options);
  options.count = 1100;
  InterruptRequested() = true;
  EXPECT_THROW(Make(options), Interrupted);
  InterruptRequested() = false;

  // a block of other images shows that it is not sampled again
  const ImageBatch block = NoiseImages(1000, 8, 3);
  WriteImages(block, Checkpoint("cache", "sample_sngan") + "/block_0.npz");
  const ImageBatch resumed = Samples(Make(options));
  ASSERT_EQ(resumed.count, 1100);
  const auto cut = 1000 * block.image_size();
  EXPECT_TRUE(std::equal(block.pixels.begin(), block.pixels.end(), resumed.pixels.begin()));
  EXPECT_TRUE(std::equal(straight.pixels.begin() + cut, straight.pixels.end(),
                         resumed.pixels.begin() + cut));
}

TEST_F(ImageGeneratorsTest, BaseDensityIsThatOfTheTrainedModel) {
  const GeneratorOptions options = TinyPixelCnn();
  const GeneratorOutput made = Make(options);
  StageCache stages(dir_ / "cache");
  RunDirectory directory(dir_ / "run");
  const std::vector<double> found =
      BaseLogDensity(options, *made.model, train_, 7, {stages, directory, Verbosity::kQuiet, ""});
  PixelCnn model(options.pixel_cnn, 3, 8, 8, Stream(9, "other weights"));
  model.Load(NpzFile::Read(made.model->file), "model");
  const std::vector<double> all = model.LogProbability(train_.images);
  ASSERT_EQ(found.size(), 7u);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], all[i], 1e-3);
}

TEST_F(ImageGeneratorsTest, WhatCannotBeMadeIsRefusedWithTheCure) {
  const auto refused = [&](const GeneratorOptions& options, const char* why) {
    EXPECT_THAT([&] { CheckGenerator(options, train_, 5); },
                ThrowsMessage<ConfigError>(HasSubstr(why)));
  };
  GeneratorOptions options = TinySngan();
  EXPECT_NO_THROW(CheckGenerator(options, train_, 5));
  options.count = 9;
  refused(options, "expected count >= 10 for 5 runs");
  options = TinySngan();
  options.held_out = 40;
  refused(options, "holds out 40 of 40 images");
  options = TinySngan();
  options.samples = {"a.npz"};
  refused(options, "expected none, or kind samples");
  options = TinySngan();
  options.name = "";
  refused(options, "expected a name");
  options = TinySngan();
  options.sngan.training.chunks = 100;
  refused(options, "sngan.training.chunks is 100");
  options = TinyPixelCnn();
  options.pixel_cnn.levels = 5;
  refused(options, "expected sides that 16 divides");
  options = {};
  options.name = "files";
  refused(options, "expected at least one file, or kind pixel_cnn or sngan");
}

TEST_F(ImageGeneratorsTest, FeaturesAloneTrainNothing) {
  NpzFile file;
  file.Put("features", NormalRows(30, 3, 1));
  file.Write(dir_ / "features.npz");
  train_ = ReadSamples({dir_ / "features.npz"});
  EXPECT_THAT([&] { CheckGenerator(TinyPixelCnn(), train_, 5); },
              ThrowsMessage<ConfigError>(AllOf(HasSubstr("real_train: features without images"),
                                               HasSubstr("kind samples"))));
}

}  // namespace
}  // namespace lfiw::experiments
