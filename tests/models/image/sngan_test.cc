#include "models/image/sngan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "core/config/config.h"
#include "core/error.h"
#include "core/parallel.h"
#include "core/run/progress.h"
#include "models/image/sngan_networks.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/gradient_check.h"
#include "tests/models/image/small_generators.h"
#include "tests/models/image/test_job.h"

namespace lfiw::models {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SnganOptions Tiny(SnganArchitecture architecture) {
  SnganOptions options = SmallSnganOptions();
  options.architecture = architecture;
  options.noise_dim = 8;
  options.generator_width = options.discriminator_width = 4;
  options.generator_batch = 8;
  options.average_decay = 0.5;
  options.training.batch = 8;
  options.training.steps = 6;
  options.training.report_every = 2;
  options.training.device = Device::kCpu;
  return options;
}

NpzFile Saved(const Sngan& model) {
  NpzFile file;
  model.Save("m", file);
  return file;
}

void ExpectSameModel(const Sngan& a, const Sngan& b) {
  const NpzFile left = Saved(a), right = Saved(b);
  for (const auto& [name, array] : left.arrays()) {
    EXPECT_EQ(array.bytes, right.arrays().at(name).bytes) << name;
  }
}

SnganFit Fit(const SnganOptions& options, const FitJob& job = TestJob()) {
  return TrainSngan(ColorfulImages(40, 16, 3), options, 1, job);
}

class SnganTest : public testing::TestWithParam<SnganArchitecture> {};
INSTANTIATE_TEST_SUITE_P(Architectures, SnganTest,
                         testing::Values(SnganArchitecture::kResnet, SnganArchitecture::kStandard),
                         [](const auto& test) { return std::string(EnumName(test.param)); });

TEST_P(SnganTest, GeneratorGradientsMatchFiniteDifferences) {
  NetworkLayout layout;
  const auto generator = MakeSnganGenerator(Tiny(GetParam()), {3, 8}, layout);
  ExpectNetworkGradientsMatch(
      layout, NormalTensor({4, 8}, 1),
      [&](Pass& pass, const at::Tensor& z) {
        const at::Tensor images = (*generator)(pass, z);
        EXPECT_EQ(images.sizes(), (std::vector<std::int64_t>{4, 3, 8, 8}));
        return images;
      },
      1e-4);
}

TEST_P(SnganTest, DiscriminatorGradientsMatchFiniteDifferencesAtConvergedNorms) {
  Network network;
  const auto discriminator = MakeSnganDiscriminator(Tiny(GetParam()), {3, 8}, network.layout);
  network.Draw(Stream(1, "d"));
  std::vector<at::Tensor> parameters, state;
  for (const at::Tensor& view : network.layout.parameters.Views(network.parameters.data())) {
    parameters.push_back(view.to(at::kDouble) + 0.3 * NormalTensor(view.sizes().vec(), 2));
  }
  for (const at::Tensor& view : network.layout.state.Views(network.state.data())) {
    state.push_back(view.to(at::kDouble));
  }
  for (int i = 0; i < 3000; ++i) discriminator->Iterate(parameters, state);
  parameters.insert(parameters.begin(), NormalTensor({2, 3, 8, 8}, 1));
  ExpectGradientsMatch(
      [&](const std::vector<at::Tensor>& given) {
        Pass pass;
        pass.parameters.assign(given.begin() + 1, given.end());
        pass.state = state;
        return (*discriminator)(pass, given[0]);
      },
      parameters, 1e-4);
}

TEST_P(SnganTest, TrainingGivesTheSameBytesForOneAndTwoThreads) {
  const SnganOptions options = Tiny(GetParam());
  SetThreads(1);
  const SnganFit one = Fit(options);
  SetThreads(2);
  const SnganFit two = Fit(options);
  SetThreads(0);
  ExpectSameModel(one.model, two.model);
  EXPECT_EQ(one.history, two.history);
  EXPECT_EQ(one.model.Sample(Stream(2, "z"), 0, 120).pixels,
            two.model.Sample(Stream(2, "z"), 0, 120).pixels);
}

TEST_P(SnganTest, AResumedTrainingGivesTheBytesOfAnUndisturbedOne) {
  const SnganOptions options = Tiny(GetParam());
  const SnganFit straight = Fit(options);
  const std::string checkpoint = TestFile("sngan.npz");
  StopAfter stop(3);
  EXPECT_THROW(Fit(options, TestJob(checkpoint, &stop)), Interrupted);
  InterruptRequested() = false;
  const SnganFit resumed = Fit(options, TestJob(checkpoint));
  std::filesystem::remove(checkpoint);
  ExpectSameModel(straight.model, resumed.model);
  EXPECT_EQ(straight.history, resumed.history);
}

TEST(SnganTest, ImageIOfASequenceIsTheSameInEveryPiece) {
  const Sngan model(Tiny(SnganArchitecture::kStandard), 3, 16, Stream(1, "w"));
  const ImageBatch all = model.Sample(Stream(2, "z"), 0, 20),
                   tail = model.Sample(Stream(2, "z"), 5, 15);
  const std::span pixels(all.pixels);
  EXPECT_THAT(tail.pixels, testing::ElementsAreArray(pixels.subspan(5 * 16 * 16 * 3)));
}

TEST(SnganTest, LoadingRestoresTheSamplesAndRefusesOtherSizes) {
  const SnganOptions options = Tiny(SnganArchitecture::kStandard);
  const Sngan model(options, 3, 16, Stream(1, "w"));
  Sngan loaded(options, 3, 16, Stream(2, "w")), other(options, 1, 16, Stream(2, "w"));
  loaded.Load(Saved(model), "m");
  EXPECT_EQ(model.Sample(Stream(2, "z"), 0, 3).pixels, loaded.Sample(Stream(2, "z"), 0, 3).pixels);
  EXPECT_THROW(other.Load(Saved(model), "m"), DataError);
}

// The mean color of generated images moves from gray to that of the training set.
TEST(SnganTest, LearnsTheColorOfAToySet) {
  ImageBatch images = EmptyImages(50, 16, 16, 3);
  for (std::size_t i = 0; i < images.pixels.size(); ++i) images.pixels[i] = i % 3 == 0 ? 220 : 60;
  SnganOptions options = Tiny(SnganArchitecture::kStandard);
  options.training.steps = 150;
  options.training.report_every = 50;
  options.training.adam.learning_rate = 2e-3;
  const SnganFit fit = TrainSngan(images, options, 1, TestJob());
  const ImageBatch samples = fit.model.Sample(Stream(2, "z"), 0, 20);
  double red = 0.0, other = 0.0;
  for (std::size_t i = 0; i < samples.pixels.size(); ++i) {
    (i % 3 == 0 ? red : other) += static_cast<double>(samples.pixels[i]);
  }
  const auto count = static_cast<double>(20 * 16 * 16);
  EXPECT_GT(red / count, 160.0);
  EXPECT_LT(other / (2.0 * count), 110.0);
}

// Far from the last step, moments of batch norm that were not its own would drive it out of range.
TEST(SnganTest, TheAveragedGeneratorDrawsLikeTheTrainedOne) {
  SnganOptions options = Tiny(SnganArchitecture::kStandard);
  options.training.steps = 40;
  options.average_decay = 0.0;
  const ImageBatch last = Fit(options).model.Sample(Stream(2, "z"), 0, 50);
  options.average_decay = 0.9;
  const ImageBatch averaged = Fit(options).model.Sample(Stream(2, "z"), 0, 50);
  EXPECT_NE(last.pixels, averaged.pixels);
  const auto mean = [](const ImageBatch& images) {
    return std::accumulate(images.pixels.begin(), images.pixels.end(), 0.0) /
           static_cast<double>(images.pixels.size());
  };
  EXPECT_NEAR(mean(averaged), mean(last), 20.0);
}

TEST(SnganTest, OddSidesAreRefusedInOneLine) {
  EXPECT_THAT([] { Sngan(SnganOptions{}, 3, 28, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("28 x 28")));
}

TEST(SnganTest, OptionsSurviveTheirText) {
  const std::string text = DumpConfig(SmallSnganOptions());
  EXPECT_THAT(text, HasSubstr("architecture: standard"));
}

}  // namespace
}  // namespace lfiw::models
