#include "models/image/dagan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "models/image/dagan_networks.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/gradient_check.h"
#include "tests/models/image/small_generators.h"
#include "tests/models/image/test_job.h"

namespace lfiw::models {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t kSide = 10;

DaganOptions TinyDagan() {
  DaganOptions options = SmallDaganOptions();
  options.widths = {3, 4, 5};
  options.noise_dim = 4;
  options.critic_steps = 2;
  options.average_decay = 0.5;
  options.diversity = 0.5;
  options.training.batch = 6;
  options.training.steps = 6;
  options.training.report_every = 2;
  options.training.device = Device::kCpu;
  return options;
}

std::vector<std::vector<std::int64_t>> Classes() {
  return {{0, 1, 2, 3}, {4, 5, 6, 7, 8}, {9, 10}};
}

DaganFit Fit(const DaganOptions& options, const FitJob& job = TestJob()) {
  return TrainDagan(ColorfulImages(11, kSide, 1), Classes(), options, 1, job);
}

void ExpectSameModel(const Dagan& a, const Dagan& b) {
  NpzFile left, right;
  a.Save("m", left);
  b.Save("m", right);
  for (const auto& [name, array] : left.arrays()) {
    EXPECT_EQ(array.bytes, right.arrays().at(name).bytes) << name;
  }
}

class DaganInnerTest : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Inner, DaganInnerTest, testing::Values(0, 2));

TEST_P(DaganInnerTest, GeneratorGradientsMatchFiniteDifferences) {
  DaganOptions options = TinyDagan();
  options.generator_inner = GetParam();
  NetworkLayout layout;
  const DaganGenerator generator(layout, options, 1, kSide);
  const at::Tensor noise = NormalTensor({3, 4}, 2);
  ExpectNetworkGradientsMatch(
      layout, NormalTensor({3, 1, kSide, kSide}, 1),
      [&](Pass& pass, const at::Tensor& x) {
        const at::Tensor y = generator(pass, x, noise);
        EXPECT_EQ(y.sizes(), x.sizes());
        return y;
      },
      1e-4);
}

TEST_P(DaganInnerTest, CriticGradientsMatchFiniteDifferences) {
  DaganOptions options = TinyDagan();
  options.critic_inner = GetParam();
  NetworkLayout layout;
  const DaganCritic critic(layout, options, 1, kSide);
  const at::Tensor conditions = NormalTensor({3, 1, kSide, kSide}, 2);
  ExpectNetworkGradientsMatch(
      layout, NormalTensor({3, 1, kSide, kSide}, 1),
      [&](Pass& pass, const at::Tensor& x) {
        const at::Tensor y = critic(pass, conditions, x);
        EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{3, 1}));
        return y;
      },
      1e-4);
}

// A critic with random double parameters, and images.
struct PenaltyCase {
  PenaltyCase() : critic(layout, TinyDagan(), 1, kSide) {
    VectorF flat = layout.parameters.Draw(Stream(1, "c"));
    for (const at::Tensor& view : layout.parameters.Views(flat.data())) {
      parameters.push_back(view.to(at::kDouble) + 0.2 * NormalTensor(view.sizes().vec(), 3));
    }
  }
  Pass MakePass(const std::vector<at::Tensor>& given) const {
    Pass pass;
    pass.parameters = given;
    pass.mode = PassMode::kTraining;
    pass.noise = Stream(1, "dropout");
    return pass;
  }
  NetworkLayout layout;
  DaganCritic critic;
  std::vector<at::Tensor> parameters;
  at::Tensor conditions = NormalTensor({2, 1, kSide, kSide}, 1);
  at::Tensor images = NormalTensor({2, 1, kSide, kSide}, 2);
};

TEST(GradientPenaltyTest, EqualsItsFormulaByFiniteDifferencesOfTheCritic) {
  PenaltyCase c;
  Pass pass = c.MakePass(c.parameters);
  const double penalty = GradientPenalty(c.critic, pass, c.conditions, c.images).item<double>();
  const at::NoGradGuard no_grad;
  double expected = 0.0;
  for (std::int64_t image = 0; image < 2; ++image) {
    double square = 0.0;
    for (std::int64_t place = 0; place < kSide * kSide; ++place) {
      const auto score = [&](double change) {
        at::Tensor moved = c.images.clone();
        moved[image][0][place / kSide][place % kSide] += change;
        Pass fresh = c.MakePass(c.parameters);
        return c.critic(fresh, c.conditions, moved)[image].item<double>();
      };
      const double slope = (score(1e-5) - score(-1e-5)) / 2e-5;
      square += slope * slope;
    }
    expected += std::pow(std::sqrt(square) - 1.0, 2) / 2.0;
  }
  EXPECT_NEAR(penalty, expected, 1e-6 * std::max(1.0, expected));
}

TEST(GradientPenaltyTest, ItsGradientByTheParametersMatchesFiniteDifferences) {
  PenaltyCase c;
  ExpectGradientsMatch(
      [&](const std::vector<at::Tensor>& given) {
        const at::AutoGradMode grad(true);
        Pass pass = c.MakePass(given);
        return GradientPenalty(c.critic, pass, c.conditions, c.images);
      },
      c.parameters, 1e-4, 3);
}

