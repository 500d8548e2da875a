#include "experiments/presentation/outcome.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace lfiw::experiments {
namespace {

struct Row {
  std::string label;
  std::optional<double> value;
  std::int64_t count = 0;
};

const CsvColumns<Row>& Columns() {
  static const CsvColumns<Row> columns = {{"label", "", "name", &Row::label},
                                          {"value", "m", "a length", &Row::value},
                                          {"count", "", "a number", &Row::count}};
  return columns;
}

TEST(JsonOfRows, KeepsNumbersExactAndTextsTexts) {
  const auto json = JsonOfRows(Columns(), std::vector<Row>{{"2", 0.1, 3}, {"a, \"b\"", {}, -1}});
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["label"], "2");
  EXPECT_EQ(json[0]["value"].get<double>(), 0.1);
  EXPECT_TRUE(json[0]["count"].is_number_integer());
  EXPECT_EQ(json[1]["label"], "a, \"b\"");
  EXPECT_TRUE(json[1]["value"].is_null());
}

TEST(JsonOfRows, HasNoNumberForWhatIsNotFinite) {
  const auto json = JsonOfRows(Columns(), std::vector<Row>{{"x", HUGE_VAL, 0}});
  EXPECT_TRUE(json[0]["value"].is_null());
}

TEST(JsonOfCsv, AColumnWithAWordIsOneOfTexts) {
  const auto json = JsonOfCsv("name,value\n1,2\nmean,3.5\n");
  EXPECT_EQ(json[0]["name"], "1");
  EXPECT_EQ(json[1]["name"], "mean");
  EXPECT_EQ(json[0]["value"], 2);
  EXPECT_EQ(json[1]["value"], 3.5);
}

TEST(JsonOfCsv, OfAHeaderAloneIsEmpty) { EXPECT_TRUE(JsonOfCsv("name,value\n").empty()); }

TEST(Show, PrintsTextOrOneObjectAndReturnsTheStatus) {
  const Outcome outcome{.status = 1, .text = "a line\n", .object = {{"value", 2.5}}};
  testing::internal::CaptureStdout();
  EXPECT_EQ(Show(outcome, OutputForm::kText), 1);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a line\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(Show(outcome, OutputForm::kJson), 1);
  EXPECT_EQ(nlohmann::json::parse(testing::internal::GetCapturedStdout()),
            nlohmann::json({{"value", 2.5}}));
}

}  // namespace
}  // namespace lfiw::experiments
