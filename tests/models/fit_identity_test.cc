#include "models/fit_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "models/classifier_fit.h"
#include "models/dynamics_fit.h"
#include "models/learned_function_fit.h"
#include "models/timed_function_fit.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"
#include "tests/models/linear_log.h"
#include "tests/models/walk_log.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;

DynamicsEnsemble LinearDynamics(const EpisodeBatch& log) {
  return FitDynamics(log, Range(6), TinyFit<DynamicsOptions>(), 1).ensemble;
}

// A member is the same however many others there are.
TEST(FitIdentity, OfDynamicsHoldsEveryOptionButTheNumberOfMembers) {
  const EpisodeBatch log = LinearLog(6, 5, 1);
  ExpectEveryFieldCounts(
      TinyFit<DynamicsOptions>(),
      [&](const auto& options, const FitRun& run) { FitDynamics(log, Range(6), options, 1, run); },
      "members");
}

TEST(FitIdentity, OfAClassifierHoldsEveryOption) {
  const EpisodeBatch log = LinearLog(6, 5, 1);
  const DynamicsEnsemble dynamics = LinearDynamics(log);
  ExpectEveryFieldCounts(TinyFit<ClassifierOptions>(), [&](const auto& options, const FitRun& run) {
    FitClassifier(log, Range(6), dynamics, options, 1, 0, run);
  });
}

TEST(FitIdentity, OfALearnedFunctionHoldsEveryOption) {
  const EpisodeBatch log = WalkLog(6, 5, 1e9, QuadraticReward, 1);
  ExpectEveryFieldCounts(
      TinyFit<LearnedFunctionOptions>(),
      [&](const auto& options, const FitRun& run) { FitReward(log, Range(6), options, 1, run); });
}

TEST(FitIdentity, OfATimedFunctionHoldsEveryOption) {
  StepSamples samples;
  samples.states.resize(12, 2);
  for (std::int64_t i = 0; i < 12; ++i) {
    samples.states.row(i) << static_cast<float>(i % 5), static_cast<float>(i * i % 7);
    samples.steps.push_back(i % 2);
    samples.targets.push_back(static_cast<double>(i));
    samples.groups.push_back(i / 2);
  }
  ExpectEveryFieldCounts(TinyFit<TimedFunctionOptions>(),
                         [&](const auto& options, const FitRun& run) {
                           FitStepValue(samples, 2, options, "value", 1, run);
                         });
}

TEST(FitIdentity, TellsOtherEpisodesOfTheSameNumberApart) {
  const EpisodeBatch log = LinearLog(8, 5, 1);
  const TestDir folder;
  const FitRun run{.folder = folder.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  FitDynamics(log, Range(6), TinyFit<DynamicsOptions>(), 1, run);
  const std::vector<std::int64_t> others = {0, 1, 2, 3, 4, 7};
  EXPECT_THROW(FitDynamics(log, others, TinyFit<DynamicsOptions>(), 1, run), DataError);
}

TEST(FitIdentity, RefusalNamesTheOptionThatDiffers) {
  const EpisodeBatch log = LinearLog(6, 5, 1);
  const TestDir folder;
  const FitRun run{.folder = folder.path(), .checkpoint_seconds = 0.0, .progress = nullptr};
  DynamicsOptions options = TinyFit<DynamicsOptions>();
  FitDynamics(log, Range(6), options, 1, run);
  options.network.activation = Activation::kTanh;
  try {
    FitDynamics(log, Range(6), options, 1, run);
    FAIL() << "accepted";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr(R"("activation":"silu", expected "activation":"tanh")"));
  }
}

TEST(IdentityDifference, IsTheFirstItemThatDiffers) {
  EXPECT_EQ(IdentityDifference("seed 1; 5 rows", "seed 2; 6 rows"), "seed 1, expected seed 2");
  EXPECT_EQ(IdentityDifference(R"(a; {"x":1,"y":2})", R"(a; {"x":1,"y":3})"),
            R"("y":2, expected "y":3)");
}

}  // namespace
}  // namespace lfiw::models
