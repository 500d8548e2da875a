#ifndef LFIW_TESTS_CONFORMANCE_ESTIMATOR_CASE_H_
#define LFIW_TESTS_CONFORMANCE_ESTIMATOR_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/layers.h"
#include "ope/estimators/action_ratios.h"
#include "ope/estimators/doubly_robust.h"
#include "ope/estimators/importance_sampling.h"
#include "tests/conformance/case_reader.h"

// Cases of the estimators on logged episodes.
namespace lfiw::ope::estimator_case {

using ::testing::Contains;
using ::testing::HasSubstr;

inline Estimand ReadEstimand(const Json& json) {
  Json value = json.value("value", Json::object());
  Estimand estimand;
  const Json horizon = value.value("horizon", Json("inf"));
  if (horizon.is_number()) estimand.horizon = horizon.get<std::int64_t>();
  value.erase("horizon");
  static_cast<ValueOptions&>(estimand) = ReadOptions<ValueOptions>(Json{{"value", value}}, "value");
  return estimand;
}

inline std::vector<std::int64_t> ReadLengths(const Json& json) {
  std::vector<std::int64_t> lengths;
  const Json& rewards = json.at("rewards");
  if (json.contains("lengths")) return json.at("lengths").get<std::vector<std::int64_t>>();
  if (rewards.is_array()) {
    for (const Json& row : rewards) lengths.push_back(static_cast<std::int64_t>(row.size()));
  } else {
    lengths.assign(rewards.at("shape").at(0).get<std::size_t>(),
                   rewards.at("shape").at(1).get<std::int64_t>());
  }
  return lengths;
}

// Log-ratios from the probabilities (or densities) of the logged actions under both policies.
inline Array<double, 2> FromProbabilities(const Json& json,
                                          const std::vector<std::int64_t>& lengths,
                                          std::int64_t steps) {
  EpisodeBatch log;
  for (const std::int64_t length : lengths) log.offsets.push_back(log.offsets.back() + length);
  std::vector<double> evaluation, behavior;
  AppendLeaves(json.at("evaluation"), evaluation);
  AppendLeaves(json.at("behavior"), behavior);
  for (auto* values : {&evaluation, &behavior}) {
    for (double& value : *values) value = std::log(value);
  }
  std::vector<std::int64_t> episodes(lengths.size());
  std::iota(episodes.begin(), episodes.end(), 0);
  const ActionKind kind = json.value("actions", "discrete") == "discrete" ? ActionKind::kDiscrete
                                                                          : ActionKind::kContinuous;
  return ActionLogRatios(log, episodes, evaluation, behavior, kind, steps, "case");
}

inline void ReadRatios(const Json& json, EstimatorInputs& in) {
  if (json.contains("behavior")) {
    in.log_ratios["action"] = FromProbabilities(json, in.lengths, in.steps());
  } else if (json.contains("ratios")) {
    Array<double, 2> ratios = ReadRagged(json.at("ratios"), in.steps());
    for (std::int64_t i = 0; i < in.episodes(); ++i) {
      for (std::int64_t t = 0; t < in.steps(); ++t) {
        const bool taken = t < in.lengths[static_cast<std::size_t>(i)];
        ratios(i, t) = taken ? std::log(ratios(i, t)) : 0.0;
      }
    }
    in.log_ratios["action"] = std::move(ratios);
  } else if (json.contains("log_ratios")) {
    in.log_ratios["action"] = ReadRagged(json.at("log_ratios"), in.steps());
  }
}

// What is named beside the action ratios: ratios of states, marginal weights, rollouts.
inline void ReadFitted(const Json& json, EstimatorInputs& in) {
  const Json fitted = json.value("values", Json::object());
  for (const auto& [name, values] : fitted.items()) {
    in.values[name] = {
        ReadRagged(values.at("q"), in.steps()), ReadRagged(values.at("v"), in.steps() + 1), {}};
  }
  const Json ratios = json.value("fitted_log_ratios", Json::object());
  for (const auto& [name, array] : ratios.items()) {
    in.log_ratios[name] = ReadRagged(array, in.steps());
  }
  const Json weights = json.value("fitted_weights", Json::object());
  for (const auto& [name, array] : weights.items()) {
    in.weights[name] = ReadRagged(array, in.steps());
  }
  if (json.contains("model_rewards")) in.model_rewards = ReadArray<3>(json.at("model_rewards"));
  if (json.contains("model_log_ratios")) {
    in.model_log_weights = ReadArray<4>(json.at("model_log_ratios"));
  } else if (json.contains("model_ratios")) {
    in.model_log_weights = ReadArray<4>(json.at("model_ratios"));
    for (double& value : in.model_log_weights.flat()) value = std::log(value);
  }
  in.missing = json.value("missing", std::map<std::string, std::string>());
}

inline EstimatorInputs ReadInputs(const Json& json) {
  EstimatorInputs in;
  const Json& rewards = json.at("rewards");
  in.lengths = ReadLengths(json);
  std::int64_t steps = 0;
  for (const std::int64_t length : in.lengths) steps = std::max(steps, length);
  in.rewards = ReadRagged(rewards, steps);
  const Estimand estimand = ReadEstimand(json);
  for (const std::int64_t length : in.lengths) {
    in.terminated.push_back(!estimand.horizon || length < *estimand.horizon);
  }
  if (json.contains("terminated")) {
    in.terminated = json.at("terminated").get<std::vector<std::uint8_t>>();
  }
  ReadRatios(json, in);
  ReadFitted(json, in);
  return in;
}

// One of the standard estimators, or a family with options of its own.
inline Estimator MakeEstimator(const std::string& name, const Json& json) {
  if (name == "importance_sampling") {
    return ImportanceSampling(ReadOptions<ImportanceSamplingOptions>(json, "options"));
  }
  if (name == "doubly_robust") {
    return DoublyRobust(ReadOptions<DoublyRobustOptions>(json, "options"));
  }
  if (name == "magic") return Magic(ReadOptions<MagicOptions>(json, "options"));
  return StandardEstimators().Find(name);
}

inline void CheckNumber(const std::optional<double>& number, const Json& expect,
                        const std::string& field, double tolerance) {
  if (!expect.contains(field)) return;
  ASSERT_EQ(number.has_value(), !expect.at(field).is_null()) << field;
  if (!number) return;
  EXPECT_NEAR(*number, expect.at(field).get<double>(), tolerance) << field;
}

// Whatever is expected: no number is NaN or infinite, and a value has its reason if absent.
inline void CheckSound(const Estimate& estimate) {
  for (const auto& number : {estimate.value, estimate.log10_value, estimate.standard_error,
                             estimate.ess, estimate.khat, estimate.max_weight}) {
    EXPECT_TRUE(std::isfinite(number.value_or(0.0))) << *number;
  }
  EXPECT_NE(estimate.value.has_value(), !estimate.reason.empty()) << estimate.reason;
}

inline void CheckEstimate(const Estimate& estimate, const Json& expect) {
  CheckSound(estimate);
  if (expect.contains("value")) {
    ASSERT_TRUE(estimate.value.has_value()) << estimate.reason;
  }
  const double tolerance = expect.value("tolerance", 1e-12);
  CheckNumber(estimate.value, expect, "value", tolerance);
  CheckNumber(estimate.standard_error, expect, "standard_error", tolerance);
  CheckNumber(estimate.ess, expect, "ess", expect.value("ess_tolerance", 1e-9));
  CheckNumber(estimate.max_weight, expect, "max_weight", 1e-9);
  CheckNumber(estimate.log10_value, expect, "log10_value", 0.005);
  if (expect.contains("between")) {
    ASSERT_TRUE(estimate.value.has_value()) << estimate.reason;
    EXPECT_GE(*estimate.value, expect.at("between").at(0).get<double>());
    EXPECT_LE(*estimate.value, expect.at("between").at(1).get<double>());
  }
  if (expect.contains("no_value")) {
    EXPECT_FALSE(estimate.value.has_value());
    EXPECT_THAT(estimate.reason, HasSubstr(expect.at("no_value").get<std::string>()));
  }
  if (expect.contains("note")) {
    EXPECT_THAT(estimate.notes, Contains(HasSubstr(expect.at("note").get<std::string>())));
  }
}

// One estimator, or several that must agree.
inline std::vector<std::string> NamesOf(const Json& json) {
  const Json& named = json.at("estimator");
  if (named.is_array()) return named.get<std::vector<std::string>>();
  return {named.get<std::string>()};
}

// The message of what is thrown; empty when nothing is.
inline std::string ErrorOf(const std::string& name, const Json& json) {
  try {
    RunEstimator(MakeEstimator(name, json), ReadInputs(json), ReadEstimand(json));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline void RequireFields(const Json& json) {
  RequireKnownFields(json, {"name",
                            "shows",
                            "estimator",
                            "options",
                            "value",
                            "rewards",
                            "lengths",
                            "terminated",
                            "ratios",
                            "log_ratios",
                            "behavior",
                            "evaluation",
                            "actions",
                            "values",
                            "model_rewards",
                            "model_ratios",
                            "model_log_ratios",
                            "fitted_log_ratios",
                            "fitted_weights",
                            "missing",
                            "expect"});
  RequireKnownFields(json.at("expect"),
                     {"value", "standard_error", "tolerance", "between", "ess", "ess_tolerance",
                      "max_weight", "log10_value", "no_value", "note", "error"});
}

inline void RunCase(const Json& json) {
  RequireFields(json);
  const Json& expect = json.at("expect");
  for (const std::string& name : NamesOf(json)) {
    SCOPED_TRACE(name);
    if (expect.contains("error")) {
      EXPECT_THAT(ErrorOf(name, json), HasSubstr(expect.at("error").get<std::string>()));
      continue;
    }
    CheckEstimate(RunEstimator(MakeEstimator(name, json), ReadInputs(json), ReadEstimand(json)),
                  expect);
  }
}

}  // namespace lfiw::ope::estimator_case

#endif  // LFIW_TESTS_CONFORMANCE_ESTIMATOR_CASE_H_
