#include "experiments/evaluation/source_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/config/config.h"
#include "core/logs/open_log.h"
#include "core/parallel.h"
#include "core/run/atomic_file.h"
#include "policies/files/policy_file.h"
#include "tests/core/logs/log_samples.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

PpoOptions SmallPpo() {
  PpoOptions options;
  options.rollout_steps = 64;
  options.minibatches = 4;
  options.epochs = 2;
  options.hidden = {4};
  options.total_steps = 192;
  options.snapshots = {128};
  return options;
}

class SourceStagesTest : public SmallEvaluation {
 protected:
  ~SourceStagesTest() override { SetThreads(0); }

  // Expects `make`, given an empty cache, to write the same bytes on one thread and on two.
  void ExpectSameBytes(const std::function<Artifact(StageCache&)>& make) {
    std::vector<std::string> hashes;
    for (const int threads : {1, 2}) {
      SetThreads(threads);
      StageCache cache(dir_ / fmt::format("threads_{}", threads));
      hashes.push_back(make(cache).content_hash);
    }
    EXPECT_EQ(hashes[0], hashes[1]);
  }
};

TEST_F(SourceStagesTest, APolicyRunKeepsTheEndTheSnapshotsAndTheCurve) {
  const PpoOptions options = SmallPpo();
  const Artifact run =
      cache_.Run<PolicyStage>({task_.spec.name, options, 7}, {*env_, "train"}, Context().Work());
  const PpoResult direct = TrainPpo(*env_, options, 7);
  EXPECT_EQ(GaussianMlpPolicy::Load(run.File(PolicyStage::kPolicyFile)).parameters(),
            direct.policy.parameters());
  EXPECT_EQ(GaussianMlpPolicy::Load(run.File(PolicyStage::SnapshotFile(128))).parameters(),
            direct.snapshots.at(0).policy.parameters());
  const TrainingCurve curve = PolicyStage::CurveOf(run, "mine");
  EXPECT_EQ(curve.label, "mine");
  EXPECT_THAT(curve.steps, ElementsAre(64, 128, 192));
  ASSERT_EQ(curve.returns.size(), direct.history.size());
  for (std::size_t i = 0; i < curve.returns.size(); ++i) {
    EXPECT_EQ(curve.returns[i], direct.history[i].mean_return);
  }
  EXPECT_THAT(ReadFile(run.File("curve.csv")), StartsWith("steps,mean_return,mean_length"));
}

TEST_F(SourceStagesTest, APolicyRunHasTheSameBytesForAnyNumberOfThreads) {
  ExpectSameBytes([&](StageCache& cache) {
    return cache.Run<PolicyStage>({task_.spec.name, SmallPpo(), 7}, {*env_, "train"});
  });
}

TEST_F(SourceStagesTest, ALogIsThatOfTheBehaviorPolicyInTheEnvironment) {
  const Artifact artifact =
      cache_.Run<LogStage>({task_.spec.name, 12, 4, 3}, {*env_, behavior_}, Context().Work());
  const LoadedLog kept = LoadLog(artifact.File(LogStage::kLogFile));
  ExpectSameLog(kept.batch,
                CollectEpisodes(*env_, *behavior_.policy,
                                {.episodes = 12, .horizon = 4, .seed = 3, .purpose = "log"}));
  ExpectSameBytes([&](StageCache& cache) {
    return cache.Run<LogStage>({task_.spec.name, 12, 4, 3}, {*env_, behavior_});
  });
}

