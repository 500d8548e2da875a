#include "experiments/evaluation/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "core/error.h"
#include "core/logs/create_log.h"
#include "core/logs/log_writer.h"
#include "core/run/atomic_file.h"
#include "core/statistics.h"
#include "envs/env_registry.h"
#include "policies/files/policy_file.h"
#include "policies/policy_check.h"
#include "policies/ppo/ppo.h"
#include "tests/core/logs/log_samples.h"
#include "tests/experiments/evaluation/small_evaluation.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

constexpr std::int64_t kSwimmerObs = 8;

// Small motions of a real environment whose reward is the velocity of its root.
EpisodeBatch SwimmerLog(std::int64_t episodes = 3, std::int64_t horizon = 10) {
  return CollectEpisodes(*FindEnv("Swimmer"), ConstantPolicy(0.0, 0.5, kSwimmerObs, 2),
                         {.episodes = episodes, .horizon = horizon, .seed = 2, .purpose = "log"});
}

class SourcesTest : public SmallEvaluation {
 protected:
  std::string SavedPolicy(const std::string& name, double mean, std::int64_t obs_dim = 2) {
    const std::filesystem::path path = dir_ / name;
    std::filesystem::create_directories(path.parent_path());
    ConstantPolicy(mean, 1.0, obs_dim).Save(path);
    return path;
  }
};

// ---- the task

TEST_F(SourcesTest, TheTaskOfAKnownEnvironmentIsItsSpecWhateverTheLog) {
  config_.environment = "swimmer-v2";
  for (const LogSource* log : {static_cast<const LogSource*>(nullptr), &std::as_const(log_)}) {
    const Task task = MakeTask(config_, log);
    ASSERT_NE(task.env, nullptr);
    EXPECT_EQ(task.spec.name, "Swimmer");
    EXPECT_EQ(task.spec.obs_dim, kSwimmerObs);
    EXPECT_EQ(task.spec.aux_dim(), 1);
  }
  config_.environment = "Swimer";
  EXPECT_THAT([&] { MakeTask(config_, nullptr); },
              ThrowsMessage<ConfigError>(HasSubstr("Swimmer")));
}

TEST_F(SourcesTest, OptionsMakeAnotherTaskWhoseNameTellsThem) {
  const auto name = [](const std::vector<std::string>& overrides) {
    return MakeTask(LoadEvaluationConfig("", overrides), nullptr).spec.name;
  };
  EXPECT_EQ(name({"environment=Hopper-v5", "environment_options.frame_skip=2",
                  "environment_options.healthy_z_range=[0.8, 2]"}),
            "Hopper-v5:frame_skip=2:healthy_z_range=[0.8,2]");
  EXPECT_EQ(name({"environment=Hopper-v5", "environment_options={frame_skip: 4}"}), "Hopper-v5");
  EXPECT_THAT(
      [&] {
        name({"environment=Reacher", "environment_options.healthy_reward=2"});
      },
      ThrowsMessage<ConfigError>(
          AllOf(HasSubstr("Reacher: has no option"), HasSubstr("reward_dist_weight"))));
  EXPECT_THAT([&] { name({"environment_options.frame_skip=fast"}); },
              ThrowsMessage<ConfigError>(HasSubstr("environment_options.frame_skip")));
  EXPECT_THAT([&] { name({"environment_options=2"}); },
              ThrowsMessage<ConfigError>(HasSubstr("a map of options")));
}

TEST_F(SourcesTest, OptionsAreWrittenSoThatTheyReadTheSame) {
  const EvaluationConfig config = LoadEvaluationConfig(
      "", {"environment=Hopper", "environment_options={frame_skip: 2, healthy_z_range: [0.8, 2]}"});
  const std::string path = dir_ / "config.yaml";
  WriteFileAtomically(path, DumpConfig(config));
  EXPECT_EQ(LoadEvaluationConfig(path, {}).EnvironmentName(),
            "Hopper:frame_skip=2:healthy_z_range=[0.8,2]");
  EXPECT_EQ(CanonicalText(LoadEvaluationConfig(path, {})), CanonicalText(config));
}

