#include "experiments/evaluation/env_audit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "envs/env.h"
#include "envs/env_registry.h"

namespace lfiw::experiments {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

// Random actions in a real environment.
EpisodeBatch Roll(const EnvFactory& env, std::int64_t episodes, std::int64_t horizon) {
  EpisodeBatch log;
  const EnvSpec& spec = env.spec();
  std::vector<float> observations, actions, aux;
  const auto append = [](const std::vector<double>& from, std::vector<float>& to) {
    for (const double value : from) to.push_back(static_cast<float>(value));
  };
  for (std::int64_t e = 0; e < episodes; ++e) {
    Stream stream(1, "roll", {static_cast<std::uint64_t>(e)});
    const auto instance = env.Make();
    std::vector<double> observation(static_cast<std::size_t>(spec.obs_dim));
    std::vector<double> extra(static_cast<std::size_t>(spec.aux_dim()));
    instance->Reset(stream, observation);
    append(observation, observations);
    StepResult result;
    std::int64_t t = 0;
    for (; t < horizon && !result.terminated; ++t) {
      std::vector<double> action(static_cast<std::size_t>(spec.action_dim));
      for (double& value : action) value = stream.Uniform(-0.4, 0.4);
      result = instance->Step(action, observation, extra);
      append(observation, observations);
      append(action, actions);
      append(extra, aux);
      log.rewards.push_back(result.reward);
    }
    log.offsets.push_back(log.offsets.back() + t);
    log.terminated.push_back(result.terminated ? 1 : 0);
  }
  const std::int64_t steps = log.steps();
  log.observations = Eigen::Map<const MatrixF>(observations.data(), steps + episodes, spec.obs_dim);
  log.actions = Eigen::Map<const MatrixF>(actions.data(), steps, spec.action_dim);
  log.aux = Eigen::Map<const MatrixF>(aux.data(), steps, spec.aux_dim());
  return log;
}

AuditReport Audit(const std::shared_ptr<const EnvFactory>& env, const EpisodeBatch& log) {
  LogAuditor auditor;
  auditor.Add(log);
  AuditReport report = auditor.Finish({}, {});
  report.findings.clear();
  EnvAuditor env_auditor(env);
  env_auditor.Add(log);
  env_auditor.Finish(report);
  return report;
}

auto Is(Severity severity, const std::string& code) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code));
}

TEST(EnvAudit, ALogOfTheEnvironmentItselfAgrees) {
  for (const char* name : {"HalfCheetah", "Swimmer", "Hopper", "Walker2d"}) {
    const auto env = FindEnv(name);
    EXPECT_THAT(Audit(env, Roll(*env, 5, 60)).findings,
                ElementsAre(Is(Severity::kNote, "reward_agrees")))
        << name;
  }
}

TEST(EnvAudit, ALogOfAnyVersionOfAnyTaskAgrees) {
  for (const std::string& name : EnvNames()) {
    const auto env = FindEnv(name);
    EXPECT_THAT(Audit(env, Roll(*env, 2, 12)).findings,
                ElementsAre(Is(Severity::kNote, "reward_agrees")))
        << name;
  }
}

TEST(EnvAudit, RewardsOfAnotherVersionAreNamed) {
  const std::vector<std::array<const char*, 2>> versions = {
      {"Hopper", "Hopper-v5"},
      {"Hopper-v5", "Hopper"},
      {"Walker2d", "Walker2d-v5"},
      {"Pusher-v5", "Pusher"},
      {"InvertedPendulum", "InvertedPendulum-v5"}};
  for (const auto& [named, real] : versions) {
    const auto env = FindEnv(real);
    const std::int64_t steps = env->spec().max_episode_steps / 2;
    const AuditReport report = Audit(FindEnv(named), Roll(*env, 5, steps));
    ASSERT_THAT(report.findings, ElementsAre(Is(Severity::kWarning, "environment_version")))
        << named;
    EXPECT_THAT(report.findings[0].text,
                HasSubstr(fmt::format("rewards are those of {} rather than {}'s", real, named)));
    EXPECT_EQ(report.findings[0].cure, fmt::format("use --env {}", real));
  }
}

TEST(EnvAudit, AVersionThatHasTheSizesOfTheLogIsNamed) {
  const AuditReport report = Audit(FindEnv("Ant"), Roll(*FindEnv("Ant-v2"), 2, 10));
  ASSERT_THAT(report.findings, ElementsAre(Is(Severity::kError, "wrong_environment")));
  EXPECT_THAT(report.findings[0].text, HasSubstr("observations have 111 columns, Ant has 27"));
  EXPECT_EQ(report.findings[0].cure, "use --env Ant-v2");
}

