#include "experiments/bench/estimator_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config.h"
#include "core/error.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

struct ChoiceConfig {
  std::vector<EstimatorChoice> estimators;
  template <class Visitor>
  void Visit(Visitor& v) {
    v.Field("estimators", estimators, "estimators");
  }
};

ChoiceConfig ReadChoice(const std::string& yaml) {
  ChoiceConfig config;
  ReadConfig(ParseYaml(yaml, "bench.yaml"), config);
  return config;
}

std::vector<Estimator> Made(const std::string& yaml) {
  return MakeEstimators(ReadChoice(yaml).estimators, StandardEstimators(), StandardFits());
}

std::string ErrorOf(const std::string& yaml) {
  try {
    Made(yaml);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(EstimatorChoice, IsANameOrANameWithOptions) {
  const std::vector<Estimator> made =
      Made("estimators: [wis, {name: wis, ratios: {max_weight: 20, finished: drop}}]");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(made[0].label(), "wis");
  EXPECT_EQ(made[1].name, "wis");
  EXPECT_EQ(made[1].params, "ratios.finished=drop ratios.max_weight=20");
}

TEST(EstimatorChoice, OptionsThatAreTheUsualOnesAreNoParams) {
  EXPECT_EQ(Made("estimators: [{name: wis, normalization: self}]")[0].params, "");
}

TEST(EstimatorChoice, ReadsBackFromWhatItIsWrittenAs) {
  const ChoiceConfig config = ReadChoice(
      "estimators: [wis, {name: magic_fqe, level: 0.8, doubly_robust: {ratios: {max_weight: 1e1}}},"
      " {name: dr_lfiw, choice: {powers: [1, 0.5]}}, {name: wis, ratios: {finished: 'one'}}]");
  const std::string written = DumpConfig(config);
  EXPECT_EQ(DumpConfig(ReadChoice(written)), written);
  EXPECT_EQ(CanonicalText(ReadChoice(written)), CanonicalText(config));
  EXPECT_EQ(Made(written)[1].params, "doubly_robust.ratios.max_weight=10 level=0.8");
}

TEST(EstimatorChoice, WrongOptionsAreToldAllAtOnceWithTheirPlaceAndTheNearestName) {
  EXPECT_THAT(ErrorOf("estimators:\n"
                      "  - wiss\n"
                      "  - name: wis\n"
                      "    ratios: {max_wieght: 20}\n"
                      "  - {name: fqe, steps: 3}\n"),
              AllOf(HasSubstr("bench.yaml:2: estimators.0: unknown estimator \"wiss\"; did you "
                              "mean wis?"),
                    HasSubstr("bench.yaml:4: estimators.1.ratios.max_wieght: unknown key; did you "
                              "mean 'estimators.1.ratios.max_weight'?"),
                    HasSubstr("bench.yaml:5: estimators.2: got a map, expected nothing")));
}

TEST(EstimatorChoice, TheSameTwiceAndNeedsThatNobodyProvidesAreErrors) {
  EXPECT_THAT(ErrorOf("estimators: [wis, {name: wis, normalization: self}]"),
              HasSubstr("wis is listed twice"));
  EXPECT_THAT(ErrorOf("estimators: [{name: wdr_fqe, values: fqee}]"),
              HasSubstr("wdr_fqe values=fqee needs fqee, which no fit provides"));
}

TEST(EstimatorChoice, OptionsThatDoNotGoTogetherAreToldWithTheirPlace) {
  EXPECT_THAT(ErrorOf("estimators: [{name: wdr_fqe, ratios: {finished: drop}}]"),
              HasSubstr("bench.yaml:1: estimators.0: doubly robust ratios"));
  EXPECT_THAT(ErrorOf("estimators: [{name: dr_lfiw, choice: {powers: []}}]"),
              HasSubstr("bench.yaml:1: estimators.0: powers"));
  EXPECT_THAT(ErrorOf("estimators: [{name: lfiw_trajectory, khat_horizons: [20]}]"),
              HasSubstr("bench.yaml:1: estimators.0: khat_horizons"));
}

TEST(EstimatorChoice, AMapWithoutANameIsWrong) {
  EXPECT_THROW(ReadChoice("estimators: [{ratios: {max_weight: 20}}]"), ConfigError);
}

TEST(MakeEstimators, TakesEveryRegisteredOneWhereNoneIsChosen) {
  EXPECT_EQ(MakeEstimators({}, StandardEstimators(), StandardFits()).size(),
            StandardEstimators().all().size());
}

// Every option of a standard estimator has an effect that its label tells.
TEST(MakeEstimators, EveryOptionOfAStandardEstimatorCanBeSetByName) {
  const EstimatorRegistry registry = StandardEstimators();
  std::vector<std::string> with_options;
  for (const Estimator& estimator : registry.all()) {
    if (!estimator.options.empty()) with_options.push_back(estimator.name);
    const Estimator same =
        registry.Make(estimator.name, estimator.options.WriteNode(), "estimators.0");
    EXPECT_EQ(same.label(), estimator.name);
  }
  EXPECT_THAT(with_options,
              AllOf(Contains("wis"), Contains("wdr_fqe"), Contains("magic_model"), Contains("mwl"),
                    Contains("dr_lfiw"), Contains("lfiw_trajectory"), Contains("lfiw_slope")));
}

}  // namespace
}  // namespace lfiw::experiments
