#include "models/image/conv_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "core/error.h"
#include "core/parallel.h"
#include "models/image/conv_trunk.h"
#include "tests/core/test_dir.h"
#include "tests/models/image/gradient_check.h"
#include "tests/models/image/test_job.h"

namespace lfiw::models {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

ConvClassifierOptions Tiny() {
  ConvClassifierOptions options;
  options.filters = 4;
  options.blocks = 2;
  options.training.steps = 20;
  options.training.batch = 8;
  options.training.report_every = 10;
  options.training.device = Device::kCpu;
  options.training.adam.learning_rate = 1e-2;
  return options;
}

// Noisy images 8 x 8: the upper half is bright for label 1, the lower for label 0.
struct Halves {
  explicit Halves(std::int64_t count) : images(EmptyImages(count, 8, 8, 1)) {
    Stream stream(1, "halves");
    for (std::int64_t i = 0; i < count; ++i) {
      set.rows.push_back(i);
      set.labels.push_back(i % 2);
      for (std::int64_t p = 0; p < 64; ++p) {
        const bool bright = (p < 32) == (i % 2 == 1);
        images.pixels[static_cast<std::size_t>(i * 64 + p)] =
            static_cast<std::uint8_t>((bright ? 100 : 60) + stream.Below(60));
      }
    }
    set.images = &images;
  }
  ImageBatch images;
  LabeledImages set;
};

MatrixF LogitsOf(const ConvClassifierFit& fit, const ImageBatch& images) {
  return fit.model.Logits(images);
}

TEST(ConvTrunkTest, GradientsMatchFiniteDifferences) {
  NetworkLayout layout;
  const ConvTrunk trunk(
      layout, {.channels = 2, .height = 9, .width = 8, .filters = 3, .blocks = 3, .outputs = 5});
  ExpectNetworkGradientsMatch(
      layout, NormalTensor({4, 2, 9, 8}, 1),
      [&](Pass& pass, const at::Tensor& x) {
        const at::Tensor y = trunk(pass, x);
        EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{4, 5}));
        return y;
      },
      1e-4);
}

TEST(ConvClassifierTest, LearnsATwoClassToyWithOneOutputAndWithTwo) {
  const Halves train(60), held_out(40);
  for (const std::int64_t outputs : {1, 2}) {
    ConvClassifierOptions options = Tiny();
    options.training.steps = 100;
    const ConvClassifierFit fit =
        TrainConvClassifier({train.set}, held_out.set, outputs, options, 1, TestJob());
    EXPECT_LT(fit.history.Last(0), fit.history.Value(0, 0));
    EXPECT_GT(fit.history.Last(2), 0.95) << outputs;
    EXPECT_EQ(fit.model.Logits(held_out.images).cols(), outputs);
  }
}

TEST(ConvClassifierTest, UniformWeightsEqualNoWeights) {
  const Halves train(30);
  LabeledImages weighted = train.set;
  weighted.weights.assign(30, 2.0);
  const auto fit = [&](const LabeledImages& set) {
    return LogitsOf(TrainConvClassifier({set}, {}, 1, Tiny(), 1, TestJob()), train.images);
  };
  EXPECT_EQ(fit(weighted), fit(train.set));
}

// Half of a second set is wrong; weights that say which make the classifier right.
TEST(ConvClassifierTest, WeightsRemoveTheHarmOfWrongLabels) {
  const Halves generated(200), held_out(100);
  LabeledImages wrong = generated.set;
  for (std::size_t i = 0; i < wrong.labels.size(); ++i) {
    const bool flipped = i % 4 < 2;
    if (flipped) wrong.labels[i] = 1 - wrong.labels[i];
    wrong.weights.push_back(flipped ? 0.0 : 1.0);
  }
  LabeledImages unweighted = wrong;
  unweighted.weights.clear();
  ConvClassifierOptions options = Tiny();
  options.training.steps = 80;
  const auto accuracy = [&](const LabeledImages& set) {
    return TrainConvClassifier({set}, held_out.set, 2, options, 1, TestJob()).history.Last(2);
  };
  EXPECT_GT(accuracy(wrong), 0.95);
  EXPECT_LT(accuracy(unweighted), 0.9);
}

