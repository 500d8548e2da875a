#include "experiments/evaluation/stage_outline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

std::map<std::string, std::int64_t> CountsOf(const EvaluationConfig& config) {
  std::map<std::string, std::int64_t> counts;
  for (const ExpectedStage& stage : OutlineOf(config)) counts[stage.name] += stage.count;
  std::erase_if(counts, [](const auto& entry) { return entry.second == 0; });
  return counts;
}

TEST(StageOutline, CountsWhatAConfigurationTells) {
  EvaluationConfig config;
  config.dynamics.members = 3;
  config.classifiers.instances = 4;
  const auto counts = CountsOf(config);
  EXPECT_EQ(counts.at("policy"), config.policies.pair == PolicyPair::kIndependent ? 2 : 1);
  EXPECT_EQ(counts.at("dynamics_member"), 3);
  EXPECT_EQ(counts.at("classifier"), 4);
  config.policies.pair = PolicyPair::kFiles;
  config.policies.evaluation_files = {"a.npz", "b.npz"};
  config.log.file = "log.npz";
  const auto of_files = CountsOf(config);
  EXPECT_FALSE(of_files.contains("policy"));
  EXPECT_FALSE(of_files.contains("log"));
  EXPECT_GE(of_files.at("rollouts"), 2);
}

TEST(StageOutline, NamesStagesThatThereAre) {
  EvaluationConfig config = DefaultsOf(Preset::kRobust);
  config.doubly_robust.enabled = true;
  std::set<std::string> known = {
      "policy", "log",        "behavior_clone",  "dynamics_member", "dynamics", "learned_function",
      "noise",  "classifier", "dynamics_report", "rollouts",        "family",   "truth"};
  for (const auto& [name, count] : CountsOf(config)) {
    EXPECT_TRUE(known.contains(name) || name.starts_with("fit_")) << name;
  }
}

}  // namespace
}  // namespace lfiw::experiments
