#include "experiments/cli/inspect_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/core/logs/log_samples.h"

namespace lfiw::experiments {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

AuditReport SampleReport(const EpisodeBatch& log) {
  LogInfo info{.format = "D4RL HDF5",
               .environment = "Swimmer",
               .obs_dim = log.obs_dim(),
               .action_dim = log.action_dim()};
  LogCounts counts;
  counts.file_steps = log.steps() + 2;
  LogAuditor auditor;
  auditor.Add(log);
  return auditor.Finish(info, counts);
}

TEST(InspectReport, TextFitsAScreenWhateverTheSize) {
  EpisodeBatch log = SampleLog({3, 2});
  log.observations = MatrixF::Random(7, 376);
  const std::string text = AuditText(SampleReport(log), "log.hdf5");
  EXPECT_THAT(text, AllOf(HasSubstr("log.hdf5: D4RL HDF5, environment Swimmer"),
                          HasSubstr("2 episodes (1 terminated, 1 cut), 5 steps of 7 in the file"),
                          HasSubstr("observation[0..375]"), HasSubstr("warning  2 episodes only")));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 45);
}

TEST(InspectReport, NotANumberIsNeverShown) {
  EpisodeBatch log = SampleLog({3, 2});
  log.rewards.assign(5, std::nan(""));
  log.observations.setConstant(INFINITY);
  const AuditReport report = SampleReport(log);
  const std::string text = AuditText(report, "log");
  EXPECT_THAT(text, AllOf(Not(HasSubstr("nan")), Not(HasSubstr(" inf ")), HasSubstr("return  –")));
  const std::string json = AuditJson(report, "log").dump();
  EXPECT_TRUE(nlohmann::json::accept(json));
  EXPECT_THAT(json, Not(HasSubstr("nan")));
}

TEST(InspectReport, JsonHoldsEveryFinding) {
  const AuditReport report = SampleReport(SampleLog({3, 2}));
  const nlohmann::json json = AuditJson(report, "log.hdf5");
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["episodes"], 2);
  EXPECT_EQ(json["steps"], 5);
  EXPECT_EQ(json["file_steps"], 7);
  EXPECT_EQ(json["return"]["mean"], 12.0);
  EXPECT_EQ(json["observations"].size(), 2U);
  EXPECT_TRUE(json["behavior_log_density"].is_null());
  ASSERT_EQ(json["findings"].size(), report.findings.size());
  EXPECT_EQ(json["findings"][0]["severity"], "warning");
  EXPECT_EQ(json["findings"][0]["code"], "few_episodes");
}

TEST(InspectReport, PageStandsAloneWithAndWithoutGnuplot) {
  const AuditReport report = SampleReport(SampleLog({3, 2, 4}));
  const std::string page = AuditPage(report, "a<b>.hdf5");
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("a&lt;b&gt;.hdf5"), Not(HasSubstr("a<b>"))));
  PlotOptions missing;
  missing.gnuplot = "no-such-gnuplot";
  EXPECT_THAT(AuditPage(report, "log", missing), AllOf(HasSubstr("No figures"), HasSubstr("few")));
}

}  // namespace
}  // namespace lfiw::experiments
