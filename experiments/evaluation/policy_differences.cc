#include "experiments/evaluation/policy_differences.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>

#include "core/config/visitor.h"
#include "core/run/csv_columns.h"
#include "core/statistics.h"
#include "ope/judgement/intervals.h"
#include "ope/rollouts/calibrated_model.h"

namespace lfiw::experiments {
namespace {

// Degrees of freedom at which the t distribution is the normal one.
constexpr double kManyDegrees = 1e6;
// A sentence names no more policies than this.
constexpr std::size_t kMostNamed = 20;

PolicyDifference MakeDifference(double value, double standard_error, double degrees,
                                DifferenceMethod method, double level) {
  const Interval interval =
      SpreadInterval(value, standard_error, degrees, "the difference of two policies", level);
  return {.value = value, .low = interval.low, .high = interval.high, .method = method};
}

PolicyDifference CalibratedDifference(const PolicyFamily& a, const PolicyFamily& b,
                                      const Backtest& logged, double level) {
  FamilyValues difference = a.own;
  const auto subtracted = b.own.values.flat();
  const auto values = difference.values.flat();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= subtracted[i];
  // an upper bound: rollouts of both policies share their random numbers
  difference.standard_error = a.own.standard_error + b.own.standard_error;
  const CalibratedModel model = CalibrateModel(*a.logged, difference, logged);
  return MakeDifference(model.value, model.standard_error, model.degrees,
                        DifferenceMethod::kCalibrated, level);
}

PolicyDifference MemberDifference(const PolicyEvaluation& a, const PolicyEvaluation& b,
                                  double level) {
  std::vector<double> differences = a.measured.member_values;
  for (std::size_t k = 0; k < differences.size(); ++k) {
    differences[k] -= b.measured.member_values[k];
  }
  return MakeDifference(*a.stated().value - *b.stated().value, StandardDeviation(differences),
                        static_cast<double>(differences.size() - 1), DifferenceMethod::kMembers,
                        level);
}

// A row of pairs.csv.
struct PairRow {
  std::string better, worse;
  std::optional<double> difference, low, high;
  std::string method, told_apart;
};

PairRow RowOf(const PolicyEvaluation& a, const PolicyEvaluation& b,
              const std::optional<PolicyDifference>& difference) {
  PairRow row;
  row.better = a.policy.label;
  row.worse = b.policy.label;
  if (!difference) return row;
  row.difference = difference->value;
  row.low = difference->low;
  row.high = difference->high;
  row.method = EnumName(difference->method);
  row.told_apart = difference->tells_apart() ? "yes" : "no";
  return row;
}

}  // namespace

std::optional<PolicyDifference> DifferenceOf(const PolicyEvaluation& a, const PolicyEvaluation& b,
                                             const std::optional<Backtest>& logged, double level) {
  const ResultRow &first = a.stated(), &second = b.stated();
  if (!first.value || !second.value) return {};
  const auto both = [&](RowKind kind) {
    return ChooseHeadline(a.measured).key.kind == kind &&
           ChooseHeadline(b.measured).key.kind == kind;
  };
  if (both(RowKind::kCalibrated) && a.family && b.family && logged) {
    return CalibratedDifference(*a.family, *b.family, *logged, level);
  }
  if (both(RowKind::kModel) && a.measured.member_values.size() >= 2) {
    return MemberDifference(a, b, level);
  }
  if (!first.standard_error || !second.standard_error) return {};
  return MakeDifference(*first.value - *second.value,
                        *first.standard_error + *second.standard_error, kManyDegrees,
                        DifferenceMethod::kBound, level);
}

std::vector<std::optional<PolicyDifference>> DifferencesFromBest(
    std::span<const PolicyEvaluation> evaluations, const std::optional<Backtest>& logged,
    double level) {
  std::vector<std::optional<PolicyDifference>> differences(evaluations.size());
  for (std::size_t i = 1; i < evaluations.size(); ++i) {
    differences[i] = DifferenceOf(evaluations.front(), evaluations[i], logged, level);
  }
  return differences;
}

std::string BestText(std::span<const PolicyEvaluation> evaluations,
                     std::span<const std::optional<PolicyDifference>> from_best, double level) {
  std::vector<std::string> alike;
  std::size_t unknown = 0;
  for (std::size_t i = 1; i < evaluations.size(); ++i) {
    if (!from_best[i]) {
      ++unknown;
    } else if (!from_best[i]->tells_apart()) {
      alike.push_back(evaluations[i].policy.label);
    }
  }
  const std::size_t others = evaluations.size() - 1;
  std::string text = fmt::format("{} is ranked best; ", evaluations.front().policy.label);
  if (alike.empty()) {
    text += "the log tells every other policy apart from it";
  } else {
    const std::size_t count = alike.size();
    if (count > kMostNamed) alike.resize(kMostNamed);
    text += fmt::format("the log does not tell it from {} of {} others: {}{}", count, others,
                        fmt::join(alike, ", "), count > kMostNamed ? ", ..." : "");
  }
  if (unknown > 0) text += fmt::format("; of {} nothing is known", unknown);
  return text + fmt::format(" ({:.0f} % intervals of each difference alone, in pairs.csv)\n",
                            100.0 * level);
}

std::string PairsCsv(std::span<const PolicyEvaluation> evaluations,
                     const std::optional<Backtest>& logged, double level) {
  static const CsvColumns<PairRow> columns = {
      {"better", "", "the policy that is ranked higher", InQuotes(&PairRow::better)},
      {"worse", "", "the other one", InQuotes(&PairRow::worse)},
      {"difference", "return", "value of the better one less that of the other",
       &PairRow::difference},
      {"ci_low", "return", "lower end of the interval of this difference alone", &PairRow::low},
      {"ci_high", "return", "upper end", &PairRow::high},
      {"method", "", "what the interval is made from", &PairRow::method},
      {"told_apart", "", "whether the interval leaves out 0", &PairRow::told_apart}};
  std::vector<PairRow> rows;
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    for (std::size_t j = i + 1; j < evaluations.size(); ++j) {
      rows.push_back(RowOf(evaluations[i], evaluations[j],
                           DifferenceOf(evaluations[i], evaluations[j], logged, level)));
    }
  }
  return columns.Format(rows);
}

}  // namespace lfiw::experiments
