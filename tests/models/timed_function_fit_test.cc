#include "models/timed_function_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSteps = 5;

TimedFunctionOptions SmallOptions() {
  TimedFunctionOptions options;
  options.network.width = 32;
  options.fit = {.steps = 1500, .batch = 128, .validate_every = 250, .adam = {}};
  return options;
}

// 200 groups of one sample per step; state x ~ N(shift(t), 1).
template <class Shift, class Target>
StepSamples Draw(const Shift& shift, const Target& target, std::uint64_t seed) {
  constexpr std::int64_t kGroups = 400;
  StepSamples samples;
  samples.states.resize(kGroups * kSteps, 1);
  Stream stream(seed, "samples");
  for (std::int64_t g = 0; g < kGroups; ++g) {
    for (std::int64_t t = 0; t < kSteps; ++t) {
      const double x = shift(t) + stream.Normal();
      samples.states(g * kSteps + t, 0) = static_cast<float>(x);
      samples.steps.push_back(t);
      samples.targets.push_back(target(x, t, stream));
      samples.groups.push_back(g);
    }
  }
  return samples;
}

double At(const TimedFunction& function, double x, std::int64_t t) {
  std::vector<double> value(1);
  function.Predict(MatrixF::Constant(1, 1, static_cast<float>(x)), std::vector<std::int64_t>{t},
                   value);
  return value[0];
}

double NoShift(std::int64_t /*t*/) { return 0.0; }

StepSamples ValueSamples() {
  return Draw(
      NoShift,
      [](double x, std::int64_t t, Stream& stream) {
        return 100.0 * static_cast<double>(kSteps - t) * (1.0 + 0.1 * x) + stream.Normal();
      },
      1);
}

TEST(FitStepValue, LearnsTheMeanOfTargetsWhoseScaleGrowsWithTheStepsLeft) {
  const TimedFunctionFit fit = FitStepValue(ValueSamples(), kSteps, SmallOptions(), "value", 3);
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const double scale = 100.0 * static_cast<double>(kSteps - t);
    for (const double x : {-1.0, 0.0, 1.0}) {
      // a hundredth of the spread that the states cause, ten times over for the fit
      EXPECT_NEAR(At(fit.function, x, t), scale * (1.0 + 0.1 * x), 0.01 * scale) << x << " " << t;
    }
  }
  EXPECT_GT(*fit.summary.r2, 0.95);
}

TEST(FitStepValue, GivesAStepOfEqualTargetsExactlyThatValueAndAStepWithoutSamplesZero) {
  StepSamples samples = Draw(
      NoShift, [](double, std::int64_t t, Stream&) { return t == 1 ? 7.0 : 0.5; }, 2);
  for (std::int64_t& t : samples.steps) t = t == 2 ? 3 : t;
  const TimedFunctionFit fit = FitStepValue(samples, kSteps, SmallOptions(), "value", 3);
  EXPECT_EQ(At(fit.function, 0.3, 1), 7.0);
  EXPECT_EQ(At(fit.function, 0.3, 2), 0.0);
}

TEST(FitStepLogRatio, LearnsTheLogRatioOfTwoNormalsWhateverTheirNumbers) {
  // N(0.2 t, 1) labeled 1 against N(0, 1) labeled 0, the latter three times
  const auto label = [](double value) {
    return [value](double, std::int64_t, Stream&) { return value; };
  };
  StepSamples samples =
      Draw([](std::int64_t t) { return 0.2 * static_cast<double>(t); }, label(1.0), 4);
  for (const std::uint64_t seed : {5u, 6u, 7u}) samples.Append(Draw(NoShift, label(0.0), seed));
  const TimedFunctionFit fit = FitStepLogRatio(samples, kSteps, SmallOptions(), "ratio", 3);
  for (std::int64_t t = 0; t < kSteps; ++t) {
    const double d = 0.2 * static_cast<double>(t);
    // 400 samples per step and kind fix a log-ratio to about 0.1
    EXPECT_NEAR(At(fit.function, 0.5, t), 0.5 * d - 0.5 * d * d, 0.3) << t;
  }
  EXPECT_GT(*fit.summary.auc, 0.52);
  EXPECT_LT(*fit.summary.auc, 0.70);
}

TEST(FitStepLogRatio, CountsNeighboringStepsWhereOneHasFewSamples) {
  // the same states labeled 1 three times as often as 0, one 0 per step: a step whose 0 is held
  // out for validation has samples of one kind only
  constexpr std::int64_t kMany = 400, kPerStep = 4;
  StepSamples samples;
  samples.states.resize(kMany * kPerStep, 1);
  Stream stream(1, "samples");
  for (std::int64_t i = 0; i < kMany * kPerStep; ++i) {
    samples.states(i, 0) = static_cast<float>(stream.Normal());
    samples.steps.push_back(i / kPerStep);
    samples.targets.push_back(i % kPerStep == 0 ? 0.0 : 1.0);
    samples.groups.push_back(i);
  }
  const TimedFunctionFit fit = FitStepLogRatio(samples, kMany, SmallOptions(), "ratio", 3);
  // without counting neighbors a step's offset alone would be off by up to log 3
  for (const std::int64_t t : {0, 100, 200, 399}) {
    EXPECT_NEAR(At(fit.function, 0.0, t), 0.0, 0.5) << t;
  }
}

TEST(FitStepLogRatio, RefusesSamplesOfOneKind) {
  const StepSamples samples = Draw(
      NoShift, [](double, std::int64_t, Stream&) { return 1.0; }, 1);
  try {
    FitStepLogRatio(samples, kSteps, SmallOptions(), "ratio", 3);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ratio: "));
    EXPECT_THAT(error.what(), HasSubstr("and 0 of the other"));
  }
}

TEST(FitStepValue, RefusesASampleBeyondTheHorizon) {
  StepSamples samples = ValueSamples();
  samples.steps[7] = kSteps;
  EXPECT_THROW(FitStepValue(samples, kSteps, SmallOptions(), "value", 3), DataError);
}

TEST(FitStepValue, GivesTheSameBytesForAnyNumberOfThreads) {
  TimedFunctionOptions options = SmallOptions();
  options.fit.steps = 200;
  const auto value = [&](int threads) {
    SetThreads(threads);
    return At(FitStepValue(ValueSamples(), kSteps, options, "value", 3).function, 0.7, 2);
  };
  const double one = value(1);
  EXPECT_EQ(one, value(2));
  SetThreads(0);
}

}  // namespace
}  // namespace lfiw::models
