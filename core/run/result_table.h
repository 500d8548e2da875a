#ifndef LFIW_CORE_RUN_RESULT_TABLE_H_
#define LFIW_CORE_RUN_RESULT_TABLE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/csv_columns.h"

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

  // Declares each column once, for CSV, JSON and documentation: v.Column(name, unit, definition,
  // member).
  template <class Visitor>
  static void VisitColumns(Visitor& v);
};

// Returns the columns of results.csv.
const CsvColumns<ResultRow>& ResultColumns();

// Returns the number as a cell: empty if it is NaN or infinite (then the row wants a reason).
std::optional<double> Cell(double value);

// Writes the rows as CSV (RFC 4180) with a header line, numbers in the shortest form that reads
// back exactly. Throws NumericError that names row and column when a number is NaN or infinite, or
// when `value` is empty without a reason.
std::string FormatCsv(std::span<const ResultRow> rows);

// Writes the rows as JSON, with a schema version and the unit and definition of each column; empty
// cells are null. Throws as FormatCsv does.
std::string FormatJson(std::span<const ResultRow> rows);

// Write and read the files. A file is written atomically.
void WriteCsv(const std::string& path, std::span<const ResultRow> rows);
void WriteJson(const std::string& path, std::span<const ResultRow> rows);

// Writes a table for the terminal: one line per row, rounded, without columns that no row fills,
// and without parameters, weights and numbers of episodes that do not tell rows apart (results.csv
// has them); a row without a value shows its reason.
std::string FormatForTerminal(std::span<const ResultRow> rows);

template <class Visitor>
void ResultRow::VisitColumns(Visitor& v) {
  constexpr const char* kReturn = "return";
  v.Column("env", "", "environment", &ResultRow::environment);
  v.Column("policy", "", "evaluated policy", &ResultRow::policy);
  v.Column("estimator", "", "name of the estimator", &ResultRow::estimator);
  v.Column("params", "", "its parameters where they differ from the defaults", &ResultRow::params);
  v.Column("horizon", "steps", "truncation H of the importance weights; 0 is none of them",
           &ResultRow::horizon);
  v.Column("normalization", "", "of the weights: self or none", &ResultRow::normalization);
  v.Column("discount", "", "discount factor per step", &ResultRow::discount);
  v.Column("scale", "", "sum of rewards, or normalized by the sum of discount factors",
           &ResultRow::scale);
  v.Column("classifier_set", "", "classifiers averaged over", &ResultRow::classifier_set);
  v.Column("seed", "", "root seed", &ResultRow::seed);
  v.Column("n", "trajectories", "trajectories behind the estimate", &ResultRow::n);
  v.Column("value", kReturn, "estimate of the policy's value", &ResultRow::value);
  v.Column("stderr", kReturn, "standard error of value", &ResultRow::standard_error);
  v.Column("se_within", kReturn, "standard error from trajectories, fitted models fixed",
           &ResultRow::se_within);
  v.Column("se_between", kReturn, "standard error from refitting classifiers",
           &ResultRow::se_between);
  v.Column("ci_low", kReturn, "lower end of the interval", &ResultRow::ci_low);
  v.Column("ci_high", kReturn, "upper end of the interval", &ResultRow::ci_high);
  v.Column("interval_method", "", "what the interval covers", &ResultRow::interval_method);
  v.Column("ess", "trajectories", "effective sample size of the weights", &ResultRow::ess);
  v.Column("khat", "", "Pareto shape of the largest weights; above 0.7 they are unreliable",
           &ResultRow::khat);
  v.Column("max_weight", "", "share of the largest normalized weight", &ResultRow::max_weight);
  v.Column("truth", kReturn, "Monte Carlo value in the real environment", &ResultRow::truth);
  v.Column("truth_stderr", kReturn, "standard error of truth", &ResultRow::truth_standard_error);
  v.Column("error", kReturn, "value - truth", &ResultRow::error);
  v.Column("log10_value", "", "log10 of |value| where value itself has no double",
           &ResultRow::log10_value);
  v.Column("verdict", "", "whether to rely on the estimate", &ResultRow::verdict);
  v.Column("reason", "", "why a cell is empty, or what the verdict rests on", &ResultRow::reason);
}

}  // namespace lfiw::core

#endif  // LFIW_CORE_RUN_RESULT_TABLE_H_
