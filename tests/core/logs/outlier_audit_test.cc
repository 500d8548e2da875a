#include "core/logs/outlier_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// 50 episodes of 40 steps: normal numbers, contacts that are mostly 0, and rare rewards.
EpisodeBatch ContactLog() {
  EpisodeBatch log;
  log.observations.resize(50 * 41, 3);
  log.actions.resize(50 * 40, 1);
  log.aux.resize(50 * 40, 0);
  Stream stream(1, "outliers");
  for (Eigen::Index i = 0; i < log.observations.rows(); ++i) {
    const bool contact = stream.Uniform() < 0.004;
    log.observations.row(i) << static_cast<float>(stream.Normal()),
        static_cast<float>(contact ? 80.0 * std::exp(stream.Normal()) : 0.0), 1e6f;
  }
  for (Eigen::Index i = 0; i < log.actions.rows(); ++i) {
    log.actions(i, 0) = static_cast<float>(std::exp(stream.Normal()));
    log.rewards.push_back(stream.Uniform() < 0.002 ? 100.0 : 0.0);
    log.behavior_log_density.push_back(-std::abs(stream.Normal()));
  }
  for (int e = 1; e <= 50; ++e) {
    log.offsets.push_back(40 * e);
    log.terminated.push_back(0);
  }
  return log;
}

std::vector<Finding> OutliersOf(const EpisodeBatch& log) {
  OutlierAuditor auditor;
  auditor.Add(log);
  return auditor.Findings();
}

auto Outlier(Severity severity, const std::string& text) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::text, HasSubstr(text)));
}

TEST(OutlierAudit, HeavyTailsAndRareEventsAreNone) {
  EXPECT_THAT(OutliersOf(ContactLog()), IsEmpty());
  EXPECT_THAT(OutliersOf({}), IsEmpty());
}

TEST(OutlierAudit, OneAbsurdNumberIsNamedWithItsPlace) {
  EpisodeBatch log = ContactLog();
  log.actions(83, 0) = 1e25f;
  EXPECT_THAT(OutliersOf(log),
              ElementsAre(Outlier(Severity::kError, "action[0] is 1e+25 in episode 2, step 3")));
  log = ContactLog();
  log.observations(41 * 7 + 5, 0) = -1e20f;
  EXPECT_THAT(
      OutliersOf(log),
      ElementsAre(Outlier(Severity::kError, "observation[0] is -1e+20 in episode 7, step 5")));
}

TEST(OutlierAudit, AFarNumberIsAWarning) {
  EpisodeBatch log = ContactLog();
  log.rewards[41] = 1e5;
  EXPECT_THAT(OutliersOf(log), ElementsAre(Outlier(Severity::kWarning, "the reward is 100000")));
}

TEST(OutlierAudit, DensitiesMustBePossible) {
  EpisodeBatch log = ContactLog();
  log.behavior_log_density[0] = 1e300;
  log.behavior_log_density[1] = -1e300;
  EXPECT_THAT(OutliersOf(log), ElementsAre(Outlier(Severity::kError, "log-density is -1e+300")));
}

}  // namespace
}  // namespace lfiw::core
