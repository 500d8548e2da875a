#include "experiments/evaluation/report_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/experiments/evaluation/small_report.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(RankingSection, ListsSeveralPoliciesAndIsEmptyForOne) {
  const auto html = [](const Json& run) {
    return RankingSection(JsonObject(run, "report.json")).html();
  };
  Json run = SmallRun();
  EXPECT_EQ(html(run), "");
  Json entry = run["rows"][1];
  entry["policy"] = "old & tried";
  entry["verdict"] = "caution";
  entry["page"] = "policies/old & tried/report.html";
  run["ranking"] = {entry, entry};
  EXPECT_THAT(html(run), HasSubstr("<a href=\"policies/old%20%26%20tried/report.html\">"
                                   "old &amp; tried</a>"));
  EXPECT_THAT(html(run), HasSubstr("<td class=\"toned warning\">caution</td>"));
  EXPECT_EQ(MarkupFault(html(run)), "");
}

TEST(RankingSection, SaysWhichPolicyThePageIsAbout) {
  Json run = SmallRun();
  Json best = run["rows"][1], other = run["rows"][2];
  best["policy"] = "best";
  other["policy"] = "other";
  run["ranking"] = {best, other};
  run["policy"] = "other";
  const std::string html = RankingSection(JsonObject(run, "report.json")).html();
  EXPECT_THAT(html, HasSubstr("This page is about other"));
  EXPECT_THAT(html, HasSubstr("<tr class=\"strong\"><td>other</td>"));
}

}  // namespace
}  // namespace lfiw::experiments
