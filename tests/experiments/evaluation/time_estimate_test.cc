#include "experiments/evaluation/time_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

class EstimateFitsTest : public SmallEvaluation {
 protected:
  std::vector<ExpectedFit> Estimate(std::int64_t classifiers = 3) {
    return EstimateFits(Context(), log_, split_, classifiers);
  }
};

TEST_F(EstimateFitsTest, NamesWhatIsFittedAndKeepsNothing) {
  EXPECT_THAT(Estimate(), ElementsAre(Field(&ExpectedFit::what, "2 dynamics models"),
                                      Field(&ExpectedFit::what, "3 classifiers")));
  EXPECT_THAT(cache_.records(), IsEmpty());
  EXPECT_THAT(Estimate(0), SizeIs(1));
}

TEST_F(EstimateFitsTest, LearnedFunctionsCountWhereTheLogHasWhatTheyLearn) {
  config_.task.reward = RewardFunction::kLearned;
  config_.task.termination = TerminationSource::kLearned;
  EXPECT_EQ(Estimate().at(1).what, "1 learned function") << "no episode of the log ends";
  log_.log.terminated[3] = 1;
  EXPECT_EQ(Estimate().at(1).what, "2 learned functions");
}

TEST_F(EstimateFitsTest, AHundredThousandTimesTheStepsTakeLonger) {
  config_.dynamics.fit.steps = 20;
  const double few = Estimate().front().seconds;
  config_.dynamics.fit.steps = 2'000'000;
  const double many = Estimate().front().seconds;
  EXPECT_GT(few, 0.0);
  EXPECT_GT(many, 100.0 * few);
}

TEST_F(EstimateFitsTest, PassesLowerTheStepsOfASmallLog) {
  config_.dynamics.fit.steps = 2'000'000'000;
  const double all = Estimate().front().seconds;
  config_.dynamics.fit.passes = 1.0;
  EXPECT_LT(100.0 * Estimate().front().seconds, all);
}

TEST_F(EstimateFitsTest, FittingAfterwardsGivesWhatItWouldHaveGiven) {
  const FittedModels before = Fit(2);
  StageCache other(dir_ / "other");
  Estimate(2);
  const StageContext context{config_, task_, other, Verbosity::kQuiet};
  const FittedModels after = FitModels(context, log_, {}, split_, 2);
  EXPECT_EQ(before.hashes, after.hashes);
}

TEST_F(EstimateFitsTest, TheFirstFitIsThereOnceModelsAreFitted) {
  EXPECT_FALSE(HasFirstFit(Context(), log_, split_));
  Fit(1);
  EXPECT_TRUE(HasFirstFit(Context(), log_, split_));
  config_.seed = 9;
  EXPECT_FALSE(HasFirstFit(Context(), log_, split_));
}

TEST(ExpectedFitsText, HasTheSumAndItsParts) {
  EXPECT_EQ(ExpectedFitsText({{"5 dynamics models", 125.0}, {"5 classifiers", 65.0}}, 2),
            "fits take at most about 3m 10s on 2 threads: 5 dynamics models 2m 05s, "
            "5 classifiers 1m 05s");
  EXPECT_THAT(ExpectedFitsText({{"1 dynamics model", 2.0}}, 1),
              StartsWith("fits take at most about 2.0s on 1 thread:"));
}

}  // namespace
}  // namespace lfiw::experiments