TEST_F(SourcesTest, AVariantSharesNoPolicyWithItsTask) {
  const auto policies = [&](const std::string& environment) {
    config_.environment = environment;
    task_ = MakeTask(config_, nullptr);
    config_.policies.behavior_steps = config_.policies.evaluation_steps = 8;
    config_.policies.ppo.rollout_steps = 8;
    config_.policies.ppo.minibatches = 1;
    MakePolicies(Context());
    return Computed().size();
  };
  EXPECT_EQ(policies("Swimmer"), 1u);
  EXPECT_EQ(policies("Swimmer-v4:ctrl_cost_weight=1e-4"), 1u);
  EXPECT_EQ(policies("Swimmer:ctrl_cost_weight=1e-3"), 2u);
  EXPECT_EQ(policies("Swimmer:frame_skip=5"), 3u);
}

TEST_F(SourcesTest, TheTaskOfALogAloneHasItsSizesAndItsName) {
  config_.environment = kNoEnvironment;
  log_.log.aux = MatrixF::Zero(log_.log.steps(), 2);
  Task task = MakeTask(config_, &log_);
  EXPECT_EQ(task.env, nullptr);
  EXPECT_EQ(task.spec.name, "an unknown environment");
  EXPECT_EQ(task.spec.obs_dim, 2);
  EXPECT_EQ(task.spec.action_dim, 1);
  EXPECT_THAT(task.spec.aux_names, ElementsAre("aux_0", "aux_1"));
  EXPECT_EQ(task.spec.max_episode_steps, kSmallSteps);
  log_.environment = "Mine-v0";
  EXPECT_EQ(MakeTask(config_, &log_).spec.name, "Mine-v0");
}

TEST_F(SourcesTest, BoundsAreThoseThatTheActionsShowUnlessTheyAreGiven) {
  config_.environment = kNoEnvironment;
  // two rows at an extreme show a bound, one does not
  MatrixF& actions = log_.log.actions;
  actions = actions.cwiseMax(-0.9f).cwiseMin(0.9f);
  actions(0, 0) = actions(1, 0) = -1.0f;
  actions(2, 0) = 1.5f;
  Task task = MakeTask(config_, &log_);
  EXPECT_EQ(task.spec.action_low, VectorD{{-1.0}});
  EXPECT_EQ(task.spec.action_high, VectorD{{HUGE_VAL}});
  config_.task.action_low = {-2.5};
  config_.task.action_high = {2.0};
  task = MakeTask(config_, &log_);
  EXPECT_EQ(task.spec.action_low, VectorD{{-2.5}});
  EXPECT_EQ(task.spec.action_high, VectorD{{2.0}});
}

TEST_F(SourcesTest, AsManyBoundsAreNeededAsActionsHaveDimensions) {
  config_.environment = kNoEnvironment;
  config_.task.action_low = {-1.0, -1.0, -1.0};
  EXPECT_THAT([&] { MakeTask(config_, &log_); },
              ThrowsMessage<ConfigError>(
                  AllOf(HasSubstr("task.action_low: 3 values"), HasSubstr("have 1 dimensions"))));
  config_.task.action_low = {};
  config_.task.action_high = {1.0, 1.0};
  EXPECT_THAT([&] { MakeTask(config_, &log_); },
              ThrowsMessage<ConfigError>(HasSubstr("task.action_high: 2 values")));
}

// ---- the log of a file

TEST_F(SourcesTest, TheHashOfALogChangesWithAllThatDecidesWhatIsReadOfIt) {
  const std::string path = dir_ / "log.npz";
  SaveLog(SwimmerLog(), path, {.environment = "Swimmer"});
  const LogOptions options{.file = path, .map = ""};
  const LogSource log = ReadLogFile(options, kNoEnvironment, 0);
  EXPECT_EQ(log.environment, "Swimmer");
  EXPECT_EQ(log.discrete_actions, 0);
  EXPECT_EQ(ReadLogFile(options, kNoEnvironment, 0).hash, log.hash);
  EXPECT_EQ(ReadLogFile(options, "", 0).hash, log.hash);

  LogOptions fewer = options;
  fewer.max_transitions = 10;
  std::vector<std::string> hashes = {log.hash, ReadLogFile(options, kNoEnvironment, 1).hash,
                                     ReadLogFile(options, "Swimmer", 0).hash,
                                     ReadLogFile(fewer, kNoEnvironment, 0).hash};
  SaveLog(SwimmerLog(4), path);
  hashes.push_back(ReadLogFile(options, kNoEnvironment, 0).hash);
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::adjacent_find(hashes.begin(), hashes.end()), hashes.end());
  EXPECT_EQ(ReadLogFile(fewer, kNoEnvironment, 0).log.steps(), 10);
}

