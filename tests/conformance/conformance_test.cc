#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/conformance/case_reader.h"
#include "tests/conformance/estimator_case.h"
#include "tests/conformance/lfiw_case.h"
#include "tests/conformance/log_case.h"
#include "tests/conformance/metric_case.h"
#include "tests/conformance/system_case.h"
#include "tests/conformance/weight_case.h"
#include "tests/test_paths.h"

namespace lfiw::ope {
namespace {

void RunCase(const Json& json) {
  if (json.contains("truths")) return metric_case::RunMetrics(json);
  if (json.contains("interval")) return metric_case::RunInterval(json);
  if (json.contains("log_file")) return log_case::RunCase(json);
  if (weight_case::IsWeightCase(json)) return weight_case::RunCase(json);
  if (system_case::IsSystemCase(json)) return system_case::RunCase(json);
  if (json.at("estimator") == "lfiw") return lfiw_case::RunCase(json);
  estimator_case::RunCase(json);
}

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, EveryCaseGivesItsKnownAnswer) {
  std::ifstream file(SourceFile("tests/conformance/data/" + std::string(GetParam()) + ".json"));
  ASSERT_TRUE(file.good());
  const Json document = Json::parse(file);
  ASSERT_EQ(document.at("schema"), 3);
  for (const Json& json : document.at("cases")) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    EXPECT_NO_THROW(RunCase(json));
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Conformance,
                         testing::Values("lfiw_closed_form", "lfiw_limits", "lfiw_extremes",
                                         "estimators", "estimator_extremes", "estimator_corners",
                                         "estimator_errors", "doubly_robust", "long_horizons",
                                         "systems", "logs", "weights", "metrics", "intervals"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lfiw::ope
