#include "core/run/csv_columns.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lfiw::core {
namespace {

struct Point {
  std::int64_t steps = 0;
  double loss = 0.0;
  std::string note;
  std::optional<bool> done;
};

CsvColumns<Point> Columns() {
  return {{"steps", "steps", "environment steps", &Point::steps},
          {"half", "nats", "half of the loss", [](const Point& p) { return 0.5 * p.loss; }},
          {"note", "", "in words", InQuotes(&Point::note)},
          {"done", "", "whether it is over", &Point::done}};
}

TEST(CsvColumns, TheHeaderNamesTheColumnsInOrder) {
  EXPECT_EQ(Columns().Header(), "steps,half,note,done\n");
  EXPECT_EQ(Columns().Format(std::vector<Point>()), Columns().Header());
}

TEST(CsvColumns, ALineHasTheCellsOfItsRow) {
  EXPECT_EQ(Columns().Line({.steps = 3, .loss = 0.25, .note = "", .done = {}}), "3,0.125,\"\",\n");
  EXPECT_EQ(Columns().Line({.steps = -1, .loss = 1e300, .note = "a, \"b\"", .done = true}),
            "-1,5e+299,\"a, \"\"b\"\"\",1\n");
}

TEST(CsvColumns, TheDocumentationGivesUnitsWhereThereAreAny) {
  EXPECT_EQ(Columns().Describe(),
            "steps [steps]: environment steps\n"
            "half [nats]: half of the loss\n"
            "note: in words\n"
            "done: whether it is over\n");
}

}  // namespace
}  // namespace lfiw::core
