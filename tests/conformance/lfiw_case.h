#ifndef LFIW_TESTS_CONFORMANCE_LFIW_CASE_H_
#define LFIW_TESTS_CONFORMANCE_LFIW_CASE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "core/layers.h"
#include "core/rng.h"
#include "ope/rollouts/lfiw.h"
#include "tests/conformance/case_reader.h"

// Cases of the estimator lfiw: rollouts with weights, one expectation per horizon.
namespace lfiw::ope::lfiw_case {

using ::testing::HasSubstr;

struct Input {
  Array<double, 3> rewards;
  Array<double, 4> log_weights;
};

// A mixture of normal distributions, rows of weight, mean and variance.
struct Mixture {
  std::vector<std::array<double, 3>> parts;

  double LogDensity(double x) const {
    double density = 0.0;
    for (const auto& [weight, mean, variance] : parts) {
      density += weight * std::exp(-0.5 * (x - mean) * (x - mean) / variance) /
                 std::sqrt(2.0 * std::numbers::pi * variance);
    }
    return std::log(density);
  }
  double Draw(Stream& stream) const {
    double u = stream.Uniform();
    std::size_t part = 0;
    while (part + 1 < parts.size() && u >= parts[part][0]) u -= parts[part++][0];
    return parts[part][1] + std::sqrt(parts[part][2]) * stream.Normal();
  }
};

inline Input Generate(const Json& json) {
  EXPECT_EQ(json.at("kind"), "independent_states");
  const auto repetitions = json.at("repetitions").get<std::int64_t>();
  const auto n = json.at("episodes").get<std::int64_t>();
  const auto steps = json.at("steps").get<std::int64_t>();
  const Mixture truth{json.at("truth")}, model{json.at("model")};
  const auto power = json.at("reward_power").get<double>();
  Input input{Array<double, 3>({repetitions, n, steps}),
              Array<double, 4>({repetitions, 1, n, steps})};
  Stream stream(json.at("seed").get<std::uint64_t>(), "conformance");
  for (std::size_t k = 0; k < input.rewards.flat().size(); ++k) {
    const double x = model.Draw(stream);
    input.rewards.flat()[k] = std::pow(x, power);
    input.log_weights.flat()[k] = truth.LogDensity(x) - model.LogDensity(x);
  }
  return input;
}

inline Input ReadInput(const Json& json) {
  if (json.contains("generate")) return Generate(json.at("generate"));
  const bool linear = json.contains("ratios");
  Input input{ReadArray<3>(json.at("rewards")),
              ReadArray<4>(json.at(linear ? "ratios" : "log_ratios"))};
  if (linear) {
    for (double& value : input.log_weights.flat()) value = std::log(value);
  }
  return input;
}

inline void CheckValue(const LfiwEstimate& estimate, const Json& expect) {
  if (expect.contains("value")) {
    ASSERT_TRUE(estimate.value.has_value()) << estimate.reason;
    const double tolerance =
        expect.contains("standard_errors")
            ? expect.at("standard_errors").get<double>() * estimate.standard_error.value()
            : expect.value("tolerance", 1e-12);
    EXPECT_NEAR(*estimate.value, expect.at("value").get<double>(), tolerance);
  }
  if (expect.contains("no_value")) {
    EXPECT_FALSE(estimate.value.has_value());
    EXPECT_THAT(estimate.reason, HasSubstr(expect.at("no_value").get<std::string>()));
  }
  if (expect.contains("log10_value")) {
    ASSERT_TRUE(estimate.log10_value.has_value());
    EXPECT_NEAR(*estimate.log10_value, expect.at("log10_value").get<double>(), 0.005);
  }
}

inline void CheckDiagnostics(const LfiwEstimate& estimate, const Json& expect) {
  if (expect.contains("ess")) {
    EXPECT_NEAR(estimate.ess, expect.at("ess").get<double>(), expect.value("ess_tolerance", 1e-9));
  }
  if (expect.contains("clip_rate")) {
    EXPECT_DOUBLE_EQ(estimate.clip_rate, expect.at("clip_rate").get<double>());
  }
  if (expect.contains("no_khat")) {
    EXPECT_FALSE(estimate.khat.has_value());
    EXPECT_THAT(estimate.khat_reason, HasSubstr(expect.at("no_khat").get<std::string>()));
  }
}

inline void RunCase(const Json& json) {
  const Input input = ReadInput(json);
  const LfiwResult result =
      EstimateLfiw(input.rewards, input.log_weights, ReadOptions<ValueOptions>(json, "value"),
                   ReadOptions<LfiwOptions>(json, "options"));
  RequireKnownFields(json, {"name", "shows", "estimator", "options", "value", "rewards", "ratios",
                            "log_ratios", "generate", "expect"});
  for (const Json& expect : json.at("expect")) {
    RequireKnownFields(expect,
                       {"horizon", "value", "tolerance", "standard_errors", "ess", "ess_tolerance",
                        "clip_rate", "log10_value", "no_value", "no_khat"});
    const auto horizon = expect.at("horizon").get<std::size_t>();
    SCOPED_TRACE(horizon);
    const LfiwEstimate& estimate = result.horizons.at(horizon);
    CheckValue(estimate, expect);
    CheckDiagnostics(estimate, expect);
  }
}

}  // namespace lfiw::ope::lfiw_case

#endif  // LFIW_TESTS_CONFORMANCE_LFIW_CASE_H_