TEST_F(SourcesTest, TheHashOfALogChangesWithTheMapThatItIsReadBy) {
  const std::string path = dir_ / "d4rl.npz";
  FlatArrays(SwimmerLog()).Write(path);
  const LogSource known = ReadLogFile({.file = path, .map = ""}, kNoEnvironment, 0);
  const LogSource mapped = ReadLogFile(
      {.file = path,
       .map = "obs=observations,next_obs=next_observations,action=actions,reward=rewards,"
              "terminal=terminals,timeout=timeouts"},
      kNoEnvironment, 0);
  ExpectSameLog(mapped.log, known.log);
  EXPECT_NE(mapped.hash, known.hash);
}

TEST_F(SourcesTest, AMinariDirectoryIsReadAndItsMetadataIsInTheHash) {
  const std::string path = dir_ / "set";
  const auto writer = CreateLog(path, LogFormat::kMinari, {});
  const EpisodeBatch written = SwimmerLog();
  writer->Append(written);
  writer->Finish();
  const LogOptions options{.file = path, .map = ""};
  const LogSource log = ReadLogFile(options, kNoEnvironment, 0);
  EXPECT_EQ(log.log.rewards, written.rewards);
  WriteFileAtomically(path + "/data/metadata.json", "{}");
  EXPECT_NE(ReadLogFile(options, kNoEnvironment, 0).hash, log.hash);
}

TEST_F(SourcesTest, PositionsInTheFileGiveTheDisplacementOfAnEnvironmentThatNeedsIt) {
  const EpisodeBatch log = SwimmerLog();
  const double step_seconds = FindEnv("Swimmer")->spec().step_seconds;
  NpzFile arrays = FlatArrays(log);
  MatrixF positions(log.steps(), 1);
  float x = 0.0f;
  for (std::int64_t i = 0; i < log.steps(); ++i) {
    positions(i, 0) = x;
    x += log.aux(i, 0) * static_cast<float>(step_seconds);
  }
  arrays.Put("infos/qpos", positions);
  const std::string path = dir_ / "d4rl.hdf5";
  WriteHdf5(arrays, path);
  const LogOptions options{.file = path, .map = ""};
  EXPECT_EQ(ReadLogFile(options, kNoEnvironment, 0).log.aux_dim(), 0);
  const LogSource known = ReadLogFile(options, "Swimmer", 0);
  ASSERT_EQ(known.log.aux_dim(), 1);
  EXPECT_NEAR(known.log.aux(0, 0), log.aux(0, 0), 1e-4);
  EXPECT_NEAR(known.log.aux(1, 0), log.aux(1, 0), 1e-4);
}

TEST_F(SourcesTest, TheDisplacementIsRecoveredFromLoggedRewards) {
  const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
  const Task task{env->spec(), env};
  const EpisodeBatch whole = SwimmerLog();
  LogSource log{.log = whole, .hash = "log"};
  log.log.aux.resize(whole.steps(), 0);
  FitLogToTask(task, "log.npz", log);
  ASSERT_EQ(log.log.aux_dim(), 1);
  EXPECT_LT((log.log.aux - whole.aux).cwiseAbs().maxCoeff(), 1e-5);

  // how far it is from the mean of the velocities before and after
  std::vector<double> squares;
  for (std::int64_t e = 0; e < whole.episodes(); ++e) {
    for (std::int64_t t = 0; t < whole.Length(e); ++t) {
      const Eigen::Index row = whole.ObservationRow(e, t);
      const auto velocity = [&](Eigen::Index i) -> double { return whole.observations(i, 3); };
      const double mean = 0.5 * (velocity(row) + velocity(row + 1));
      squares.push_back(
          std::pow(whole.aux(whole.offsets[static_cast<std::size_t>(e)] + t, 0) - mean, 2));
    }
  }
  const double rms = std::sqrt(Mean(squares));
  EXPECT_GT(rms, 0.0);
  EXPECT_THAT(log.notes, ElementsAre(AllOf(HasSubstr("recovered from the logged rewards"),
                                           HasSubstr(fmt::format("velocity by {:.3g} (", rms)))));
}

