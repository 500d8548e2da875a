#include "core/run/result_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/core/run/read_results.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

ResultRow Full() {
  ResultRow row;
  row.environment = "HalfCheetah";
  row.policy = "final, \"best\"\nof two";
  row.estimator = "lfiw_trajectory";
  row.horizon = 80;
  row.normalization = "self";
  row.discount = 0.1 + 0.2;
  row.seed = std::numeric_limits<std::uint64_t>::max();
  row.n = 100;
  row.value = 219.12345678901234;
  row.standard_error = 5e-324;
  row.ci_low = -1.5;
  row.ci_high = 1e300;
  row.verdict = "use";
  return row;
}

ResultRow Refused() {
  ResultRow row;
  row.estimator = "is";
  row.reason = "no support";
  return row;
}

TEST(ResultTableTest, TheHeaderNamesTheColumnsOfTheDesign) {
  EXPECT_EQ(
      FormatCsv({}),
      "env,policy,estimator,params,horizon,normalization,discount,scale,classifier_set,seed,n,"
      "value,stderr,se_within,se_between,ci_low,ci_high,interval_method,ess,khat,max_weight,"
      "truth,truth_stderr,error,log10_value,verdict,reason\n");
}

TEST(ResultTableTest, CsvReadsBackExactly) {
  const TestDir dir;
  const std::vector<ResultRow> rows = {Full(), Refused(), Full()};
  WriteCsv(dir / "results.csv", rows);
  EXPECT_EQ(ReadResults(dir / "results.csv"), rows);
}

TEST(ResultTableTest, NanAndInfinityAreNeverWritten) {
  for (const double value :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ResultRow row = Full();
    row.ess = value;
    const std::vector<ResultRow> rows = {Full(), row};
    EXPECT_THAT([&] { FormatCsv(rows); },
                ThrowsMessage<NumericError>(AllOf(HasSubstr("row 1"), HasSubstr("ess"))));
    EXPECT_THROW(FormatJson(rows), NumericError);
    EXPECT_EQ(Cell(value), std::nullopt);
  }
  EXPECT_EQ(Cell(1.5), 1.5);
}

TEST(ResultTableTest, AnEmptyValueNeedsAReason) {
  ResultRow row = Refused();
  row.reason.clear();
  const std::vector<ResultRow> rows = {row};
  EXPECT_THAT([&] { FormatCsv(rows); },
              ThrowsMessage<NumericError>(HasSubstr("row 0 (is): no value and no reason")));
}

TEST(ResultTableTest, JsonHasUnitsDefinitionsAndNulls) {
  const auto json = nlohmann::json::parse(FormatJson(std::vector<ResultRow>{Full(), Refused()}));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["columns"].size(), 27u);
  EXPECT_EQ(json["columns"][23]["name"], "error");
  EXPECT_EQ(json["columns"][23]["definition"], "value - truth");
  EXPECT_EQ(json["rows"][0]["value"], 219.12345678901234);
  EXPECT_EQ(json["rows"][0]["seed"], std::numeric_limits<std::uint64_t>::max());
  EXPECT_TRUE(json["rows"][1]["value"].is_null());
  EXPECT_EQ(json["rows"][1]["reason"], "no support");
}

TEST(ResultTableTest, TheTerminalShowsFilledColumnsAndReasons) {
  const std::string text = FormatForTerminal(std::vector<ResultRow>{Full(), Refused()});
  EXPECT_THAT(text, HasSubstr("lfiw_trajectory  80  219.1"));
  EXPECT_THAT(text, HasSubstr("no support"));
  EXPECT_THAT(text, Not(HasSubstr("khat")));
}

TEST(ResultTableTest, TheTerminalShowsParametersOnlyWhereTheyTellRowsApart) {
  ResultRow first = Full(), second = Full(), other = Full();
  first.params = "alpha=1";
  second.params = "alpha=0.5";
  second.normalization = "horvitz_thompson";
  other.estimator = "calibrated_model";
  other.params = "slope=0.9";
  const std::string text = FormatForTerminal(std::vector<ResultRow>{first, second, other});
  EXPECT_THAT(text, HasSubstr("lfiw_trajectory (alpha=0.5)  80  horvitz_thompson"));
  EXPECT_THAT(text, Not(HasSubstr("slope")));
  EXPECT_THAT(FormatForTerminal(std::vector<ResultRow>{first, first}), Not(HasSubstr("alpha")));
}

}  // namespace
}  // namespace lfiw::core
