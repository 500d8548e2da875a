#include "ope/fits/closed_form_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rng.h"
#include "envs/tabular_systems.h"

namespace lfiw::ope {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Estimand Over(const TabularProblem& problem) {
  Estimand estimand;
  estimand.horizon = problem.horizon;
  estimand.discount = problem.discount;
  return estimand;
}

TEST(MakeInputs, MakesOnlyWhatIsNeededAndTheSameAsAllTogether) {
  const TabularProblem problem = FindTabularProblem("graph");
  const TabularLog log =
      SampleLog(problem.system, problem.behavior, 40, problem.horizon, Stream(1, "log"));
  const EstimatorInputs all = MakeTabularInputs(problem.system, problem.behavior,
                                                problem.evaluation, log, Over(problem), {}, 7);
  const TabularSource source(problem.system, problem.behavior, problem.evaluation, log,
                             Over(problem), {}, 7);
  const FittedInputs some = MakeInputs(source, StandardFits(), {"mwl", "rollouts"});
  EXPECT_THAT(some.arrays.log_ratios, IsEmpty());
  EXPECT_THAT(some.times, SizeIs(2));
  EXPECT_EQ(some.arrays.weights.at("mwl"), all.weights.at("mwl"));
  EXPECT_EQ(some.arrays.model_rewards, all.model_rewards);
  EXPECT_EQ(some.arrays.rewards, all.rewards);
}

TEST(MakeInputs, RunsAFitOfOnesOwnInClosedForm) {
  const TabularProblem problem = FindTabularProblem("graph");
  const TabularLog log =
      SampleLog(problem.system, problem.behavior, 10, problem.horizon, Stream(1, "log"));
  FitMethod own{.name = "own", .summary = "exact ratios again", .provides = {"own"}};
  own.on_tabular = [](const TabularSource& in, const AnyOptions&) {
    FittedArrays out;
    out.log_ratios["own"] = ActionLogRatios(in.behavior, in.evaluation, in.log);
    return out;
  };
  FitRegistry fits = StandardFits();
  fits.Add(own);
  const TabularSource source(problem.system, problem.behavior, problem.evaluation, log,
                             Over(problem), {}, 7);
  const EstimatorInputs in = MakeInputs(source, fits, {"own", "action"}).arrays;
  EXPECT_EQ(in.log_ratios.at("own"), in.log_ratios.at("action"));
}

}  // namespace
}  // namespace lfiw::ope
