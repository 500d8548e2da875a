#include "experiments/cli/list_command.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "envs/env_registry.h"
#include "envs/tabular_systems.h"
#include "experiments/evaluation/evaluation_config.h"
#include "ope/estimator.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ListCommand, NamesEveryEnvironmentWithSizesVersionsAndOptions) {
  const std::string text = List(Listing::kEnvironments).text;
  for (const std::string& name : EnvNames()) EXPECT_THAT("\n" + text, HasSubstr("\n" + name + " "));
  EXPECT_THAT(text, HasSubstr("111 observations, 8 actions; version 0-3; frame_skip"));
}

TEST(ListCommand, ThePageOfEnvironmentsStatesTheSameSizes) {
  std::ifstream file(SourceFile("docs/environments.md"));
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const EnvSummary& env : SummarizeEnvs()) {
    EXPECT_THAT(
        page, HasSubstr(fmt::format("\n| {} | {} | {} | ", env.name, env.obs_dim, env.action_dim)));
  }
}

TEST(ListCommand, ThePageOfEnvironmentsNamesEveryOption) {
  std::ifstream file(SourceFile("docs/environments.md"));
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const EnvSummary& env : SummarizeEnvs()) {
    for (const std::string& option : env.options) EXPECT_THAT(page, HasSubstr("`" + option + "`"));
  }
}

TEST(ListCommand, NamesEveryEstimatorAndSystemWithItsSummary) {
  const std::string estimators = List(Listing::kEstimators).text;
  const EstimatorRegistry registry = StandardEstimators();
  for (const Estimator& estimator : registry.all()) {
    EXPECT_THAT(estimators, AllOf(HasSubstr(estimator.name + " "), HasSubstr(estimator.summary)));
  }
  const std::string systems = List(Listing::kSystems).text;
  for (const std::string& name : TabularProblemNames()) EXPECT_THAT(systems, HasSubstr(name + " "));
}

TEST(ListCommand, ListsTheSameForProgramsAndPeople) {
  const Outcome presets = List(Listing::kPresets);
  EXPECT_EQ(presets.status, 0);
  EXPECT_THAT(presets.text, StartsWith("paper "));
  ASSERT_EQ(presets.object["entries"].size(), EnumNames(Preset{}).size());
  EXPECT_EQ(presets.object["entries"][0]["name"], "paper");
}

}  // namespace
}  // namespace lfiw::experiments