TEST(DaganTest, TrainingAndGenerationGiveTheSameBytesForOneAndTwoThreads) {
  SetThreads(1);
  const DaganFit one = Fit(TinyDagan());
  SetThreads(2);
  const DaganFit two = Fit(TinyDagan());
  const ImageBatch images = ColorfulImages(11, kSide, 1);
  const std::vector<std::int64_t> conditions(120, 3);
  const ImageBatch parallel = two.model.Generate(images, conditions, Stream(2, "z"), 0);
  SetThreads(1);
  const ImageBatch serial = one.model.Generate(images, conditions, Stream(2, "z"), 0);
  SetThreads(0);
  ExpectSameModel(one.model, two.model);
  EXPECT_EQ(one.history, two.history);
  EXPECT_EQ(serial.pixels, parallel.pixels);
  EXPECT_FALSE(std::ranges::equal(serial.Image(0), serial.Image(1)));
}

TEST(DaganTest, AResumedTrainingGivesTheBytesOfAnUndisturbedOne) {
  const DaganFit straight = Fit(TinyDagan());
  StopAfter stop(3);
  const std::string checkpoint = TestFile("dagan.npz");
  EXPECT_THROW(Fit(TinyDagan(), TestJob(checkpoint, &stop)), Interrupted);
  InterruptRequested() = false;
  const DaganFit resumed = Fit(TinyDagan(), TestJob(checkpoint));
  ExpectSameModel(straight.model, resumed.model);
  EXPECT_EQ(straight.history, resumed.history);
}

// Two classes, black and white: the generator learns to keep the class of its condition.
TEST(DaganTest, LearnsToKeepTheBrightnessOfItsCondition) {
  ImageBatch images = EmptyImages(8, kSide, kSide, 1);
  std::fill(images.pixels.begin() + 4 * images.image_size(), images.pixels.end(), 255);
  DaganOptions options = TinyDagan();
  options.dropout = 0.0;
  options.training.steps = 150;
  options.training.batch = 8;
  options.training.adam.learning_rate = 3e-3;
  const DaganFit fit = TrainDagan(images, {{0, 1, 2, 3}, {4, 5, 6, 7}}, options, 1, TestJob());
  const std::vector<std::int64_t> conditions = {0, 1, 2, 3, 4, 5, 6, 7};
  const ImageBatch generated = fit.model.Generate(images, conditions, Stream(2, "z"), 0);
  double dark = 0.0, bright = 0.0;
  for (std::int64_t i = 0; i < 8; ++i) {
    for (const std::uint8_t pixel : generated.Image(i)) (i < 4 ? dark : bright) += pixel;
  }
  const double count = 4.0 * kSide * kSide;
  EXPECT_GT(bright / count, dark / count + 80.0);
}

TEST(DaganTest, TheTermForDiversityLetsNoiseMoveTheDrawings) {
  const auto spread = [](double weight) {
    DaganOptions options = TinyDagan();
    options.diversity = weight;
    options.dropout = 0.0;
    options.training.steps = 60;
    options.training.adam.learning_rate = 3e-3;
    const DaganFit fit = Fit(options);
    const ImageBatch images = ColorfulImages(11, kSide, 1);
    const std::vector<std::int64_t> conditions(20, 3);  // of one drawing
    const ImageBatch made = fit.model.Generate(images, conditions, Stream(2, "z"), 0);
    double sum = 0.0;
    for (std::int64_t i = 1; i < made.count; ++i) {
      for (std::int64_t p = 0; p < made.image_size(); ++p) {
        const auto place = static_cast<std::size_t>(p);
        sum += std::abs(static_cast<double>(made.Image(i)[place]) -
                        static_cast<double>(made.Image(0)[place]));
      }
    }
    return sum;
  };
  EXPECT_GT(spread(5.0), 1.5 * spread(0.0));
}

TEST(DaganTest, AWatchSeesTheModelAtEveryEntryOfTheHistoryAndChangesNothing) {
  std::vector<std::int64_t> seen;
  const DaganFit fit = TrainDagan(
      ColorfulImages(11, kSide, 1), Classes(), TinyDagan(), 1, TestJob(),
      [&seen](std::int64_t steps, const Dagan& model) {
        const std::vector<std::int64_t> conditions = {0, 4};
        EXPECT_EQ(
            model.Generate(ColorfulImages(11, kSide, 1), conditions, Stream(1, "watch"), 0).count,
            2);
        seen.push_back(steps);
      });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{2, 4, 6}));
  ExpectSameModel(fit.model, Fit(TinyDagan()).model);
}

TEST(DaganTest, WrongOptionsAndSetsAreRefusedInOneLine) {
  DaganOptions options = TinyDagan();
  EXPECT_THAT([&] { Dagan(options, 1, 2, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("side 2 cannot be halved 3 times")));
  options.widths = {4};
  EXPECT_THAT([&] { Dagan(options, 1, 8, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("at least 2")));
  EXPECT_THAT(
      [] {
        TrainDagan(ColorfulImages(3, kSide, 1), {{0, 1}, {2}}, TinyDagan(), 1, TestJob());
      },
      ThrowsMessage<DataError>(HasSubstr("class 1 has 1 images")));
}

}  // namespace
}  // namespace lfiw::models
