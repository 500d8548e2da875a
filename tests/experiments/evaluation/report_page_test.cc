#include "experiments/evaluation/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error.h"
#include "experiments/presentation/subprocess.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/presentation/markup_check.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kFigures[] = {"value_by_horizon",      "ess_by_horizon", "khat_by_horizon",
                                    "max_weight_by_horizon", "mean_weight",    "reliability",
                                    "calibration_counts",    "open_loop",      "dynamics_training",
                                    "classifier_training",   "policy_training"};

std::string ReadText(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json Sample() {
  return Json::parse(ReadText(SourceFile("tests/experiments/evaluation/data/sample_report.json")));
}

bool GnuplotIsMissing() {
  try {
    RunProgram({"gnuplot", "--version"}, "", 20.0);
    return false;
  } catch (const ProgramError&) {
    return true;
  }
}

void Put(const TestDir& run, const std::string& name, const std::string& text) {
  std::ofstream(run / name) << text;
}

// The page of a report.
std::string Render(const Json& json, const PlotOptions& options = {}) {
  const TestDir run;
  Put(run, "report.json", json.dump());
  WriteReport(run.path(), options);
  return ReadText(run / "report.html");
}

// Fast: a page without figures.
std::string Words(const Json& json) { return Render(json, {.gnuplot = "lfiw-no-such-program"}); }

TEST(WriteReport, SampleHasEveryFigureAndIsWellFormed) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  const std::string page = Render(Sample());
  EXPECT_EQ(MarkupFault(page), "");
  for (const char* name : kFigures)
    EXPECT_THAT(page, HasSubstr(std::string("<figure id=\"") + name + "\">"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("null")));
  EXPECT_EQ(page, Render(Sample()));
}

TEST(WriteReport, EmptyReportSaysWhatIsMissingInEachSection) {
  const std::string page = Render(Json::object());
  EXPECT_EQ(MarkupFault(page), "");
  for (const char* sentence :
       {"gives no verdict", "There is no estimate", "no table of estimates", "no sweep",
        "no check of the classifiers", "no figure of the weights", "no dynamics model",
        "says nothing about its log", "not checked against the log", "no learning curves",
        "command of this run was not recorded"})
    EXPECT_THAT(page, HasSubstr(sentence));
}

TEST(WriteReport, EachPartMayBeMissingOrNull) {
  const Json sample = Sample();
  for (const auto& item : sample.items()) {
    Json json = sample;
    json[item.key()] = nullptr;
    EXPECT_EQ(MarkupFault(Words(json)), "") << item.key();
    json.erase(item.key());
    EXPECT_EQ(MarkupFault(Words(json)), "") << item.key();
  }
}

TEST(WriteReport, EachNumberMayBeNull) {
  const Json flat = Sample().flatten();
  Json nulls = flat;
  for (auto& item : nulls.items())
    if (item.value().is_number() && item.key() != "/headline") item.value() = nullptr;
  const std::string page = Words(nulls.unflatten());
  EXPECT_EQ(MarkupFault(page), "");
  EXPECT_THAT(page, Not(HasSubstr("nan")));
  EXPECT_THAT(page, Not(HasSubstr("null")));
}

TEST(WriteReport, HostileTextAnywhereIsEscaped) {
  const Json flat = Sample().flatten();
  Json hostile = flat;
  for (auto& item : hostile.items())
    if (item.value().is_string()) item.value() = "<script>x</script>\"'&";
  const std::string page =
      GnuplotIsMissing() ? Words(hostile.unflatten()) : Render(hostile.unflatten());
  EXPECT_EQ(MarkupFault(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(WriteReport, WithoutGnuplotThePageHasNoFiguresAndSaysWhy) {
  const std::string page = Words(Sample());
  EXPECT_THAT(page, Not(HasSubstr("<figure")));
  EXPECT_THAT(page, HasSubstr("Figures are left out: lfiw-no-such-program was not found in PATH."));
}

TEST(WriteReport, MemberOfTheWrongTypeIsNamed) {
  Json json = Sample();
  json["log"]["episodes"] = "many";
  EXPECT_THAT([&] { Words(json); },
              ThrowsMessage<DataError>(HasSubstr(
                  "report.json: log.episodes: found a string, expected a number or null")));
}

TEST(WriteReport, WritesThePageAndEachFigure) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  const TestDir run;
  Put(run, "report.json", Sample().dump());
  WriteReport(run.path());
  EXPECT_EQ(ReadText(run / "report.html"), Render(Sample()));
  for (const char* name : kFigures)
    EXPECT_EQ(MarkupFault(ReadText(run / ("plots/" + std::string(name) + ".svg"))), "");
}

TEST(WriteReport, MissingOrBrokenFileIsNamed) {
  const TestDir run;
  EXPECT_THAT([&] { WriteReport(run.path()); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("cannot read"), HasSubstr("report.json"))));
  Put(run, "report.json", "{\"title\": NaN}");
  EXPECT_THAT([&] { WriteReport(run.path()); },
              ThrowsMessage<DataError>(HasSubstr("report.json: not valid JSON")));
}

TEST(WriteReport, DirectoryThatCannotBeWrittenIsNamed) {
  const TestDir run;
  Put(run, "report.json", "{}");
  Put(run, "plots", "a file in the way");
  EXPECT_THAT([&] { WriteReport(run.path()); },
              ThrowsMessage<DataError>(HasSubstr("cannot create the directory")));
}

}  // namespace
}  // namespace lfiw::experiments
