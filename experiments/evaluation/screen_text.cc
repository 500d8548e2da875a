#include "experiments/evaluation/screen_text.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "core/run/result_table.h"
#include "core/run/text_table.h"
#include "envs/env_registry.h"
#include "experiments/presentation/number_text.h"
#include "ope/rollouts/rollout_estimators.h"

namespace lfiw::experiments {
namespace {

std::string Rounded(const std::optional<double>& value) {
  return value ? FormatRounded(*value) : kNoNumber;
}

std::string IntervalOf(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? fmt::format("[{}, {}]", FormatRounded(*low), FormatRounded(*high))
                     : kNoNumber;
}

std::string EstimatorOf(const ResultRow& row) {
  return row.estimator == kModelEstimator || !row.horizon
             ? row.estimator
             : fmt::format("{} at H = {}", row.estimator, *row.horizon);
}

std::string LogLine(const ReportInputs& in) {
  std::string line = fmt::format("log: {} episodes, {} steps of {}", in.log.log.episodes(),
                                 in.log.log.steps(), in.task.spec.name);
  if (in.logged) {
    line += fmt::format("; the logged policy is worth {} +- {}", FormatRounded(in.logged->logged),
                        in.logged->logged_stderr ? FormatRounded(*in.logged->logged_stderr, 2)
                                                 : "an unknown error (one episode)");
  }
  line += "\n";
  if (!in.log.horizon_rule.empty()) line += in.log.horizon_rule + "\n";
  if (const std::string note = VersionNote(in.config.environment); !note.empty()) {
    line += note + "\n";
  }
  return line;
}

std::string BacktestLine(const PolicyEvaluation& evaluation) {
  const std::optional<Backtest> test = evaluation.back_test();
  if (!test) return "";
  return fmt::format("back-test: for the logged policy the {} says {} +- {}, off by {:+.3g}\n",
                     evaluation.measured.calibrated ? "plain model" : "same method",
                     FormatRounded(test->estimate), Rounded(test->estimate_stderr), test->Gap());
}

// The answer about one policy, in a few lines.
std::string Answer(const ReportInputs& in, const PolicyEvaluation& evaluation) {
  const ResultRow& row = evaluation.stated();
  std::string text = fmt::format(
      "value of {}: {} +- {}, {:.0f} % {} ({}; {})\n", evaluation.policy.label, Rounded(row.value),
      Rounded(row.standard_error), 100.0 * in.config.intervals.level,
      IntervalOf(row.ci_low, row.ci_high), row.interval_method, EstimatorOf(row));
  if (in.logged) {
    if (const auto d = DifferenceFromLog(row, *in.logged, in.config.intervals.level)) {
      text += fmt::format("new - logged: {:+.4g} {}\n", d->value, IntervalOf(d->low, d->high));
    }
  }
  text += BacktestLine(evaluation);
  if (evaluation.measured.truth) {
    const MonteCarloEstimate& truth = *evaluation.measured.truth;
    text += fmt::format("truth: {} +- {} ({} episodes)\n", FormatRounded(truth.value),
                        FormatRounded(truth.standard_error, 2), truth.episodes);
  }
  text += fmt::format("verdict: {}{}{}\n", row.verdict, row.reason.empty() ? "" : ": ", row.reason);
  if (!row.reason.empty()) text += "what each reason means and what helps: docs/evaluate.md\n";
  return text;
}

std::string Ranking(const ReportInputs& in) {
  std::vector<std::string> header = {"policy",   "estimator",    "value",  "+-",
                                     "interval", "new - logged", "verdict"};
  const bool truth = in.config.truth.enabled, differences = !in.from_best.empty();
  if (differences) header.insert(header.end() - 1, "best - this");
  if (truth) header.insert(header.end() - 1, {"truth", "error"});
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i < in.evaluations.size(); ++i) {
    const PolicyEvaluation& evaluation = in.evaluations[i];
    const ResultRow& row = evaluation.stated();
    std::string difference = kNoNumber;
    std::string from_best = kNoNumber;
    if (differences && in.from_best[i]) {
      from_best = IntervalOf(in.from_best[i]->low, in.from_best[i]->high);
    }
    if (in.logged) {
      const auto d = DifferenceFromLog(row, *in.logged, in.config.intervals.level);
      if (d) difference = fmt::format("{:+.4g} {}", d->value, IntervalOf(d->low, d->high));
    }
    std::vector<std::string> line = {evaluation.policy.label,
                                     EstimatorOf(row),
                                     Rounded(row.value),
                                     Rounded(row.standard_error),
                                     IntervalOf(row.ci_low, row.ci_high),
                                     difference,
                                     row.verdict};
    if (differences) line.insert(line.end() - 1, from_best);
    if (truth) line.insert(line.end() - 1, {Rounded(row.truth), Rounded(row.error)});
    lines.push_back(std::move(line));
  }
  std::string text = FormatTextTable(header, lines);
  if (!in.from_best.empty()) {
    text += BestText(in.evaluations, in.from_best, in.config.intervals.level);
  }
  text += BacktestLine(in.evaluations.front());
  for (const PolicyEvaluation& evaluation : in.evaluations) {
    const ResultRow& row = evaluation.stated();
    if (!row.reason.empty()) {
      text += fmt::format("{}: {}: {}\n", evaluation.policy.label, row.verdict, row.reason);
    }
  }
  return text;
}

}  // namespace

std::string ScreenText(const ReportInputs& in) {
  if (in.evaluations.size() > 1) return LogLine(in) + Ranking(in);
  const PolicyEvaluation& evaluation = in.evaluations.front();
  std::vector<ResultRow> rows;
  for (const JudgedRow& judged : TableRows(in.config, evaluation)) rows.push_back(judged.row);
  return FormatForTerminal(rows) + "\n" + LogLine(in) + Answer(in, evaluation);
}

}  // namespace lfiw::experiments