TEST_F(SourcesTest, WhatObservationsDoNotTellIsRecoveredWhateverItsWeight) {
  for (const char* name :
       {"Swimmer:forward_reward_weight=3", "Humanoid-v5", "InvertedDoublePendulum",
        "Ant-v5:include_cfrc_ext_in_observation=false"}) {
    const std::shared_ptr<const EnvFactory> env = FindEnv(name);
    const EnvSpec& spec = env->spec();
    const EpisodeBatch whole =
        CollectEpisodes(*env, ConstantPolicy(0.0, 0.1, spec.obs_dim, spec.action_dim),
                        {.episodes = 2, .horizon = 10, .seed = 2, .purpose = "log"});
    ASSERT_EQ(whole.aux_dim(), 1) << name;
    LogSource log{.log = whole, .hash = "log"};
    log.log.aux.resize(whole.steps(), 0);
    FitLogToTask({spec, env}, "log.npz", log);
    EXPECT_LT((log.log.aux - whole.aux).cwiseAbs().maxCoeff(), 1e-4) << name;
    EXPECT_THAT(log.notes, SizeIs(1));
  }
}

TEST_F(SourcesTest, ALogThatNeedsNoDisplacementStaysAsItIs) {
  const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
  const EpisodeBatch whole = SwimmerLog();
  LogSource with_aux{.log = whole, .hash = "log"};
  FitLogToTask({env->spec(), env}, "log.npz", with_aux);
  ExpectSameLog(with_aux.log, whole);
  EXPECT_THAT(with_aux.notes, IsEmpty());

  const EpisodeBatch before = log_.log;
  FitLogToTask(task_, "log.npz", log_);
  ExpectSameLog(log_.log, before);
  EXPECT_THAT(log_.notes, IsEmpty());
}

TEST_F(SourcesTest, ALogOfOtherSizesThanTheTasksIsRefused) {
  const std::shared_ptr<const EnvFactory> env = FindEnv("Swimmer");
  EXPECT_THAT(
      [&] {
        FitLogToTask({env->spec(), env}, "mine.npz", log_);
      },
      ThrowsMessage<DataError>(AllOf(HasSubstr("mine.npz"), HasSubstr("Swimmer has 8"))));
}

// ---- policies

TEST_F(SourcesTest, PolicyFilesOfTheSameNameAreNumbered) {
  config_.policies.pair = PolicyPair::kFiles;
  config_.policies.evaluation_files = {SavedPolicy("a/ppo.npz", 0.1), SavedPolicy("b/ppo.npz", 0.2),
                                       SavedPolicy("ppo_2.npz", 0.3), SavedPolicy("c/ppo.npz", 0.4),
                                       SavedPolicy("other.npz", 0.5)};
  const PolicySet set = MakePolicies(Context());
  std::vector<std::string> labels;
  for (const PolicySource& policy : set.evaluations) labels.push_back(policy.label);
  EXPECT_THAT(labels, ElementsAre("ppo", "ppo_2", "ppo_2_2", "ppo_3", "other"));
  EXPECT_FALSE(set.behavior);
  EXPECT_EQ(set.evaluations[3].path, dir_ / "c/ppo.npz");
  EXPECT_EQ(set.evaluations[3].hash, PolicyHash(dir_ / "c/ppo.npz"));
}

TEST_F(SourcesTest, AGivenBehaviorPolicyIsLabeledSo) {
  config_.policies.pair = PolicyPair::kFiles;
  config_.policies.behavior_file = SavedPolicy("mine.npz", 0.1);
  config_.policies.evaluation_files = {SavedPolicy("new.npz", 0.2)};
  const PolicySet set = MakePolicies(Context());
  ASSERT_TRUE(set.behavior);
  EXPECT_EQ(set.behavior->label, "behavior");
  EXPECT_EQ(set.behavior->path, dir_ / "mine.npz");
}

TEST_F(SourcesTest, WithoutNoiseEvaluatedPoliciesAreOthersAndTheBehaviorPolicyIsNot) {
  config_.policies.pair = PolicyPair::kFiles;
  config_.policies.behavior_file = SavedPolicy("mine.npz", 0.1);
  config_.policies.evaluation_files = {SavedPolicy("new.npz", 0.2)};
  const std::string noisy = MakePolicies(Context()).evaluations[0].hash;
  config_.policies.mean = true;
  const PolicySet set = MakePolicies(Context());
  EXPECT_EQ(set.evaluations[0].policy->noise_dim(), 0);
  EXPECT_NE(set.evaluations[0].hash, noisy);
  EXPECT_GT(set.behavior->policy->noise_dim(), 0);
}

