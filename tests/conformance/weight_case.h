#ifndef LFIW_TESTS_CONFORMANCE_WEIGHT_CASE_H_
#define LFIW_TESTS_CONFORMANCE_WEIGHT_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/rng.h"
#include "ope/judgement/psis.h"
#include "ope/rollouts/log_weights.h"
#include "policies/files/action_head.h"
#include "tests/conformance/case_reader.h"

// Cases of single parts: the tail of weights, their effective sample size, densities of actions.
namespace lfiw::ope::weight_case {

inline void CheckOptional(const std::optional<double>& number, const Json& expect,
                          const std::string& name, double tolerance) {
  if (!expect.contains(name)) return;
  ASSERT_EQ(number.has_value(), !expect.at(name).is_null()) << name;
  if (number) {
    EXPECT_NEAR(*number, expect.at(name).get<double>(), tolerance) << name;
  }
}

inline std::vector<double> ReadNumbers(const Json& json) {
  std::vector<double> numbers;
  AppendLeaves(json, numbers);
  return numbers;
}

// Ascending draws of a generalized Pareto distribution, or numbers as they are given.
inline std::vector<double> Excesses(const Json& json) {
  if (json.is_array()) return ReadNumbers(json);
  const GeneralizedPareto truth{.k = json.at("k"), .sigma = json.at("sigma")};
  Stream stream(json.at("seed").get<std::uint64_t>(), "conformance");
  std::vector<double> draws;
  while (std::ssize(draws) < json.at("draws").get<std::int64_t>()) {
    // an excess is above 0
    if (const double x = truth.Quantile(stream.Uniform()); x > 0.0) draws.push_back(x);
  }
  std::ranges::sort(draws);
  return draws;
}

inline void RunTail(const Json& json) {
  const GeneralizedPareto fit = FitGeneralizedPareto(Excesses(json.at("tail")));
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"k", "sigma", "tolerance"});
  const double tolerance = expect.value("tolerance", 1e-9);
  CheckOptional(fit.k, expect, "k", tolerance);
  CheckOptional(fit.sigma, expect, "sigma", tolerance);
}

inline void RunThreshold(const Json& json) {
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"threshold"});
  CheckOptional(KhatThreshold(json.at("khat_of").at("samples")), expect, "threshold", 5e-5);
}

inline void RunWeights(const Json& json) {
  const std::vector<double> logs = ReadNumbers(json.at("log_weights"));
  const WeightSummary summary = Summarize(logs);
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"ess", "max_weight", "khat"});
  CheckOptional(summary.ess, expect, "ess", 1e-9);
  CheckOptional(summary.max_weight, expect, "max_weight", 1e-9);
  CheckOptional(FitTail(logs).khat, expect, "khat", 1e-9);
}

// A Gaussian of one mean and log-deviation per dimension, squashed or clipped into its bounds.
inline double LogDensity(const Json& policy, const Json& json) {
  const auto low = json.at("low").get<std::vector<double>>();
  const auto high = json.at("high").get<std::vector<double>>();
  const auto action = json.at("action").get<std::vector<float>>();
  ActionHead head;
  head.kind = OutputKind::kMean;
  head.squash = json.at("squash") == "tanh" ? Squash::kTanh : Squash::kClip;
  head.action_dim = std::ssize(low);
  const auto log_std = policy.at("log_std").get<std::vector<float>>();
  head.log_std = Eigen::Map<const VectorF>(log_std.data(), head.action_dim);
  head.low = Eigen::Map<const Eigen::VectorXd>(low.data(), head.action_dim).cast<float>();
  head.high = Eigen::Map<const Eigen::VectorXd>(high.data(), head.action_dim).cast<float>();
  const auto mean = policy.at("mean").get<std::vector<float>>();
  return head.LogDensity(mean.data(), action.data(), low.data(), high.data());
}

inline void RunDensity(const Json& json) {
  const double evaluation = LogDensity(json.at("evaluation"), json);
  const double behavior = LogDensity(json.at("behavior"), json);
  EXPECT_TRUE(std::isfinite(evaluation)) << evaluation;
  EXPECT_TRUE(std::isfinite(behavior)) << behavior;
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"log_ratio", "log_density", "tolerance"});
  const double tolerance = expect.value("tolerance", 0.0);
  CheckOptional(evaluation - behavior, expect, "log_ratio", tolerance);
  CheckOptional(evaluation, expect, "log_density", tolerance);
}

inline bool IsWeightCase(const Json& json) {
  return json.contains("tail") || json.contains("khat_of") || json.contains("log_weights") ||
         json.contains("squash");
}

inline void RunCase(const Json& json) {
  RequireKnownFields(json, {"name", "shows", "tail", "khat_of", "log_weights", "squash", "low",
                            "high", "action", "evaluation", "behavior", "expect"});
  if (json.contains("tail")) return RunTail(json);
  if (json.contains("khat_of")) return RunThreshold(json);
  if (json.contains("log_weights")) return RunWeights(json);
  RunDensity(json);
}

}  // namespace lfiw::ope::weight_case

#endif  // LFIW_TESTS_CONFORMANCE_WEIGHT_CASE_H_
