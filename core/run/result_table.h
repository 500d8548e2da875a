#ifndef LFIW_CORE_RUN_RESULT_TABLE_H_
#define LFIW_CORE_RUN_RESULT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lfiw::core {

// One estimate: a row of results.csv and results.json, in long ("tidy") form. An empty text or
// optional is an empty cell.
struct ResultRow {
  std::string environment;
  std::string policy;
  std::string estimator;
  std::string params;
  std::optional<std::int64_t> horizon;
  std::string normalization;
  std::optional<double> discount;
  std::string scale;
  std::string classifier_set;
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> n;
  std::optional<double> value;
  std::optional<double> standard_error;
  std::optional<double> se_within;
  std::optional<double> se_between;
  std::optional<double> ci_low;
  std::optional<double> ci_high;
  std::string interval_method;
  std::optional<double> ess;
  std::optional<double> khat;
  std::optional<double> max_weight;
  std::optional<double> truth;
  std::optional<double> truth_standard_error;
  std::optional<double> error;
  std::optional<double> log10_value;
  std::string verdict;
  std::string reason;

  bool operator==(const ResultRow&) const = default;

  // Names each column with its unit and definition: v.Column(name, field, unit, definition).
  template <class Visitor>
  void Visit(Visitor& v);
};

// The number as a cell: empty if it is NaN or infinite (then the row wants a reason).
std::optional<double> Cell(double value);

// RFC 4180 with a header line; numbers in the shortest form that reads back exactly. Throws
// NumericError that names row and column when a number is NaN or infinite, or when `value` is empty
// without a reason.
std::string FormatCsv(std::span<const ResultRow> rows);

// The same rows as JSON, with a schema version and the unit and definition of each column; empty
// cells are null. Throws as FormatCsv.
std::string FormatJson(std::span<const ResultRow> rows);

// The files, written atomically.
void WriteCsv(const std::string& path, std::span<const ResultRow> rows);
void WriteJson(const std::string& path, std::span<const ResultRow> rows);

// A table for the terminal: one line per row with the columns that matter, rounded; a row without a
// value shows its reason.
std::string FormatForTerminal(std::span<const ResultRow> rows);

template <class Visitor>
void ResultRow::Visit(Visitor& v) {
  constexpr const char* kReturn = "return";
  v.Column("env", environment, "", "environment");
  v.Column("policy", policy, "", "evaluated policy");
  v.Column("estimator", estimator, "", "name of the estimator");
  v.Column("params", params, "", "its parameters where they differ from the defaults");
  v.Column("horizon", horizon, "steps",
           "truncation H of the importance weights; 0 is none of them");
  v.Column("normalization", normalization, "", "of the weights: self or none");
  v.Column("discount", discount, "", "discount factor per step");
  v.Column("scale", scale, "", "sum of rewards, or normalized by the sum of discount factors");
  v.Column("classifier_set", classifier_set, "", "classifiers averaged over");
  v.Column("seed", seed, "", "root seed");
  v.Column("n", n, "trajectories", "trajectories behind the estimate");
  v.Column("value", value, kReturn, "estimate of the policy's value");
  v.Column("stderr", standard_error, kReturn, "standard error of value");
  v.Column("se_within", se_within, kReturn,
           "standard error from trajectories, fitted models fixed");
  v.Column("se_between", se_between, kReturn, "standard error from refitting classifiers");
  v.Column("ci_low", ci_low, kReturn, "lower end of the interval");
  v.Column("ci_high", ci_high, kReturn, "upper end of the interval");
  v.Column("interval_method", interval_method, "", "what the interval covers");
  v.Column("ess", ess, "trajectories", "effective sample size of the weights");
  v.Column("khat", khat, "", "Pareto shape of the largest weights; above 0.7 they are unreliable");
  v.Column("max_weight", max_weight, "", "share of the largest normalized weight");
  v.Column("truth", truth, kReturn, "Monte Carlo value in the real environment");
  v.Column("truth_stderr", truth_standard_error, kReturn, "standard error of truth");
  v.Column("error", error, kReturn, "value - truth");
  v.Column("log10_value", log10_value, "", "log10 of |value| where value itself has no double");
  v.Column("verdict", verdict, "", "whether to rely on the estimate");
  v.Column("reason", reason, "", "why a cell is empty, or what the verdict rests on");
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_RESULT_TABLE_H_
