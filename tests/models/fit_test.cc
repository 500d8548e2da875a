#include "models/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <string>

#include "core/error.h"
#include "core/rng.h"
#include "tests/core/test_dir.h"

namespace lfiw::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Noisy gradients of |x - 1|^2 / 2; the noise follows from the step alone. Validation may be set to
// prefer another point than training does.
class Quadratic : public FitProblem {
 public:
  VectorF& parameters() override { return parameters_; }
  double LossGradient(std::int64_t step, VectorF& gradient) override {
    if (step == interrupt_at) InterruptRequested() = true;
    if (step == nan_at) return std::numeric_limits<double>::quiet_NaN();
    VectorF noise(3);
    Stream(1, "noise", {static_cast<std::uint64_t>(step)}).FillNormal(std::span(noise.data(), 3u));
    gradient = parameters_.array() - 1.0f;
    gradient += 0.1f * noise;
    return 0.5 * static_cast<double>((parameters_.array() - 1.0f).square().sum());
  }
  double ValidationLoss() override {
    return 0.5 * static_cast<double>((parameters_.array() - validation_optimum).square().sum());
  }

  std::int64_t interrupt_at = -1;
  std::int64_t nan_at = -1;
  float validation_optimum = 1.0f;

 private:
  VectorF parameters_ = VectorF::Zero(3);
};

FitOptions Small() {
  FitOptions options;
  options.steps = 105;
  options.validate_every = 20;
  options.adam.learning_rate = 0.05;
  return options;
}

TEST(Fit, ValidatesEveryKStepsAndAtTheEnd) {
  Quadratic problem;
  const FitSummary summary = Fit(problem, Small(), {.name = "q", .identity = {}, .checkpoint = {}});
  EXPECT_THAT(summary.history.steps, ElementsAre(20, 40, 60, 80, 100, 105));
  EXPECT_EQ(summary.history.train_loss.size(), 6u);
  EXPECT_NEAR(summary.history.train_loss[0], 1.0, 0.5);
  EXPECT_LT(problem.ValidationLoss(), 0.02);
}

TEST(Fit, KeepsTheParametersOfTheBestValidation) {
  Quadratic problem;
  problem.validation_optimum = 0.5f;  // passed on the way to 1
  const FitSummary summary = Fit(problem, Small(), {.name = "q", .identity = {}, .checkpoint = {}});
  EXPECT_LT(summary.best_step, 105);
  EXPECT_DOUBLE_EQ(problem.ValidationLoss(), summary.best_validation_loss);
  EXPECT_EQ(summary.best_validation_loss, *std::min_element(summary.history.validation_loss.begin(),
                                                            summary.history.validation_loss.end()));
}

TEST(Fit, ResumesToTheBytesOfAnUndisturbedFit) {
  Quadratic straight, resumed;
  const FitSummary expected =
      Fit(straight, Small(), {.name = "q", .identity = "1", .checkpoint = {}});
  const FitJob job{.name = "q", .identity = "1", .checkpoint = TestFile("resume.npz")};
  resumed.interrupt_at = 50;
  EXPECT_THROW(Fit(resumed, Small(), job), Interrupted);
  InterruptRequested() = false;
  Quadratic again;
  const FitSummary summary = Fit(again, Small(), job);
  EXPECT_EQ(again.parameters(), straight.parameters());
  EXPECT_EQ(summary.history, expected.history);
  EXPECT_EQ(summary.best_step, expected.best_step);
}

TEST(Fit, AFinishedCheckpointCostsNoStep) {
  const FitJob job{.name = "q", .identity = "1", .checkpoint = TestFile("finished.npz")};
  Quadratic first, second;
  const FitSummary expected = Fit(first, Small(), job);
  second.nan_at = 0;
  const FitSummary summary = Fit(second, Small(), job);
  EXPECT_EQ(second.parameters(), first.parameters());
  EXPECT_EQ(summary.history, expected.history);
}

TEST(Fit, RejectsTheCheckpointOfAnotherFit) {
  const std::string path = TestFile("other.npz");
  Quadratic problem;
  Fit(problem, Small(), {.name = "q", .identity = "seed 1", .checkpoint = path});
  try {
    Fit(problem, Small(), {.name = "q", .identity = "seed 2", .checkpoint = path});
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("seed 1"));
  }
}

TEST(Fit, NonFiniteLossNamesJobAndStep) {
  Quadratic problem;
  problem.nan_at = 7;
  try {
    Fit(problem, Small(), {.name = "member 3", .identity = {}, .checkpoint = {}});
    FAIL() << "accepted";
  } catch (const NumericError& error) {
    EXPECT_THAT(error.what(), HasSubstr("member 3: training loss is nan at step 7"));
  }
}

FitOptions Patient() {
  FitOptions options = Small();
  options.steps = 1000;
  options.patience = 60;
  options.cooldown = 0.5;
  return options;
}

