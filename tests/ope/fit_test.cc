#include "ope/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "ope/fits/fqe.h"

namespace lfiw::ope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::ThrowsMessage;

EstimatorInputs FitInputs() {
  EstimatorInputs in;
  in.rewards = Array<double, 2>({2, 3}, 1.0);
  in.lengths = {3, 3};
  in.terminated = {0, 0};
  return in;
}

// Gives a constant weight by its name.
FitMethod Constant(const std::string& name, double weight) {
  FitMethod fit{.name = name, .summary = "a constant", .provides = {name}};
  fit.on_arrays = [name, weight](const EstimatorInputs& in, const Estimand&, const AnyOptions&) {
    FittedArrays out;
    out.weights[name] = Array<double, 2>(in.rewards.shape(), weight);
    return out;
  };
  return fit;
}

// Doubles the weights of another.
FitMethod Double(const std::string& name, const std::string& of) {
  FitMethod fit{.name = name, .summary = "a multiple", .provides = {name}};
  fit.needs = {of};
  fit.on_arrays = [name, of](const EstimatorInputs& in, const Estimand&, const AnyOptions&) {
    FittedArrays out;
    out.weights[name] = in.weights.at(of);
    for (double& w : out.weights[name].flat()) w *= 2.0;
    return out;
  };
  return fit;
}

FittedInputs Fitted(const FitRegistry& fits, const std::set<std::string>& needs) {
  FittedInputs out;
  out.arrays = FitInputs();
  AddFits(
      fits, needs, {}, [](const FitMethod&) { return std::optional<FitOutcome>(); }, out);
  return out;
}

TEST(FitRegistry, KnowsFitsByNameAndRefusesTakenOnes) {
  FitRegistry fits;
  fits.Add(Constant("one", 1.0));
  EXPECT_EQ(fits.Find("one").summary, "a constant");
  EXPECT_THROW(fits.Add(Constant("one", 2.0)), ConfigError);
  FitMethod other = Constant("other", 2.0);
  other.provides = {"one"};
  EXPECT_THAT([&] { fits.Add(other); },
              ThrowsMessage<ConfigError>(HasSubstr("another fit provides one already")));
  EXPECT_THAT([&] { fits.Find("two"); }, ThrowsMessage<ConfigError>(HasSubstr("known: one")));
  EXPECT_THROW(fits.Add(Constant("with space", 1.0)), ConfigError);
}

TEST(FitRegistry, IsAConfigurationWithASectionForEveryFitThatHasOptions) {
  FitRegistry fits = StandardFits();
  const ConfigNode node = fits.WriteNode();
  EXPECT_THAT(node.keys, ElementsAre("model", "fqe", "linear", "dual_dice", "gen_dice", "mrdr"));
  internal::ConfigProblems problems;
  fits.ReadNode(ParseYaml("fqe: {fit: {steps: 7}}", "file.yaml"), "fits", problems);
  EXPECT_NO_THROW(problems.Throw({}));
  EXPECT_EQ(fits.Options<FqeOptions>("fqe").fit.steps, 7);
  fits.ReadNode(ParseYaml("fqee: {}", "file.yaml"), "fits", problems);
  EXPECT_THAT([&] { problems.Throw({}); },
              ThrowsMessage<ConfigError>(HasSubstr("did you mean 'fits.fqe'?")));
}

TEST(StandardFits, ProvideWhatStandardEstimatorsNeed) {
  const std::set<std::string> provided = StandardFits().Provided();
  const EstimatorRegistry estimators = StandardEstimators();
  for (const Estimator& estimator : estimators.all()) {
    EXPECT_THAT(provided, IsSupersetOf(estimator.needs)) << estimator.name;
  }
}

TEST(AddFits, RunsOnlyWhatIsNeededAndWhatThatNeedsItself) {
  FitRegistry fits;
  fits.Add(Double("four", "two"));
  fits.Add(Double("six", "two"));
  fits.Add(Constant("two", 2.0));
  EXPECT_EQ(fits.WithNeedsOfFits({"four"}), (std::set<std::string>{"four", "two"}));
  FitRegistry ordered;
  ordered.Add(Constant("two", 2.0));
  ordered.Add(Double("four", "two"));
  ordered.Add(Constant("unused", 1.0));
  const FittedInputs out = Fitted(ordered, {"four"});
  EXPECT_EQ(out.arrays.weights.at("four")(1, 2), 4.0);
  EXPECT_THAT(out.arrays.weights, Not(Contains(::testing::Key("unused"))));
  EXPECT_EQ(out.times.size(), 2u);
}

TEST(AddFits, SaysWhyAFitIsMissingThatNeedsAnother) {
  FitRegistry fits;
  fits.Add(Double("four", "two"));
  const FittedInputs out = Fitted(fits, {"four"});
  EXPECT_EQ(out.arrays.missing.at("four"), "two was not fitted");
}

TEST(FittedArrays, MergeTakesWhatTheOtherHas) {
  FittedArrays to, from;
  to.weights["a"] = Array<double, 2>({1, 1}, 1.0);
  to.model_alive = {1.0};
  from.weights["b"] = Array<double, 2>({1, 1}, 2.0);
  from.missing["c"] = "why";
  to.Merge(from);
  EXPECT_EQ(to.weights.size(), 2u);
  EXPECT_EQ(to.missing.at("c"), "why");
  EXPECT_THAT(to.model_alive, ElementsAre(1.0));
}

}  // namespace
}  // namespace lfiw::ope
