#include "experiments/image_gof/gof_table_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"
#include "tests/experiments/presentation/markup_check.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kWarning = "The rows with weights are not to be relied on";

// A table of one generator whose samples are N(0, 1) and the real ones N(shift, 1), weighted by
// their exact ratio.
GofTable TableWith(double shift) {
  CrossFit fit;
  Stream stream(1, "page");
  const auto ratio = [shift](double x) { return shift * x - shift * shift / 2.0; };
  for (int i = 0; i < 2000; ++i) fit.real.push_back(ratio(shift + stream.Normal()));
  for (int i = 0; i < 2000; ++i) fit.generated.push_back(ratio(stream.Normal()));
  return {.rows = {{.model = "<mine>",
                    .evaluation = "LFIW",
                    .cells = std::vector<TableCell>(kTableMetrics.size())}},
          .bias_variance = {},
          .densities = {},
          .checks = {},
          .extractor = {},
          .evidence = {{.model = "<mine>", .evidence = GatherEvidence(fit), .notes = {}}}};
}

TEST(GofTablePage, SaysWhereWeightsAreNotToBeReliedOn) {
  const GofTable table = TableWith(6.0);
  const auto flagged = AllOf(HasSubstr(kWarning), HasSubstr("few samples carry the weight"));
  EXPECT_THAT(TablePage(table, "lfiw run x.yaml"), flagged);
  EXPECT_THAT(TableText(table), flagged);
}

TEST(GofTablePage, RaisesNoDoubtsAboutGoodWeights) {
  const GofTable table = TableWith(0.5);
  EXPECT_THAT(TablePage(table, "lfiw run x.yaml"), Not(HasSubstr(kWarning)));
  EXPECT_THAT(TableText(table), Not(HasSubstr(kWarning)));
}

TEST(GofTablePage, IsWellFormedWhateverGeneratorsAreCalled) {
  EXPECT_EQ(MarkupFault(TablePage(TableWith(6.0), "lfiw run <x>.yaml")), "");
}

}  // namespace
}  // namespace lfiw::experiments