TEST(Fit, EndsWhenPatienceAndCooldownAreOver) {
  Quadratic problem;
  problem.validation_optimum = 0.5f;
  const FitSummary summary =
      Fit(problem, Patient(), {.name = "q", .identity = {}, .checkpoint = {}});
  // the validation after `patience` steps without a better one, and as many steps of cooldown as
  // led to the best before
  EXPECT_LT(summary.history.steps.back(), 200);
  const auto smallest = std::ranges::min_element(summary.history.validation_loss);
  EXPECT_EQ(*smallest, summary.best_validation_loss);
}

TEST(Fit, GoesBackToItsBestParametersWhenPatienceIsOver) {
  FitOptions options = Patient();
  options.cooldown = 0.0;
  Quadratic patient;
  patient.validation_optimum = 0.5f;
  const FitJob last{.name = "q", .identity = {}, .checkpoint = {}};
  const FitSummary summary = Fit(patient, options, last);
  EXPECT_EQ(summary.history.steps.back(), summary.best_step + 60);
}

TEST(Fit, PatienceDoesNotEndAFitThatKeepsItsLastParameters) {
  Quadratic problem;
  problem.validation_optimum = 0.5f;
  const FitSummary summary =
      Fit(problem, Patient(),
          {.name = "q", .identity = {}, .checkpoint = {}, .kept = KeptParameters::kLast});
  EXPECT_EQ(summary.history.steps.back(), 1000);
}

TEST(Fit, CoolsDownInTheLastSteps) {
  FitOptions constant = Small(), cooled = Small();
  cooled.cooldown = 0.8;
  Quadratic jumpy, calm;
  const FitJob job{.name = "q", .identity = {}, .checkpoint = {}, .kept = KeptParameters::kLast};
  Fit(jumpy, constant, job);
  Fit(calm, cooled, job);
  EXPECT_LT(calm.ValidationLoss(), 0.5 * jumpy.ValidationLoss());
}

// The step at which patience has run out: the first validation so long after the best before it.
std::int64_t CooldownStart(const FitHistory& history, std::int64_t patience) {
  double best = std::numeric_limits<double>::infinity();
  std::int64_t best_step = 0;
  for (std::size_t k = 0; k < history.steps.size(); ++k) {
    if (history.validation_loss[k] < best) {
      best = history.validation_loss[k];
      best_step = history.steps[k];
    }
    if (history.steps[k] - best_step >= patience) return history.steps[k];
  }
  return history.steps.back();
}

TEST(FitOptions, StepsFollowTheRowsOfALog) {
  FitOptions options;
  options.steps = 20'000;
  options.batch = 250;
  EXPECT_EQ(options.For(100'000).steps, 20'000);
  options.passes = 25.0;
  EXPECT_EQ(options.For(100'000).steps, 10'000);
  EXPECT_EQ(options.For(1'000'000).steps, 20'000);
  EXPECT_EQ(options.For(100).steps, kFewestSteps);
  EXPECT_EQ(options.For(0).steps, 20'000);
  options.steps = 300;
  EXPECT_EQ(options.For(100).steps, 300);
}

TEST(Fit, ResumesWithinACooldownToTheSameBytes) {
  Quadratic straight;
  straight.validation_optimum = 0.5f;
  const FitSummary expected =
      Fit(straight, Patient(), {.name = "q", .identity = "1", .checkpoint = {}});
  const std::int64_t cooldown =
      expected.history.steps.back() - CooldownStart(expected.history, Patient().patience);
  ASSERT_GT(cooldown, 3);
  for (const std::int64_t back : {std::int64_t{2}, cooldown - 1, cooldown + 1, cooldown + 20}) {
    const FitJob job{.name = "q",
                     .identity = "1",
                     .checkpoint = TestFile("cooldown" + std::to_string(back) + ".npz")};
    Quadratic interrupted, again;
    interrupted.validation_optimum = again.validation_optimum = 0.5f;
    interrupted.interrupt_at = expected.history.steps.back() - back;
    EXPECT_THROW(Fit(interrupted, Patient(), job), Interrupted);
    InterruptRequested() = false;
    const FitSummary summary = Fit(again, Patient(), job);
    EXPECT_EQ(again.parameters(), straight.parameters()) << back;
    EXPECT_EQ(summary.history, expected.history);
  }
}

class Counter : public Progress {
 public:
  void Advance(std::int64_t done) override { total += done; }
  void Skip(std::int64_t left) override { skipped += left; }
  void Note(const std::string& /*text*/) override {}
  std::int64_t total = 0, skipped = 0;
};

TEST(Fit, ReportsEveryStepOnceWhetherResumedOrNot) {
  Counter counter;
  FitJob job{
      .name = "q", .identity = {}, .checkpoint = TestFile("progress.npz"), .progress = &counter};
  Quadratic problem;
  Fit(problem, Small(), job);
  EXPECT_EQ(counter.total, 105);
  Fit(problem, Small(), job);
  EXPECT_EQ(counter.total, 210);
  EXPECT_EQ(counter.skipped, 0);
  // steps that patience saves are told apart
  job.checkpoint.clear();
  problem.validation_optimum = 0.5f;
  Fit(problem, Patient(), job);
  EXPECT_EQ(counter.total + counter.skipped, 1210);
  EXPECT_GT(counter.skipped, 0);
}

}  // namespace
}  // namespace lfiw::models