TEST(ConvClassifierTest, SharesWeighSetsAgainstEachOther) {
  const Halves first(20), second(20);
  LabeledImages ignored = second.set;
  for (std::int64_t& label : ignored.labels) label = 1 - label;
  ignored.share = 0.0;
  ConvClassifierOptions options = Tiny();
  options.training.steps = 80;
  const ConvClassifierFit fit =
      TrainConvClassifier({first.set, ignored}, first.set, 2, options, 1, TestJob());
  EXPECT_GT(fit.history.Last(2), 0.95);
}

TEST(ConvClassifierTest, KeepsTheParametersOfTheBestEntry) {
  const Halves train(20), held_out(20);
  ConvClassifierOptions options = Tiny();
  options.training.steps = 60;
  const ConvClassifierFit fit =
      TrainConvClassifier({train.set}, held_out.set, 1, options, 1, TestJob());
  double lowest = std::numeric_limits<double>::infinity();
  std::int64_t best = 0;
  for (std::int64_t e = 0; e < std::ssize(fit.history.steps); ++e) {
    if (fit.history.Value(e, 1) < lowest) {
      lowest = fit.history.Value(e, 1);
      best = fit.history.steps[static_cast<std::size_t>(e)];
    }
  }
  EXPECT_EQ(fit.kept_step, best);
}

TEST(ConvClassifierTest, NoiseThatHidesTheClassesLeavesNoOdds) {
  const Halves train(60);
  ConvClassifierOptions options = Tiny();
  options.training.steps = 100;
  const auto largest = [&](double noise) {
    options.input_noise = noise;
    const ConvClassifierFit fit =
        TrainConvClassifier({train.set}, train.set, 1, options, 1, TestJob());
    return fit.model.SmoothedLogits(train.images, 20, Stream(1, "noise")).cwiseAbs().maxCoeff();
  };
  EXPECT_GT(largest(0.0), 2.0f);
  EXPECT_LT(largest(30.0), 1.0f);
}

TEST(ConvClassifierTest, SmoothedLogitsWithoutNoiseAreTheLogits) {
  const Halves train(30);
  const ConvClassifierFit fit =
      TrainConvClassifier({train.set}, train.set, 1, Tiny(), 1, TestJob());
  EXPECT_EQ(fit.model.SmoothedLogits(train.images, 1, Stream(1, "noise")),
            fit.model.Logits(train.images));
}

TEST(ConvClassifierTest, SameBytesForOneAndTwoThreadsAndWhenResumed) {
  const Halves train(30);
  ConvClassifierOptions options = Tiny();
  options.input_noise = 0.5;
  const auto fit = [&](const FitJob& job) {
    return TrainConvClassifier({train.set}, train.set, 1, options, 1, job)
        .model.SmoothedLogits(train.images, 3, Stream(1, "noise"));
  };
  SetThreads(1);
  const MatrixF one = fit(TestJob());
  SetThreads(2);
  EXPECT_EQ(fit(TestJob()), one);
  SetThreads(0);
  StopAfter stop(13);
  const std::string checkpoint = TestFile("classifier.npz");
  EXPECT_THROW(fit(TestJob(checkpoint, &stop)), Interrupted);
  InterruptRequested() = false;
  EXPECT_EQ(fit(TestJob(checkpoint)), one);
}

TEST(ConvClassifierTest, WrongSetsAreRefusedInOneLine) {
  const Halves train(4);
  const auto refuse = [&](const LabeledImages& set) {
    TrainConvClassifier({set}, {}, 2, Tiny(), 1, TestJob());
  };
  LabeledImages set = train.set;
  set.labels[1] = 2;
  EXPECT_THAT([&] { refuse(set); },
              ThrowsMessage<DataError>(HasSubstr("label 1 of training set 0 is 2")));
  set = train.set;
  set.weights = {1.0, -1.0, 1.0, 1.0};
  EXPECT_THAT([&] { refuse(set); }, ThrowsMessage<DataError>(HasSubstr("weight 1")));
  set.weights = {0.0, 0.0, 0.0, 0.0};
  EXPECT_THAT([&] { refuse(set); }, ThrowsMessage<DataError>(HasSubstr("all weights")));
  set.weights = {1.0};
  EXPECT_THAT([&] { refuse(set); }, ThrowsMessage<DataError>(HasSubstr("1 weights")));
  ConvClassifierOptions options = Tiny();
  options.blocks = 4;
  EXPECT_THAT([&] { ConvClassifier(options, 1, 1, 8, 8, Stream(1, "w")); },
              ThrowsMessage<ConfigError>(HasSubstr("cannot be halved 4 times")));
}

}  // namespace
}  // namespace lfiw::models