TEST_F(SourcesTest, APolicyOfOtherSizesThanTheTasksIsRefused) {
  config_.policies.pair = PolicyPair::kFiles;
  config_.policies.evaluation_files = {SavedPolicy("wide.npz", 0.1, 3)};
  EXPECT_THAT([&] { MakePolicies(Context()); },
              ThrowsMessage<PolicyError>(HasSubstr(kLinearGaussianName)));
}

// The parameters of a policy of this program's own.
VectorF ParametersOf(const PolicySource& source) {
  return dynamic_cast<const GaussianMlpPolicy&>(*source.policy).parameters();
}

TEST_F(SourcesTest, SnapshotsAreOfOneTraining) {
  PolicyPairOptions& pair = config_.policies;
  pair.behavior_steps = 64;
  pair.evaluation_steps = 128;
  pair.seed = 5;
  pair.ppo = {.rollout_steps = 64, .minibatches = 4, .epochs = 1, .hidden = {4}};
  const PolicySet set = MakePolicies(Context());
  EXPECT_THAT(Computed(), ElementsAre("policy"));
  PpoOptions options;
  static_cast<PpoHyperparameters&>(options) = pair.ppo;
  options.total_steps = 128;
  options.snapshots = {64};
  const PpoResult direct = TrainPpo(*env_, options, 5);
  EXPECT_EQ(ParametersOf(*set.behavior), direct.snapshots.at(0).policy.parameters());
  ASSERT_THAT(set.evaluations, SizeIs(1));
  EXPECT_EQ(ParametersOf(set.evaluations[0]), direct.policy.parameters());
  EXPECT_EQ(set.behavior->label, "behavior");
  EXPECT_EQ(set.evaluations[0].label, "evaluation");
  ASSERT_THAT(set.training, SizeIs(1));
  EXPECT_EQ(set.training[0].label, "seed 5");
  EXPECT_THAT(set.training[0].steps, ElementsAre(64, 128));
}

TEST_F(SourcesTest, IndependentPoliciesAreTrainedEachOverItsOwnLengthAndSeed) {
  PolicyPairOptions& pair = config_.policies;
  pair.pair = PolicyPair::kIndependent;
  pair.behavior_steps = 64;
  pair.evaluation_steps = 128;
  pair.seed = 5;
  pair.ppo = {.rollout_steps = 64, .minibatches = 4, .epochs = 1, .hidden = {4}};
  const PolicySet set = MakePolicies(Context());
  EXPECT_THAT(Computed(), ElementsAre("policy", "policy"));
  PpoOptions options;
  static_cast<PpoHyperparameters&>(options) = pair.ppo;
  options.total_steps = 64;
  EXPECT_EQ(ParametersOf(*set.behavior), TrainPpo(*env_, options, 6).policy.parameters());
  options.total_steps = 128;
  EXPECT_EQ(ParametersOf(set.evaluations[0]), TrainPpo(*env_, options, 5).policy.parameters());
  ASSERT_THAT(set.training, SizeIs(2));
  EXPECT_EQ(set.training[0].label, "behavior");
  EXPECT_THAT(set.training[0].steps, ElementsAre(64));
  EXPECT_EQ(set.training[1].label, "evaluation");
  EXPECT_THAT(set.training[1].steps, ElementsAre(64, 128));
}

// ---- the behavior policy of a log

// The arrays that D4RL keeps of a policy: a tanh Gaussian whose mean before the squash is 0.5.
NpzFile D4rlPolicy() {
  NpzFile file;
  const auto put = [&](const std::string& layer, float bias) {
    file.Put("metadata/policy/" + layer + "/weight",
             MatrixF(MatrixF::Zero(1, layer == "fc0" ? 2 : 1)));
    file.Put("metadata/policy/" + layer + "/bias", VectorF(VectorF::Constant(1, bias)));
  };
  put("fc0", 0.0f);
  put("last_fc", 0.5f);
  put("last_fc_log_std", -1.0f);
  file.Put("metadata/policy/nonlinearity", std::string("relu"));
  file.Put("metadata/policy/output_distribution", std::string("tanh_gaussian"));
  return file;
}

