#include "core/logs/drift_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

constexpr std::int64_t kDriftEpisodes = 100, kDriftSteps = 15;

// s' = 0.9 s + (0, 0.5 a) + noise with the reward 1 - |s'|^2. The policy drifts from one action to
// another, which is no fault.
EpisodeBatch DriftLog() {
  EpisodeBatch log;
  Stream stream(1, "drift");
  log.observations.resize(kDriftEpisodes * (kDriftSteps + 1), 2);
  log.actions.resize(kDriftEpisodes * kDriftSteps, 1);
  log.aux.resize(kDriftEpisodes * kDriftSteps, 0);
  for (std::int64_t e = 0; e < kDriftEpisodes; ++e) {
    log.offsets.push_back((e + 1) * kDriftSteps);
    log.terminated.push_back(0);
    Eigen::RowVector2f s(static_cast<float>(stream.Normal()), static_cast<float>(stream.Normal()));
    log.observations.row(e * (kDriftSteps + 1)) = s;
    for (std::int64_t t = 0; t < kDriftSteps; ++t) {
      const float a = 0.02f * static_cast<float>(e) - 1.0f + static_cast<float>(stream.Normal());
      log.actions(e * kDriftSteps + t, 0) = a;
      s = 0.9f * s + Eigen::RowVector2f(0.05f * static_cast<float>(stream.Normal()), 0.5f * a);
      log.observations.row(e * (kDriftSteps + 1) + t + 1) = s;
      log.rewards.push_back(1.0 - static_cast<double>(s.squaredNorm()) + 0.1 * stream.Normal());
    }
  }
  return log;
}

double ScaleAt(std::int64_t episode) {
  return 1.0 + 3.0 * std::exp(-static_cast<double>(episode) / 30.0);
}

std::vector<Finding> DriftFindings(const EpisodeBatch& log) {
  DriftAuditor auditor;
  auditor.Add(log);
  return auditor.Findings();
}

auto DriftFinding(Severity severity, const std::string& code) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code));
}

TEST(DriftAudit, APolicyThatChangesIsNoDrift) { EXPECT_THAT(DriftFindings(DriftLog()), IsEmpty()); }

TEST(DriftAudit, FindsRewardsThatAreScaledAnewOnTheWay) {
  EpisodeBatch log = DriftLog();
  for (std::int64_t i = 0; i < log.steps(); ++i) {
    log.rewards[static_cast<std::size_t>(i)] /= ScaleAt(i / kDriftSteps);
  }
  EXPECT_THAT(DriftFindings(log), ElementsAre(DriftFinding(Severity::kError, "reward_drifts")));
}

TEST(DriftAudit, FindsObservationsThatAreScaledAnewOnTheWay) {
  EpisodeBatch log = DriftLog();
  for (Eigen::Index i = 0; i < log.observations.rows(); ++i) {
    log.observations.row(i) /= static_cast<float>(ScaleAt(i / (kDriftSteps + 1)));
  }
  EXPECT_THAT(DriftFindings(log),
              ::testing::Contains(DriftFinding(Severity::kError, "dynamics_drift")));
}

TEST(DriftAudit, FindsRewardsOneRowLateThatFitEveryOtherStep) {
  // 1 - |s|^2 of the state before the step, but of the episode before at first
  EpisodeBatch log = DriftLog();
  for (std::int64_t i = 0; i < log.steps(); ++i) {
    const std::int64_t e = i / kDriftSteps, t = i % kDriftSteps;
    const std::int64_t row =
        t > 0 || e == 0 ? log.ObservationRow(e, t) : log.ObservationRow(e - 1, kDriftSteps);
    log.rewards[static_cast<std::size_t>(i)] =
        1.0 - static_cast<double>(log.observations.row(row).squaredNorm());
  }
  EXPECT_THAT(DriftFindings(log), ElementsAre(DriftFinding(Severity::kError, "odd_first_rewards")));
  for (std::int64_t e = 1; e < log.episodes(); ++e) {
    log.rewards[static_cast<std::size_t>(e * kDriftSteps)] =
        1.0 - static_cast<double>(log.observations.row(log.ObservationRow(e, 0)).squaredNorm());
  }
  EXPECT_THAT(DriftFindings(log), IsEmpty());
}

TEST(DriftAudit, SaysNothingOfFewEpisodes) {
  EpisodeBatch log = DriftLog();
  std::vector<std::int64_t> few = {0, 1, 2, 3, 4, 5};
  EXPECT_THAT(DriftFindings(SelectEpisodes(log, few)), IsEmpty());
}

}  // namespace
}  // namespace lfiw::core
