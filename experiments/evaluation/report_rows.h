#ifndef LFIW_EXPERIMENTS_EVALUATION_REPORT_ROWS_H_
#define LFIW_EXPERIMENTS_EVALUATION_REPORT_ROWS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "experiments/presentation/html_page.h"
#include "experiments/presentation/json_object.h"

namespace lfiw::experiments {

// What the sections of the report have in common: report.json (see report_json.h), its rows of
// estimates and its verdicts, in the words of the page.

// A value known up to its standard error.
struct Known {
  std::optional<double> value;
  std::optional<double> stderr_value;
};

// The member `key` of the report; nothing where it is missing.
Known KnownValue(const JsonObject& report, const std::string& key);

// A verdict as the page shows it.
struct ShownVerdict {
  HtmlTone tone = HtmlTone::kNeutral;
  std::string badge = "no verdict";
  std::string sentence = "This run gives no verdict on how far its numbers can be trusted.";
  std::vector<std::string> reasons = {};
};
ShownVerdict VerdictOf(const JsonObject& report);

// A cell with the name of a verdict in its color; other words stay as they are.
HtmlCell VerdictCell(const std::string& words);

// The index of the row to state first; none when no row has a value. Throws DataError when the
// report names a row that it does not have.
std::optional<std::size_t> HeadlineIndex(const JsonObject& report,
                                         const std::vector<JsonObject>& rows);

// "95 % interval".
std::string IntervalName(const JsonObject& report);
// Says what an interval covers, in words where its method is known.
std::string MethodText(const std::string& name);
// "alpha = 1, beta = 0".
std::string ParametersText(const JsonObject& row);
std::string EstimatorName(const JsonObject& row);
// The estimator and its horizon: "lfiw_stepwise, H = 100".
std::string RowName(const JsonObject& row);

// How many decimals the row's standard error is worth.
int RowDecimals(const JsonObject& row);
std::string ValueText(const JsonObject& row);
std::string IntervalText(const JsonObject& row, int decimals);
std::string IntervalText(const JsonObject& row);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_EVALUATION_REPORT_ROWS_H_