TEST_F(SourcesTest, ThePolicyInsideALogsFileIsTheOneThatWroteIt) {
  const std::string path = dir_ / "log.hdf5";
  WriteHdf5(D4rlPolicy(), path);
  config_.log.file = path;
  const PolicySource behavior = FindBehavior(Context(), log_);
  EXPECT_EQ(behavior.label, "behavior (in the log's file)");
  EXPECT_EQ(behavior.path, path);
  MatrixF action(1, 1);
  behavior.policy->Mean(MatrixF::Ones(1, 2), std::vector<std::int64_t>{0}, action);
  EXPECT_NEAR(action(0, 0), std::tanh(0.5), 1e-6);
  EXPECT_THAT(Computed(), IsEmpty());
}

class ClonedBehavior : public SourcesTest {
 protected:
  ClonedBehavior() {
    config_.back_test.cloning.network.width = 8;
    config_.back_test.cloning.fit.steps = 20;
    config_.log.file = dir_ / "log.npz";
    SaveLog(log_.log, config_.log.file);
  }
};

TEST_F(ClonedBehavior, IsFittedOnceWhereTheFileHoldsNoPolicy) {
  const PolicySource behavior = FindBehavior(Context(), log_);
  EXPECT_EQ(behavior.label, "behavior (cloned)");
  EXPECT_EQ(behavior.policy->obs_dim(), 2);
  EXPECT_EQ(behavior.policy->discrete_actions(), 0);
  EXPECT_EQ(FindBehavior(Context(), log_).hash, behavior.hash);
  EXPECT_THAT(Computed(), ElementsAre("behavior_clone"));
}

TEST_F(ClonedBehavior, OfDiscreteActionsChoosesAmongThem) {
  const std::int64_t steps = log_.log.steps();
  log_.log.actions = MatrixF::Zero(steps, 3);
  for (std::int64_t i = 0; i < steps; ++i) log_.log.actions(i, i % 3) = 1.0f;
  log_.discrete_actions = 3;
  config_.environment = kNoEnvironment;
  task_ = MakeTask(config_, &log_);
  EXPECT_EQ(FindBehavior(Context(), log_).policy->discrete_actions(), 3);
}

TEST_F(ClonedBehavior, IsFittedAgainForOtherBoundsAndSeeds) {
  FindBehavior(Context(), log_);
  config_.seed = 1;
  FindBehavior(Context(), log_);
  task_.spec.action_low = VectorD{{-1.0}};
  FindBehavior(Context(), log_);
  task_.spec.action_high = VectorD{{1.0}};
  FindBehavior(Context(), log_);
  EXPECT_THAT(Computed(), Contains("behavior_clone").Times(4));
}

// ---- log and truth of an environment

TEST_F(SourcesTest, ACollectedLogIsThatOfTheBehaviorPolicyUpToTheHorizon) {
  config_.log.episodes = 11;
  config_.value.horizon = 4;
  config_.seed = 3;
  const LogSource log = CollectLog(Context(), behavior_);
  ExpectSameLog(log.log,
                CollectEpisodes(*env_, *behavior_.policy,
                                {.episodes = 11, .horizon = 4, .seed = 3, .purpose = "log"}));
  config_.seed = 4;
  EXPECT_NE(CollectLog(Context(), behavior_).hash, log.hash);
}

TEST_F(SourcesTest, TheTruthIsInTheScaleOfTheEstimand) {
  const PolicySource policy = ConstantSource("policy", 0.5, 0.001);
  config_.value.discount = 0.5;
  const MonteCarloEstimate sum = MakeTruth(Context(), policy);
  // 0.5 * (1 + 1/2 + 1/4 + 1/8 + 1/16)
  EXPECT_NEAR(sum.value, 0.5 * 1.9375, 1e-3);
  EXPECT_EQ(sum.episodes, config_.truth.episodes);
  config_.value.scale = ValueScale::kNormalized;
  const MonteCarloEstimate mean = MakeTruth(Context(), policy);
  EXPECT_NEAR(mean.value, sum.value / 1.9375, 1e-12);
  EXPECT_NEAR(mean.standard_error, sum.standard_error / 1.9375, 1e-12);
  // the scale is no reason to measure it again
  EXPECT_THAT(Computed(), ElementsAre("truth"));
}

}  // namespace
}  // namespace lfiw::experiments
