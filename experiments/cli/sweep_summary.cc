#include "experiments/cli/sweep_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <utility>

#include "core/run/csv_columns.h"
#include "core/run/text_table.h"
#include "core/statistics.h"
#include "experiments/presentation/json_object.h"
#include "experiments/presentation/number_text.h"
#include "experiments/presentation/stage_files.h"

namespace lfiw::experiments {
namespace {

namespace fs = std::filesystem;

std::optional<SweptRun> ReadReport(const std::string& directory) {
  const std::string path = directory + "/report.json";
  if (!fs::exists(path)) return {};
  const nlohmann::json report = ReadJson(path);
  const JsonObject root(report, path);
  const std::vector<JsonObject> rows = root.Objects("rows");
  const auto headline = root.Number("headline");
  if (!headline || *headline < 0 || *headline >= static_cast<double>(rows.size())) return {};
  const JsonObject& row = rows[static_cast<std::size_t>(*headline)];
  SweptRun run;
  run.directory = directory;
  run.estimator = row.Text("estimator");
  run.value = row.Number("value");
  run.standard_error = row.Number("stderr");
  run.low = row.Number("ci_low");
  run.high = row.Number("ci_high");
  if (const auto truth = root.Object("truth")) run.truth = truth->Number("value");
  if (const auto verdict = root.Object("verdict")) run.verdict = verdict->Text("level");
  return run;
}

// The last line: what the runs say together.
std::string Together(std::span<const SweptRun> runs) {
  std::vector<double> values;
  double squares = 0.0;
  std::int64_t known = 0, with_interval = 0, covered = 0;
  for (const SweptRun& run : runs) {
    if (!run.value) continue;
    values.push_back(*run.value);
    if (!run.truth) continue;
    ++known;
    squares += (*run.value - *run.truth) * (*run.value - *run.truth);
    if (!run.low || !run.high) continue;
    ++with_interval;
    covered += *run.low <= *run.truth && *run.truth <= *run.high ? 1 : 0;
  }
  if (values.size() < 2) return "";
  std::string text =
      fmt::format("over {} values: mean {}, standard deviation {}", values.size(),
                  FormatRounded(Mean(values)), FormatRounded(StandardDeviation(values), 2));
  if (known > 0) {
    text += fmt::format("; root mean square error {}",
                        FormatRounded(std::sqrt(squares / static_cast<double>(known)), 2));
  }
  if (with_interval > 0) {
    text += fmt::format("; {} of {} intervals hold the truth", covered, with_interval);
  }
  return text + "\n";
}

}  // namespace

std::vector<SweptRun> ReadSweptRun(const std::string& overrides, const std::string& directory) {
  std::vector<SweptRun> runs;
  const fs::path policies = fs::path(directory) / "policies";
  if (fs::is_directory(policies)) {
    for (const auto& entry : fs::directory_iterator(policies)) {
      if (auto run = ReadReport(entry.path().string())) {
        run->policy = entry.path().filename().string();
        run->directory = directory;
        runs.push_back(*std::move(run));
      }
    }
    std::ranges::sort(runs, {}, &SweptRun::policy);
  } else if (auto run = ReadReport(directory)) {
    runs.push_back(*std::move(run));
  }
  for (SweptRun& run : runs) run.overrides = overrides;
  return runs;
}

std::string SweepText(std::span<const SweptRun> runs) {
  if (runs.empty()) return "";
  const auto number = [](const std::optional<double>& value) {
    return value ? FormatRounded(*value) : kNoNumber;
  };
  std::vector<std::string> header = {"run", "policy", "value", "interval", "truth", "verdict"};
  std::vector<std::vector<std::string>> lines;
  for (const SweptRun& run : runs) {
    lines.push_back({run.overrides, run.policy, number(run.value),
                     fmt::format("[{}, {}]", number(run.low), number(run.high)), number(run.truth),
                     run.verdict});
  }
  return FormatTextTable(header, lines) + Together(runs);
}

std::string SweepCsv(std::span<const SweptRun> runs) {
  static const CsvColumns<SweptRun> columns = {
      {"overrides", "", "what tells the run apart", InQuotes(&SweptRun::overrides)},
      {"directory", "", "of the run", InQuotes(&SweptRun::directory)},
      {"policy", "", "evaluated policy, where there are several", InQuotes(&SweptRun::policy)},
      {"estimator", "", "of the value stated first", &SweptRun::estimator},
      {"value", "return", "the value stated first", &SweptRun::value},
      {"stderr", "return", "standard error of value", &SweptRun::standard_error},
      {"ci_low", "return", "lower end of the interval", &SweptRun::low},
      {"ci_high", "return", "upper end of the interval", &SweptRun::high},
      {"truth", "return", "true value, where it was measured", &SweptRun::truth},
      {"verdict", "", "trust, caution or do not use", &SweptRun::verdict}};
  return columns.Format(runs);
}

}  // namespace lfiw::experiments
