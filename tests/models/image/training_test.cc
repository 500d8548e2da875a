#include "models/image/training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"
#include "core/rng.h"
#include "core/run/progress.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Noisy gradients of |x - 1|^2 / 2.
class Quadratic : public TrainingProblem {
 public:
  explicit Quadratic(const ImageTrainingOptions& options) : adam_(3, options.adam) {}
  std::vector<std::string> FigureNames() const override { return {"loss", "held_out"}; }
  std::vector<double> Step(std::int64_t step) override {
    if (step == interrupt_at) InterruptRequested() = true;
    if (step == nan_at) return {std::numeric_limits<double>::quiet_NaN()};
    VectorF gradient(3);
    Stream(1, "noise", {static_cast<std::uint64_t>(step)})
        .FillNormal(std::span(gradient.data(), 3u));
    gradient = 0.1f * gradient + (x.array() - 1.0f).matrix();
    adam_.Step(gradient, x);
    return {Evaluate()[0]};
  }
  std::vector<double> Evaluate() override {
    return {0.5 * static_cast<double>((x.array() - 1.0f).square().sum())};
  }
  void Save(NpzFile& file) const override {
    file.Put("x", x);
    adam_.Save("adam", file);
  }
  void Load(const NpzFile& file) override {
    x = file.GetVector("x");
    adam_.Load(file, "adam");
  }

  VectorF x = VectorF::Zero(3);
  std::int64_t interrupt_at = -1;
  std::int64_t nan_at = -1;

 private:
  Adam adam_;
};

ImageTrainingOptions Short() {
  ImageTrainingOptions options;
  options.steps = 105;
  options.report_every = 20;
  options.adam.learning_rate = 0.05;
  return options;
}

FitJob Job(std::string identity, std::string checkpoint) {
  return {.name = "q", .identity = std::move(identity), .checkpoint = std::move(checkpoint)};
}

TEST(TrainTest, ReportsMeansOfStepsAndHeldOutFigures) {
  Quadratic problem(Short());
  const TrainingHistory history = Train(problem, Short(), Job("", ""));
  EXPECT_THAT(history.steps, ElementsAre(20, 40, 60, 80, 100, 105));
  EXPECT_EQ(history.values.size(), 12u);
  EXPECT_LT(history.Last(1), 0.05);
  EXPECT_GT(history.Value(0, 0), history.Value(5, 0));
}

TEST(TrainTest, ResumesToTheBytesOfAnUndisturbedRun) {
  Quadratic straight(Short()), disturbed(Short()), resumed(Short());
  const TrainingHistory expected = Train(straight, Short(), Job("1", ""));
  const FitJob job = Job("1", TestFile("resume.npz"));
  disturbed.interrupt_at = 50;
  EXPECT_THROW(Train(disturbed, Short(), job), Interrupted);
  InterruptRequested() = false;
  EXPECT_EQ(Train(resumed, Short(), job), expected);
  EXPECT_EQ(resumed.x, straight.x);
  // also the checkpoint of a finished run
  Quadratic again(Short());
  again.nan_at = 0;
  EXPECT_EQ(Train(again, Short(), job), expected);
  EXPECT_EQ(again.x, straight.x);
}

TEST(TrainTest, RejectsTheCheckpointOfAnotherTraining) {
  const std::string path = TestFile("other.npz");
  Quadratic problem(Short());
  Train(problem, Short(), Job("seed 1", path));
  EXPECT_THAT([&] { Train(problem, Short(), Job("seed 2", path)); },
              ThrowsMessage<DataError>(HasSubstr("seed 1")));
}

TEST(TrainTest, EveryOptionTellsCheckpointsApart) {
  const std::string path = TestFile("options.npz");
  Quadratic problem(Short());
  Train(problem, Short(), Job("1", path));
  ImageTrainingOptions options = Short();
  options.adam.beta2 = 0.5;
  EXPECT_THAT([&] { Train(problem, options, Job("1", path)); },
              ThrowsMessage<DataError>(HasSubstr("expected \"beta2\":0.5")));
}

TEST(TrainTest, ADamagedCheckpointIsRefusedWithTheCure) {
  const std::string path = TestFile("damaged.npz");
  Quadratic problem(Short());
  Train(problem, Short(), Job("1", path));
  NpzFile file = NpzFile::Read(path);
  file.Put("history.values", std::vector<double>{1.0});
  file.Write(path);
  EXPECT_THAT([&] { Train(problem, Short(), Job("1", path)); },
              ThrowsMessage<DataError>(HasSubstr("damaged checkpoint; remove it")));
}

TEST(TrainTest, AFigureThatIsNotFiniteNamesItselfAndTheStep) {
  Quadratic problem(Short());
  problem.nan_at = 7;
  EXPECT_THAT([&] { Train(problem, Short(), Job("", "")); },
              ThrowsMessage<NumericError>(HasSubstr("q: loss is nan at step 7")));
}

TEST(CheckOptionsTest, RefusesMoreChunksThanImagesAndAMissingDevice) {
  ImageTrainingOptions options;
  options.batch = 3;
  options.chunks = 4;
  EXPECT_THAT([&] { CheckOptions(options, "sngan.training"); },
              ThrowsMessage<ConfigError>(HasSubstr("sngan.training.chunks is 4")));
  if (ResolveDevice(Device::kAuto) == Device::kCuda) GTEST_SKIP() << "there is a CUDA device";
  options.chunks = 1;
  options.device = Device::kCuda;
  EXPECT_THAT([&] { CheckOptions(options, "sngan.training"); },
              ThrowsMessage<ConfigError>(HasSubstr("sees no CUDA device")));
}

}  // namespace
}  // namespace lfiw::models
