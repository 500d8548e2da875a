#ifndef LFIW_TESTS_CONFORMANCE_METRIC_CASE_H_
#define LFIW_TESTS_CONFORMANCE_METRIC_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/layers.h"
#include "ope/judgement/bench_metrics.h"
#include "ope/judgement/episode_intervals.h"
#include "tests/conformance/case_reader.h"

// Cases of metrics over estimates with known truths, and of intervals from episodes.
namespace lfiw::ope::metric_case {

// Mean normalized score by D4RL's returns of an environment.
inline std::optional<double> MeanScore(const std::vector<double>& estimates, const Json& json) {
  const auto reference = D4rlReturns(json.at("environment").get<std::string>());
  if (!reference) return {};
  double sum = 0.0;
  for (const double estimate : estimates) sum += NormalizedScore(estimate, *reference);
  return sum / static_cast<double>(estimates.size());
}

inline std::optional<double> Metric(const std::string& name, const Json& json) {
  const auto estimates = json.at("estimates").get<std::vector<double>>();
  const auto truths = json.at("truths").get<std::vector<double>>();
  const auto k = json.value("k", std::int64_t{1});
  if (name == "bias") return MeasureErrors(estimates, truths).bias;
  if (name == "mae") return MeasureErrors(estimates, truths).mae;
  if (name == "rmse") return MeasureErrors(estimates, truths).rmse;
  if (name == "relative") return MeasureErrors(estimates, truths).relative;
  if (name == "spearman") return SpearmanCorrelation(estimates, truths);
  if (name == "kendall") return KendallCorrelation(estimates, truths);
  if (name == "regret_at_k") return RegretAtK(estimates, truths, k);
  if (name == "top_k_precision") return TopKPrecision(estimates, truths, k);
  if (name == "normalized") return MeanScore(estimates, json);
  throw std::runtime_error("unknown metric " + name);
}

inline void RunMetrics(const Json& json) {
  RequireKnownFields(json, {"name", "shows", "estimates", "truths", "k", "environment", "expect"});
  for (const auto& [name, expected] : json.at("expect").items()) {
    SCOPED_TRACE(name);
    const std::optional<double> metric = Metric(name, json);
    ASSERT_EQ(metric.has_value(), !expected.is_null());
    if (metric) {
      EXPECT_NEAR(*metric, expected.get<double>(), 1e-9);
    }
  }
}

inline void RunInterval(const Json& json) {
  RequireKnownFields(json, {"name", "shows", "contributions", "interval", "range", "expect"});
  RequireKnownFields(json.at("expect"), {"low", "high", "tolerance", "no_value"});
  const auto values = json.at("contributions").get<std::vector<double>>();
  EpisodeTerms terms{Array<double, 2>({std::ssize(values), 1}),
                     Array<double, 2>({std::ssize(values), 0})};
  std::copy(values.begin(), values.end(), terms.numerators.flat().begin());
  std::optional<ReturnRange> range;
  if (json.contains("range")) range = {json.at("range").at(0), json.at("range").at(1)};
  const EpisodeInterval interval =
      MakeEpisodeInterval(terms, ReadOptions<EpisodeIntervalOptions>(json, "interval"), range);

  const Json& expect = json.at("expect");
  const double tolerance = expect.value("tolerance", 1e-9);
  for (const auto& [end, name] : {std::pair(interval.low, "low"), {interval.high, "high"}}) {
    if (!expect.contains(name)) continue;
    ASSERT_EQ(end.has_value(), !expect.at(name).is_null()) << name << interval.reason;
    if (end) {
      EXPECT_NEAR(*end, expect.at(name).get<double>(), tolerance) << name;
    }
  }
  if (expect.contains("no_value")) {
    EXPECT_THAT(interval.reason, testing::HasSubstr(expect.at("no_value").get<std::string>()));
  }
}

}  // namespace lfiw::ope::metric_case

#endif  // LFIW_TESTS_CONFORMANCE_METRIC_CASE_H_
