#include "core/logs/cut_audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/rng.h"

namespace lfiw::core {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

// Random walks in two dimensions of 20 steps; `ends` says at which states one ends before. Marked
// as terminated or as cut.
EpisodeBatch CutWalks(const std::function<bool(float, Stream&)>& ends, bool terminated) {
  EpisodeBatch log;
  Stream stream(1, "walks");
  std::vector<float> rows;
  for (int e = 0; e < 150; ++e) {
    float x = 0.0f, y = 0.0f;
    std::int64_t length = 0;
    bool ended = false;
    while (length < 20 && !ended) {
      rows.insert(rows.end(), {x, y});
      x += 0.3f * static_cast<float>(stream.Normal());
      y += 0.3f * static_cast<float>(stream.Normal());
      ended = ends(x, stream);
      ++length;
    }
    rows.insert(rows.end(), {x, y});
    log.offsets.push_back(log.offsets.back() + length);
    log.terminated.push_back(ended && terminated ? 1 : 0);
  }
  log.observations = Eigen::Map<MatrixF>(rows.data(), std::ssize(rows) / 2, 2);
  log.actions.setZero(log.steps(), 1);
  log.aux.resize(log.steps(), 0);
  log.rewards.assign(static_cast<std::size_t>(log.steps()), 1.0);
  return log;
}

std::vector<Finding> CutFindings(const EpisodeBatch& log) {
  CutAuditor auditor;
  auditor.Add(log);
  return auditor.Findings();
}

auto CutFinding(Severity severity, const std::string& code) {
  return AllOf(Field(&Finding::severity, severity), Field(&Finding::code, code));
}

const auto kFall = [](float x, Stream&) { return x > 1.0f; };
const auto kLeave = [](float x, Stream&) { return std::abs(x) > 1.0f; };
const auto kByChance = [](float, Stream& stream) { return stream.Uniform() < 0.05; };

TEST(CutAudit, FindsEndsThatAreMarkedAsCuts) {
  EXPECT_THAT(CutFindings(CutWalks(kFall, false)),
              ElementsAre(CutFinding(Severity::kError, "cut_by_state")));
  // on both sides
  EXPECT_THAT(CutFindings(CutWalks(kLeave, false)),
              ElementsAre(CutFinding(Severity::kError, "cut_by_state")));
}

TEST(CutAudit, FindsNothingWhereEndsAreEndsOrCutsAreChance) {
  EXPECT_THAT(CutFindings(CutWalks(kFall, true)), IsEmpty());
  EXPECT_THAT(CutFindings(CutWalks(kByChance, false)), IsEmpty());
  EXPECT_THAT(CutFindings(CutWalks(kByChance, true)), IsEmpty());
}

TEST(CutAudit, AnEndThatIsNotRecordedIsJudgedByTheStateBefore) {
  EpisodeBatch log = CutWalks(kFall, false);
  log.end_unrecorded.assign(log.terminated.size(), 1);
  EXPECT_THAT(CutFindings(log), ElementsAre(Field(&Finding::code, "cut_by_state")));
}

TEST(CutAudit, FindsFlagsThatAreExchanged) {
  EpisodeBatch log = CutWalks(kFall, true);
  for (std::uint8_t& flag : log.terminated) flag = 1 - flag;
  EXPECT_THAT(CutFindings(log), ElementsAre(CutFinding(Severity::kError, "flags_swapped")));
}

TEST(CutAudit, AFewCutsSayNothing) {
  EpisodeBatch log = CutWalks(kFall, true);
  int cuts = 0;
  for (std::uint8_t& flag : log.terminated) {
    if (flag != 0 && cuts++ < 4) flag = 0;
  }
  EXPECT_THAT(CutFindings(log), IsEmpty());
}

}  // namespace
}  // namespace lfiw::core
