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

TEST(TableCsv, HasALinePerRowAndMetric) {
  GofTable table = TableWith(0.5);
  table.rows[0].runs = 3;
  table.rows[0].size = 100;
  table.rows[0].cells = {{.value = 1.5, .standard_error = 0.25}, {.reason = "too few"}};
  EXPECT_EQ(TableCsv(table),
            "model,evaluation,metric,value,stderr,runs,samples,reason\n"
            "\"<mine>\",\"LFIW\",inception_score,1.5,0.25,3,100,\"\"\n"
            "\"<mine>\",\"LFIW\",fid,,,3,100,\"too few\"\n");
}

TEST(BiasVarianceCsv, HasALinePerWeightingAndNoNumbersWhereThereIsAReason) {
  GofTable table = TableWith(0.5);
  table.bias_variance = {
      {.model = "m",
       .size = 50,
       .disjoint = false,
       .entries = {{.weights = "none",
                    .params = "",
                    .draws = 4,
                    .abs_mean_bias = 0.5,
                    .bias_error = 0.25,
                    .mean_abs_bias = 1.0,
                    .variance = 2.0,
                    .variance_error = 0.125,
                    .mse = 3.0,
                    .mse_error = 4.0},
                   {.weights = "self", .params = "alpha=1", .draws = 4, .reason = "no weight"}}}};
  EXPECT_EQ(BiasVarianceCsv(table),
            "model,T,weights,params,draws,disjoint,abs_mean_bias,bias_stderr,mean_abs_bias,"
            "variance,variance_stderr,mse,mse_stderr,reason\n"
            "\"m\",50,none,,4,0,0.5,0.25,1,2,0.125,3,4,\"\"\n"
            "\"m\",50,self,alpha=1,4,0,,,,,,,,\"no weight\"\n");
}

TEST(GofTablePage, IsWellFormedWhateverGeneratorsAreCalled) {
  EXPECT_EQ(MarkupFault(TablePage(TableWith(6.0), "lfiw run <x>.yaml")), "");
}

}  // namespace
}  // namespace lfiw::experiments