TEST(EnvAudit, EndsThatAreNotRecordedAreNotCompared) {
  const auto env = FindEnv("Hopper");
  EpisodeBatch log = Roll(*env, 5, 100);
  log.end_unrecorded = log.terminated;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    if (!log.EndRecorded(e)) log.observations.row(log.ObservationRow(e, log.Length(e))).setZero();
  }
  ASSERT_FALSE(log.EndRecorded(0) && log.EndRecorded(1) && log.EndRecorded(2));
  EXPECT_THAT(Audit(env, log).findings, ElementsAre(Is(Severity::kNote, "reward_agrees")));
}

TEST(EnvAudit, WithoutDisplacementTheVelocitiesStandIn) {
  const auto env = FindEnv("HalfCheetah");
  EpisodeBatch log = Roll(*env, 5, 60);
  log.aux.resize(log.steps(), 0);
  const AuditReport report = Audit(env, log);
  ASSERT_THAT(report.findings, ElementsAre(Is(Severity::kNote, "reward_agrees")))
      << report.findings[0].text;
  EXPECT_THAT(report.findings[0].text, HasSubstr("velocity from observations"));
}

TEST(EnvAudit, RewardsShiftedByOneStepAreAnError) {
  const auto env = FindEnv("HalfCheetah");
  for (const bool late : {true, false}) {
    EpisodeBatch log = Roll(*env, 5, 60);
    for (std::int64_t e = 0; e < log.episodes(); ++e) {
      const auto first = log.rewards.begin() + log.offsets[static_cast<std::size_t>(e)];
      const auto last = log.rewards.begin() + log.offsets[static_cast<std::size_t>(e) + 1];
      std::rotate(first, late ? last - 1 : first + 1, last);
    }
    const AuditReport report = Audit(env, log);
    ASSERT_THAT(report.findings, ElementsAre(Is(Severity::kError, "reward_shifted")));
    EXPECT_THAT(report.findings[0].text, HasSubstr(late ? "too late" : "too early"));
  }
}

TEST(EnvAudit, ScaledRewardsDiffer) {
  const auto env = FindEnv("HalfCheetah");
  EpisodeBatch log = Roll(*env, 5, 60);
  for (double& reward : log.rewards) reward *= 3.0;
  EXPECT_THAT(Audit(env, log).findings, ElementsAre(Is(Severity::kWarning, "reward_differs")));
}

TEST(EnvAudit, WrongEndsAreFound) {
  const auto env = FindEnv("Hopper");
  EpisodeBatch log = Roll(*env, 5, 500);
  ASSERT_THAT(log.terminated, Contains(1));
  const std::vector<std::uint8_t> right = log.terminated;
  std::fill(log.terminated.begin(), log.terminated.end(), 0);
  EXPECT_THAT(Audit(env, log).findings, Contains(Is(Severity::kWarning, "missed_terminal")));
  const auto cheetah = FindEnv("HalfCheetah");
  EpisodeBatch never = Roll(*cheetah, 2, 10);
  never.terminated = {1, 1};
  EXPECT_THAT(Audit(cheetah, never).findings, Contains(Is(Severity::kError, "false_terminal")));
}

TEST(EnvAudit, ActionsOutsideTheBoundsNameTheFirst) {
  const auto env = FindEnv("HalfCheetah");
  EpisodeBatch log = Roll(*env, 2, 20);
  log.actions(23, 1) = 1.5f;
  const AuditReport report = Audit(env, log);
  ASSERT_THAT(report.findings, Contains(Is(Severity::kWarning, "action_outside")));
  EXPECT_THAT(report.findings[0].text, HasSubstr("episode 1, step 3"));
}

TEST(EnvAudit, AnotherEnvironmentsSizesAreAnErrorAndEndTheComparison) {
  const AuditReport report = Audit(FindEnv("Swimmer"), Roll(*FindEnv("HalfCheetah"), 2, 10));
  ASSERT_THAT(report.findings, ElementsAre(Is(Severity::kError, "wrong_environment")));
  EXPECT_THAT(report.findings[0].text, HasSubstr("observations have 17 columns, Swimmer has 8"));
}

}  // namespace
}  // namespace lfiw::experiments
