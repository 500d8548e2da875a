#include "core/logs/log_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/core/logs/log_samples.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

// 30 episodes of 5 to 9 steps, every second one terminated; nothing wrong with it.
EpisodeBatch GoodLog() {
  std::vector<std::int64_t> lengths;
  for (std::int64_t e = 0; e < 30; ++e) lengths.push_back(5 + e % 5);
  EpisodeBatch log = SampleLog(lengths);
  for (std::int64_t i = 0; i < log.steps(); ++i) {
    log.behavior_log_density.push_back(-0.01 * static_cast<double>(i));
  }
  return log;
}

AuditReport Audit(const EpisodeBatch& log, const LogInfo& info = {}, const LogCounts& counts = {}) {
  LogAuditor auditor;
  auditor.Add(log);
  return auditor.Finish(info, counts);
}

auto Is(Severity severity, const std::string& code) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code));
}

TEST(LogAudit, AGoodLogHasNoFindings) { EXPECT_THAT(Audit(GoodLog()).findings, IsEmpty()); }

TEST(LogAudit, StatisticsAreThoseOfTheSlowFormula) {
  EpisodeBatch log = SampleLog({1, 3});
  const AuditReport report = Audit(log);
  EXPECT_EQ(report.episodes, 2);
  EXPECT_EQ(report.steps, 4);
  EXPECT_EQ(report.terminated, 1);
  EXPECT_THAT(report.returns, ElementsAre(0.0, 33.0));
  EXPECT_EQ(report.return_distribution.mean, 16.5);
  EXPECT_NEAR(report.return_distribution.deviation, 33.0 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(report.length_distribution.median, 2.0);
  // rewards 0, 10, 11, 12
  EXPECT_EQ(report.reward.mean, 8.25);
  EXPECT_NEAR(report.reward.deviation, std::sqrt(92.75 / 3.0), 1e-12);
  EXPECT_EQ(report.observations[0].max, 103.0);
  EXPECT_EQ(report.observations[1].min, -3.0);
}

TEST(LogAudit, BatchesDoNotChangeTheReport) {
  const EpisodeBatch log = GoodLog();
  const AuditReport whole = Audit(log);
  LogAuditor auditor;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t episode[] = {e};
    auditor.Add(SelectEpisodes(log, episode));
  }
  const AuditReport parts = auditor.Finish({}, {});
  EXPECT_EQ(parts.returns, whole.returns);
  EXPECT_EQ(parts.observations[0].mean, whole.observations[0].mean);
  EXPECT_EQ(parts.observations[0].deviation, whole.observations[0].deviation);
}

TEST(LogAudit, ALargeOffsetDoesNotSpoilTheDeviation) {
  EpisodeBatch log = GoodLog();
  log.rewards.assign(log.rewards.size(), 1e9);
  for (std::size_t i = 0; i < log.rewards.size(); i += 2) log.rewards[i] = 1e9 + 2.0;
  EXPECT_NEAR(Audit(log).reward.deviation, 1.0, 0.01);
}

TEST(LogAudit, NotANumberIsAnErrorThatNamesTheFirst) {
  EpisodeBatch log = GoodLog();
  log.rewards[6] = std::nan("");
  log.actions(20, 0) = INFINITY;
  const AuditReport report = Audit(log);
  ASSERT_THAT(report.findings, Contains(Is(Severity::kError, "not_finite")));
  EXPECT_THAT(report.findings[0].text,
              AllOf(HasSubstr("2 values"), HasSubstr("reward of episode 1, step 1")));
  EXPECT_TRUE(std::isfinite(report.return_distribution.mean));
}

TEST(LogAudit, ConstantAndRepeatedDimensionsAreListed) {
  EpisodeBatch log = GoodLog();
  const MatrixF narrow = log.observations;
  log.observations.resize(narrow.rows(), 4);
  log.observations << narrow, MatrixF::Constant(narrow.rows(), 1, 7.0f), narrow.col(1);
  const AuditReport report = Audit(log);
  EXPECT_THAT(report.constant_dims, ElementsAre(2));
  EXPECT_THAT(report.duplicate_dims, ElementsAre(Pair(1, 3)));
  EXPECT_THAT(report.findings, ElementsAre(Is(Severity::kNote, "constant_observation"),
                                           Is(Severity::kNote, "duplicate_observation")));
}

TEST(LogAudit, OneActionAloneIsAnErrorAndSoAreRewardsThatAreAll0) {
  EpisodeBatch log = GoodLog();
  log.actions.setConstant(0.5f);
  log.rewards.assign(log.rewards.size(), 0.0);
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kError, "constant_action"),
                                               Is(Severity::kError, "no_reward")));
}

TEST(LogAudit, TerminalsAtTheLongestLengthSmellOfTimeouts) {
  EpisodeBatch log = GoodLog();
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    log.terminated[static_cast<std::size_t>(e)] = log.Length(e) == 9 ? 1 : 0;
  }
  // and those that are cut are all shorter
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kError, "flags_swapped"),
                                               Is(Severity::kWarning, "terminal_at_limit")));
  log.terminated.assign(30, 0);
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kWarning, "no_terminals")));
}

TEST(LogAudit, WhatTheReaderCountedBecomesFindings) {
  LogCounts counts;
  counts.continuity_checked = 100;
  counts.continuity_broken = 3;
  counts.first_broken = "episode 2, step 1";
  counts.cut_episodes = 4;
  counts.both_flags = 1;
  LogInfo info;
  info.notes = {"a decision"};
  EXPECT_THAT(
      Audit(GoodLog(), info, counts).findings,
      ElementsAre(Is(Severity::kError, "not_continuous"), Is(Severity::kWarning, "cut_by_guess"),
                  Is(Severity::kNote, "both_flags"), Is(Severity::kNote, "reader")));
}

TEST(LogAudit, BehaviorDensitiesAreChecked) {
  EpisodeBatch log = GoodLog();
  LogInfo discrete;
  discrete.discrete_actions = 1;
  log.behavior_log_density[3] = 2.0;
  EXPECT_THAT(Audit(log).findings, IsEmpty());
  EXPECT_THAT(Audit(log, discrete).findings,
              ElementsAre(Is(Severity::kError, "probability_above_one")));
  log.behavior_log_density[3] = -INFINITY;
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kError, "impossible_action")));
  log.behavior_log_density.assign(log.behavior_log_density.size(), -1.0);
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kWarning, "constant_density")));
  EXPECT_THAT(Audit(log, discrete).findings, IsEmpty());
  log.behavior_log_density.clear();
  EXPECT_THAT(Audit(log).findings, ElementsAre(Is(Severity::kNote, "no_behavior_density")));
}

TEST(LogAudit, FewOrNoEpisodesAndSingleStepsAreSaid) {
  EXPECT_THAT(Audit(SampleLog({2, 3})).findings, Contains(Is(Severity::kWarning, "few_episodes")));
  EXPECT_THAT(Audit(SampleLog({1, 1})).findings,
              AllOf(Contains(Is(Severity::kWarning, "single_steps")),
                    Not(Contains(Is(Severity::kWarning, "terminal_at_limit")))));
  EXPECT_THAT(LogAuditor().Finish({}, {}).findings, ElementsAre(Is(Severity::kError, "empty")));
}

}  // namespace
}  // namespace lfiw::core
