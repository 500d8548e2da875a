#include "tests/experiments/stage_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/evaluation/family_stage.h"
#include "experiments/evaluation/fit_stage.h"
#include "experiments/evaluation/model_stages.h"
#include "experiments/evaluation/noise_stage.h"
#include "experiments/evaluation/rollout_stage.h"
#include "experiments/evaluation/source_stages.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

using EvaluationStages =
    StageTypes<PolicyStage, BehaviorCloneStage, LogStage, TruthStage, DynamicsMemberStage,
               DynamicsStage, DynamicsReportStage, ClassifierStage, LearnedFunctionStage,
               NoiseStage, RolloutStage, FamilyStage, FitStage>;

TEST(EvaluationStages, DependOnEveryFieldOfTheirKeysAndOnAllElse) {
  EvaluationStages::ExpectKeysAreComplete();
}

TEST(EvaluationStages, AreAllListedHere) {
  EXPECT_THAT(EvaluationStages::Names(),
              UnorderedElementsAreArray(StageNamesBelow("experiments/evaluation")));
}

TEST(StagesOfAllExperiments, HaveNamesOfTheirOwn) {
  std::vector<std::string> names = StageNamesBelow("experiments");
  EXPECT_THAT(names, Contains("policy"));
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(StagesOfAllExperiments, AreListedInATestBesideTheirFolder) {
  for (const std::filesystem::path& source : SourcesBelow("experiments")) {
    if (StageNamesIn(source).empty()) continue;
    const std::string folder = source.parent_path().filename().string();
    EXPECT_TRUE(
        std::filesystem::exists(SourceFile("tests/experiments/" + folder + "/stage_keys_test.cc")))
        << source << " declares a stage";
  }
}

TEST(StagesOfAllExperiments, HaveNoKeysWrittenByHand) {
  const std::regex by_hand(R"(^\s*(const )?Stage(\s+\w+)?\s*[({])");
  std::vector<std::string> found;
  for (const std::filesystem::path& source : SourcesBelow("experiments")) {
    std::istringstream lines(core::ReadFile(source.string()));
    for (std::string line; std::getline(lines, line);) {
      if (std::regex_search(line, by_hand)) found.push_back(source.string() + ": " + line);
    }
  }
  EXPECT_THAT(found, IsEmpty());
}

TEST(FieldChanger, MakesEachChangeOnceAndNamesItsPlace) {
  TaskKey task;
  FieldFiller filler;
  task.Visit(filler);
  std::vector<std::string> places;
  for (std::int64_t k = 0; k < 7; ++k) {
    TaskKey changed = task;
    FieldChanger changer(k);
    changed.Visit(changer);
    places.push_back(changer.place());
  }
  // a list changes by an element more and by another first element
  EXPECT_THAT(places, testing::ElementsAre("environment", "reward", "termination", "action_low",
                                           "action_low", "action_high", "action_high"));
}

}  // namespace
}  // namespace lfiw::experiments
