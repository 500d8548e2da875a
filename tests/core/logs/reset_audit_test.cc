#include "core/logs/reset_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/rng.h"

namespace lfiw::core {
namespace {

// Thirty walks of eight small steps from starts that lie far from each other.
EpisodeBatch WalksFromFarStarts() {
  EpisodeBatch log;
  Stream stream(1, "walks from far starts");
  constexpr std::int64_t kWalks = 30, kSteps = 8;
  log.observations.resize(kWalks * (kSteps + 1), 2);
  for (std::int64_t e = 0; e < kWalks; ++e) {
    for (std::int64_t t = 0; t <= kSteps; ++t) {
      const Eigen::Index row = e * (kSteps + 1) + t;
      for (Eigen::Index j = 0; j < 2; ++j) {
        const float before = t > 0 ? log.observations(row - 1, j) : 0.0f;
        const double step = t > 0 ? 0.1 * stream.Normal() : 2.0 * stream.Normal();
        log.observations(row, j) = before + static_cast<float>(step);
      }
    }
    log.offsets.push_back((e + 1) * kSteps);
    log.terminated.push_back(1);
  }
  log.actions.setZero(log.steps(), 1);
  log.aux.resize(log.steps(), 0);
  log.rewards.assign(static_cast<std::size_t>(log.steps()), 1.0);
  return log;
}

// Each last observation becomes the first one of the next walk.
EpisodeBatch WithResets(EpisodeBatch log) {
  for (std::int64_t e = 0; e + 1 < log.episodes(); ++e) {
    log.observations.row(log.ObservationRow(e, log.Length(e))) =
        log.observations.row(log.ObservationRow(e + 1, 0));
  }
  return log;
}

std::optional<Finding> FindingOf(const EpisodeBatch& log) {
  ResetAuditor auditor;
  auditor.Add(log);
  return auditor.Find();
}

TEST(ResetAudit, FindsFirstObservationsInThePlaceOfLastOnes) {
  EXPECT_FALSE(FindingOf(WalksFromFarStarts()));
  const EpisodeBatch log = WithResets(WalksFromFarStarts());
  const std::optional<Finding> found = FindingOf(log);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->severity, Severity::kError);
  EXPECT_EQ(found->code, "reset_as_last_observation");
  EXPECT_THAT(found->text, testing::HasSubstr("of 29 of 29 episodes"));
  // in any batches
  ResetAuditor auditor;
  for (std::int64_t e = 0; e < log.episodes(); ++e) {
    const std::int64_t one[] = {e};
    auditor.Add(SelectEpisodes(log, one));
  }
  EXPECT_TRUE(auditor.Find());
}

TEST(ResetAudit, PiecesOfATrajectoryGoOnWhereTheLastOneEnds) {
  EpisodeBatch log = WalksFromFarStarts();
  for (std::int64_t e = 1; e < log.episodes(); ++e) {
    const auto before = log.observations.row(log.ObservationRow(e - 1, 8)).eval();
    const auto shift = (before - log.observations.row(log.ObservationRow(e, 0))).eval();
    log.observations.middleRows(log.ObservationRow(e, 0), 9).rowwise() += shift;
  }
  EXPECT_FALSE(FindingOf(log));
}

TEST(ResetAudit, EndsThatWereNotRecordedSayNothing) {
  EpisodeBatch log = WithResets(WalksFromFarStarts());
  log.end_unrecorded.assign(static_cast<std::size_t>(log.episodes()), 1);
  EXPECT_FALSE(FindingOf(log));
}

}  // namespace
}  // namespace lfiw::core