TEST_F(SourceStagesTest, TheTruthIsTheMonteCarloValue) {
  const TruthStage::Key key{task_.spec.name, 40, 6, 0.9, 3};
  const PolicySource policy = ConstantSource("policy", 0.5, 1.0);
  const MonteCarloEstimate kept =
      TruthStage::Read(cache_.Run<TruthStage>(key, {*env_, policy}, Context().Work()));
  const MonteCarloEstimate direct = MonteCarloValue(
      *env_, *policy.policy, {.episodes = 40, .horizon = 6, .seed = 3, .purpose = "truth"}, 0.9);
  EXPECT_EQ(kept.value, direct.value);
  EXPECT_EQ(kept.standard_error, direct.standard_error);
  EXPECT_EQ(kept.episodes, 40);
  EXPECT_EQ(kept.mean_length, 6.0);
  // the sum of 0.5 * 0.9^t
  EXPECT_NEAR(kept.value, 0.5 * (1.0 - std::pow(0.9, 6)) / 0.1, 4.0 * kept.standard_error);
  ExpectSameBytes([&](StageCache& cache) { return cache.Run<TruthStage>(key, {*env_, policy}); });
}

TEST_F(SourceStagesTest, ACloneIsAPolicyFittedToTheLoggedActions) {
  // actions of 0.7 in every state
  log_.log.actions.setConstant(0.7f);
  BehaviorCloneStage::Key key{.options = {}, .action_low = {-1.0}, .action_high = {1.0}, .seed = 2};
  key.options.network.width = 8;
  key.options.fit.steps = 20;
  const Artifact artifact = cache_.Run<BehaviorCloneStage>(key, {log_}, Context().Work());
  const auto clone = LoadPolicy(artifact.File(BehaviorCloneStage::kPolicyFile));
  EXPECT_EQ(clone->obs_dim(), 2);
  MatrixF action(1, 1);
  clone->Mean(MatrixF::Zero(1, 2), std::vector<std::int64_t>{0}, action);
  // in units of the log's deviation, which is 1 where it has none
  EXPECT_NEAR(action(0, 0), 0.7f, 0.2f);
  ExpectSameBytes([&](StageCache& cache) { return cache.Run<BehaviorCloneStage>(key, {log_}); });
}

TEST_F(SourceStagesTest, DependOnWhatTheyAreMadeFrom) {
  EXPECT_THAT((LogStage::Inputs{*env_, behavior_}.Hashes()), ElementsAre(behavior_.hash));
  EXPECT_THAT((TruthStage::Inputs{*env_, behavior_}.Hashes()), ElementsAre(behavior_.hash));
  EXPECT_THAT(BehaviorCloneStage::Inputs{log_}.Hashes(), ElementsAre("log"));
}

// The texts of keys that differ from the first in one field each.
template <class Key>
void ExpectAllDiffer(const std::vector<Key>& keys) {
  std::vector<std::string> texts;
  for (const Key& key : keys) texts.push_back(CanonicalText(key));
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::adjacent_find(texts.begin(), texts.end()), texts.end());
}

TEST(SourceStageKeys, ChangeWithEachOfTheirFields) {
  ExpectAllDiffer<LogStage::Key>(
      {{"a", 1, 2, 3}, {"b", 1, 2, 3}, {"a", 9, 2, 3}, {"a", 1, 9, 3}, {"a", 1, 2, 9}});
  ExpectAllDiffer<TruthStage::Key>({{"a", 1, 2, 0.5, 3},
                                    {"b", 1, 2, 0.5, 3},
                                    {"a", 9, 2, 0.5, 3},
                                    {"a", 1, 9, 0.5, 3},
                                    {"a", 1, 2, 0.6, 3},
                                    {"a", 1, 2, 0.5, 9}});
  PpoOptions other;
  other.snapshots = {5};
  ExpectAllDiffer<PolicyStage::Key>({{"a", {}, 1}, {"b", {}, 1}, {"a", {}, 2}, {"a", other, 1}});
  CloningOptions discrete;
  discrete.kind = CloneKind::kCategorical;
  ExpectAllDiffer<BehaviorCloneStage::Key>({{{}, {-1.0}, {1.0}, 1},
                                            {discrete, {-1.0}, {1.0}, 1},
                                            {{}, {-2.0}, {1.0}, 1},
                                            {{}, {-1.0}, {2.0}, 1},
                                            {{}, {-1.0}, {1.0}, 2}});
}

}  // namespace
}  // namespace lfiw::experiments
