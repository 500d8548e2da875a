#include "models/image/pixel_cnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/error.h"
#include "core/parallel.h"
#include "core/run/progress.h"
#include "models/image/logistic_mixture.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/gradient_check.h"
#include "tests/models/image/small_generators.h"
#include "tests/models/image/test_job.h"

namespace lfiw::models {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

PixelCnnOptions Tiny() {
  PixelCnnOptions options = SmallPixelCnnOptions();
  options.filters = 4;
  options.components = 2;
  options.dropout = 0.2;
  options.initial_batch = 8;
  options.training.batch = 4;
  options.training.steps = 6;
  options.training.report_every = 2;
  options.training.device = Device::kCpu;
  return options;
}

PixelCnnFit Fit(const PixelCnnOptions& options, const FitJob& job = TestJob()) {
  return TrainPixelCnn(ColorfulImages(30, 8, 3), ColorfulImages(5, 8, 3), options, 1, job);
}

VectorF Parameters(const PixelCnn& model) {
  NpzFile file;
  model.Save("m", file);
  return file.GetVector("m.parameters");
}

// One pixel after another, with a pass over whole images for each.
ImageBatch SampleNaively(const PixelCnn& model, const Stream& stream, std::int64_t image) {
  const LogisticMixture mixture{3, Tiny().components};
  ImageBatch images = EmptyImages(1, 8, 8, 3);
  Stream own = stream.Child(static_cast<std::uint64_t>(image));
  for (std::int64_t place = 0; place < 64; ++place) {
    const MatrixF rows = model.PixelDistributions(images, 0);
    mixture.Sample({rows.row(place).data(), static_cast<std::size_t>(rows.cols())}, own,
                   std::span(images.pixels).subspan(static_cast<std::size_t>(place * 3), 3));
  }
  return images;
}

TEST(PixelCnnTest, SamplingWithKeptValuesEqualsTheNaiveSampler) {
  const PixelCnn model = Fit(Tiny()).model;
  const Stream stream(4, "samples");
  const ImageBatch images = model.Sample(stream, 0, 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_THAT(SampleNaively(model, stream, i).pixels, testing::ElementsAreArray(images.Image(i)));
  }
  EXPECT_THAT(model.Sample(stream, 2, 1).pixels, testing::ElementsAreArray(images.Image(2)));
}

TEST(PixelCnnTest, LogProbabilityIsTheSumOverPixelsOfTheirDistributions) {
  const PixelCnn model = Fit(Tiny()).model;
  const ImageBatch images = ColorfulImages(3, 8, 3);
  const MatrixF rows = model.PixelDistributions(images, 2);
  const LogisticMixture mixture{3, Tiny().components};
  double sum = 0.0;
  for (std::int64_t place = 0; place < 64; ++place) {
    const at::Tensor parameters =
        at::from_blob(const_cast<float*>(rows.row(place).data()), {1, rows.cols(), 1, 1});
    at::Tensor x = at::empty({1, 3, 1, 1});
    for (std::int64_t c = 0; c < 3; ++c) {
      x[0][c] =
          static_cast<float>(images.Image(2)[static_cast<std::size_t>(place * 3 + c)]) / 127.5f -
          1.0f;
    }
    sum += mixture.LogProbability(parameters, x).item<double>();
  }
  EXPECT_NEAR(model.LogProbability(images)[2], sum, 1e-4 * std::abs(sum));
  double mean = 0.0;
  for (const double nats : model.LogProbability(images)) mean -= nats / 3.0;
  EXPECT_NEAR(model.BitsPerDimension(images), mean / (192.0 * std::numbers::ln2), 1e-9);
}

TEST(PixelCnnTest, TrainingAndSamplingGiveTheSameBytesForOneAndTwoThreads) {
  SetThreads(1);
  const PixelCnnFit one = Fit(Tiny());
  const ImageBatch serial = one.model.Sample(Stream(2, "s"), 0, 60);
  SetThreads(2);
  const PixelCnnFit two = Fit(Tiny());
  const ImageBatch parallel = two.model.Sample(Stream(2, "s"), 0, 60);
  SetThreads(0);
  EXPECT_EQ(Parameters(one.model), Parameters(two.model));
  EXPECT_EQ(one.history, two.history);
  EXPECT_EQ(serial.pixels, parallel.pixels);
}

TEST(PixelCnnTest, AResumedTrainingGivesTheBytesOfAnUndisturbedOne) {
  const PixelCnnFit straight = Fit(Tiny());
  StopAfter stop(3);
  const std::string checkpoint = TestFile("pixel_cnn.npz");
  EXPECT_THROW(Fit(Tiny(), TestJob(checkpoint, &stop)), Interrupted);
  InterruptRequested() = false;
  const PixelCnnFit resumed = Fit(Tiny(), TestJob(checkpoint));
  EXPECT_EQ(Parameters(straight.model), Parameters(resumed.model));
  EXPECT_EQ(straight.history, resumed.history);
}

TEST(PixelCnnTest, LearnsAToySet) {
  PixelCnnOptions options = Tiny();
  options.dropout = 0.0;
  options.training.steps = 60;
  options.training.report_every = 20;
  options.training.batch = 8;
  options.training.adam.learning_rate = 1e-2;
  const PixelCnnFit fit = Fit(options);
  EXPECT_LT(fit.history.Last(0), fit.history.Value(0, 0) - 0.5);
  EXPECT_LT(fit.history.Last(1), fit.history.Value(0, 1) - 0.3);
  EXPECT_LT(fit.history.Last(1), 8.0);
}

TEST(PixelCnnTest, GrayImagesAndOneLevelWork) {
  PixelCnnOptions options = Tiny();
  options.levels = 1;
  const PixelCnn model(options, 1, 7, 5, Stream(1, "w"));
  EXPECT_EQ(model.Sample(Stream(2, "s"), 0, 2).pixels.size(), 70u);
}

TEST(PixelCnnTest, WrongSizesAreRefusedInOneLine) {
  EXPECT_THAT([] { PixelCnn(Tiny(), 3, 10, 8, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("10 x 8, expected sides that 4 divides")));
  EXPECT_THAT([] { PixelCnn(Tiny(), 2, 8, 8, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("2 channels")));
  const PixelCnn model(Tiny(), 3, 8, 8, Stream(1, "w"));
  EXPECT_THROW(model.LogProbability(ColorfulImages(1, 16, 3)), DataError);
}

}  // namespace
}  // namespace lfiw::models
