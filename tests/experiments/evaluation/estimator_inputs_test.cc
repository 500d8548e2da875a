#include "experiments/evaluation/estimator_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "envs/linear_gaussian.h"
#include "envs/linear_gaussian_env.h"
#include "ope/fits/fqe.h"
#include "policies/collect.h"
#include "policies/gaussian_mlp_policy.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kSteps = 4;

LinearGaussianSystem InputsSystem() {
  LinearGaussianSystem system = ZeroLinearGaussian(2, 1);
  system.state_matrix << 0.9, 0.1, 0.0, 0.8;
  system.action_matrix << 0.0, 0.3;
  system.noise_covariance = 0.01 * MatrixD::Identity(2, 2);
  system.initial_covariance = MatrixD::Identity(2, 2);
  return system;
}

// Counts how often it runs: the mean first action, as weights.
FitMethod CountingFit(std::shared_ptr<int> runs) {
  FitMethod fit{
      .name = "first_action", .summary = "the first action", .provides = {"first_action"}};
  fit.on_log = [runs](const FitSources& in, const AnyOptions&) {
    ++*runs;
    FittedArrays out;
    out.weights["first_action"] =
        Array<double, 2>({std::ssize(in.episodes), in.columns}, in.log.actions(0, 0));
    out.notes["first_action"] = {"of the first episode"};
    return out;
  };
  return fit;
}

// A log of a small linear system and the policy that wrote it, which is evaluated too.
class EstimatorInputsTest : public ::testing::Test {
 protected:
  EstimatorInputsTest()
      : env_(MakeLinearGaussianFactory(InputsSystem())), task_{env_->spec(), env_} {
    config_.environment = kLinearGaussianName;
    config_.value.horizon = kSteps;
    const TanhMlp mlp({2, 1});
    auto policy = std::make_shared<GaussianMlpPolicy>(mlp, VectorF::Zero(mlp.parameter_count()),
                                                      VectorF::Zero(1),
                                                      ObservationNormalizer(2, 10.0), "zero");
    policy_ = {.path = "", .hash = "policy", .label = "zero", .policy = policy};
    log_.log = CollectEpisodes(*env_, *policy,
                               {.episodes = 12, .horizon = kSteps, .seed = 1, .purpose = "log"});
    log_.hash = "log";
    split_ = SplitLog(12, config_.log, 2, 0);
  }

  FittedInputs Inputs(const FitRegistry& fits, const std::set<std::string>& needs) {
    const StageContext context{config_, task_, cache_, Verbosity::kQuiet};
    const EstimatorSources sources{.context = context,
                                   .fits = fits,
                                   .log = log_,
                                   .split = split_,
                                   .models = nullptr,
                                   .policy = policy_,
                                   .behavior = behavior_};
    return MakeEstimatorInputs(sources, {0, 1, 2}, needs);
  }
  std::vector<std::string> Stages() const {
    std::vector<std::string> names;
    for (const StageRecord& record : cache_.records()) names.push_back(record.name);
    return names;
  }

  TestDir dir_;
  StageCache cache_{dir_ / "cache"};
  std::shared_ptr<const EnvFactory> env_;
  Task task_;
  EvaluationConfig config_;
  PolicySource policy_;
  std::optional<PolicySource> behavior_;
  LogSource log_;
  LogSplit split_;
};

TEST_F(EstimatorInputsTest, ActionRatiosOfThePolicyThatWroteTheLogAreOne) {
  behavior_ = policy_;
  // both from the policy, so that they are the same to the last bit
  log_.log.behavior_log_density.clear();
  const EstimatorInputs in = Inputs(StandardFits(), {"action"}).arrays;
  EXPECT_THAT(in.log_ratios.at("action").flat(), Each(0.0));
  EXPECT_EQ(in.episodes(), 3);
  EXPECT_EQ(in.steps(), kSteps);
  EXPECT_THAT(Stages(), IsEmpty());
}

TEST_F(EstimatorInputsTest, SaysWhyWhatReadsActionDensitiesIsMissing) {
  log_.log.behavior_log_density.clear();
  const EstimatorInputs in = Inputs(StandardFits(), {"action", "mrdr"}).arrays;
  EXPECT_THAT(in.missing.at("action"), HasSubstr("the policy that wrote it is not known"));
  EXPECT_EQ(in.missing.at("mrdr"), in.missing.at("action"));
}

TEST_F(EstimatorInputsTest, SaysThatWithoutAModelNothingOfItCanBeHad) {
  const EstimatorInputs in = Inputs(StandardFits(), {"model", "rollouts"}).arrays;
  for (const char* name : {"model", "model_visitation", "rollouts"}) {
    EXPECT_EQ(in.missing.at(name), "no dynamics model was fitted") << name;
  }
}

TEST_F(EstimatorInputsTest, AFitOfOnesOwnIsAStageThatTheCacheKeeps) {
  const auto runs = std::make_shared<int>(0);
  FitRegistry fits = StandardFits();
  fits.Add(CountingFit(runs));
  const FittedInputs first = Inputs(fits, {"first_action"});
  const FittedInputs again = Inputs(fits, {"first_action"});
  EXPECT_EQ(*runs, 1);
  EXPECT_EQ(first.arrays.weights.at("first_action"), again.arrays.weights.at("first_action"));
  EXPECT_THAT(again.arrays.notes.at("first_action"), ElementsAre("of the first episode"));
  EXPECT_THAT(Stages(), Each("fit_first_action"));
  ASSERT_EQ(again.times.size(), 1u);
  EXPECT_EQ(again.times[0].needs, (std::set<std::string>{"first_action"}));
  EXPECT_EQ(again.times[0].seconds, first.times[0].seconds);
}

TEST_F(EstimatorInputsTest, AnotherVersionSeedOrHorizonOfAFitIsAnotherStage) {
  const auto runs = std::make_shared<int>(0);
  FitMethod fit = CountingFit(runs);
  FitRegistry fits;
  fits.Add(fit);
  Inputs(fits, {"first_action"});
  fit.version = 2;
  FitRegistry raised;
  raised.Add(fit);
  Inputs(raised, {"first_action"});
  EXPECT_EQ(*runs, 2);
  config_.seed = 5;
  Inputs(raised, {"first_action"});
  EXPECT_EQ(*runs, 3);
  config_.value.horizon = kSteps - 1;
  Inputs(raised, {"first_action"});
  EXPECT_EQ(*runs, 4);
}

TEST_F(EstimatorInputsTest, OptionsOfAFitReachItAndItsKey) {
  FitRegistry fits = StandardFits();
  FqeOptions& options = fits.Options<FqeOptions>("fqe");
  options.members = 1;
  options.network.width = 4;
  options.fit.steps = 3;
  const EstimatorInputs few = Inputs(fits, {"fqe"}).arrays;
  fits.Options<FqeOptions>("fqe").fit.steps = 6;
  const EstimatorInputs more = Inputs(fits, {"fqe"}).arrays;
  EXPECT_NE(few.values.at("fqe").q, more.values.at("fqe").q);
  EXPECT_THAT(Stages(), ElementsAre("fit_fqe", "fit_fqe"));
}

TEST(NeedDynamics, IsAskedOfTheFits) {
  const FitRegistry fits = StandardFits();
  EXPECT_TRUE(NeedDynamics(fits, {"model_visitation"}));
  EXPECT_TRUE(NeedDynamics(fits, {"fqe", "rollouts"}));
  EXPECT_FALSE(NeedDynamics(fits, {"fqe", "action", "mwl"}));
}

}  // namespace
}  // namespace lfiw::experiments
