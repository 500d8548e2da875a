#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/array.h"
#include "core/config.h"
#include "core/rng.h"
#include "ope/lfiw.h"

namespace lfiw {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

void AppendLeaves(const Json& nested, std::vector<double>& leaves) {
  if (nested.is_array()) {
    for (const Json& item : nested) AppendLeaves(item, leaves);
  } else {
    leaves.push_back(nested.get<double>());
  }
}

template <std::size_t Rank>
Array<double, Rank> ReadNested(const Json& json) {
  typename Array<double, Rank>::Shape shape{};
  const Json* level = &json;
  for (std::size_t k = 0; k < Rank; ++k) {
    shape[k] = static_cast<std::int64_t>(level->size());
    level = &level->at(0);
  }
  std::vector<double> leaves;
  AppendLeaves(json, leaves);
  Array<double, Rank> array(shape);
  if (leaves.size() != array.flat().size()) throw std::runtime_error("a ragged array");
  std::copy(leaves.begin(), leaves.end(), array.flat().begin());
  return array;
}

template <std::size_t Rank>
Array<double, Rank> ReadArray(const Json& json) {
  if (json.is_array()) return ReadNested<Rank>(json);
  const auto shape = json.at("shape").get<typename Array<double, Rank>::Shape>();
  Array<double, Rank> array(shape, json.value("fill", 0.0));
  for (const Json& entry : json.value("entries", Json::array())) {
    std::size_t offset = 0;
    for (std::size_t k = 0; k < Rank; ++k) {
      offset = offset * static_cast<std::size_t>(shape[k]) + entry.at(k).get<std::size_t>();
    }
    array.flat()[offset] = entry.at(Rank).get<double>();
  }
  return array;
}

struct Input {
  Array<double, 3> rewards;
  Array<double, 4> log_weights;
};

Input Generate(const Json& json) {
  EXPECT_EQ(json.at("kind"), "shifted_normal");
  const auto repetitions = json.at("repetitions").get<std::int64_t>();
  const auto n = json.at("episodes").get<std::int64_t>();
  const auto steps = json.at("steps").get<std::int64_t>();
  const auto shift = json.at("shift").get<double>();
  Input input{Array<double, 3>({repetitions, n, steps}),
              Array<double, 4>({repetitions, 1, n, steps})};
  Stream stream(json.at("seed").get<std::uint64_t>(), "conformance");
  stream.FillNormal(input.rewards.flat());
  const auto states = input.rewards.flat();
  std::transform(states.begin(), states.end(), input.log_weights.flat().begin(),
                 [&](double x) { return shift * x - shift * shift / 2.0; });
  return input;
}

Input ReadInput(const Json& json) {
  if (json.contains("generate")) return Generate(json.at("generate"));
  const bool linear = json.contains("ratios");
  Input input{ReadArray<3>(json.at("rewards")),
              ReadArray<4>(json.at(linear ? "ratios" : "log_ratios"))};
  if (linear) {
    for (double& value : input.log_weights.flat()) value = std::log(value);
  }
  return input;
}

template <class Options>
Options ReadOptions(const Json& json, const char* key) {
  Options options;
  if (json.contains(key)) ReadConfig(ParseYaml(json.at(key).dump(), key), options);
  return options;
}

void CheckValue(const LfiwEstimate& estimate, const Json& expect) {
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

void CheckDiagnostics(const LfiwEstimate& estimate, const Json& expect) {
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

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, EveryCaseGivesItsKnownAnswer) {
  std::ifstream file(std::string(LFIW_TEST_DATA) + "/conformance/data/" + GetParam() + ".json");
  ASSERT_TRUE(file.good());
  const Json document = Json::parse(file);
  ASSERT_EQ(document.at("schema"), 1);
  for (const Json& json : document.at("cases")) {
    SCOPED_TRACE(json.at("name").get<std::string>());
    const Input input = ReadInput(json);
    const LfiwResult result =
        EstimateLfiw(input.rewards, input.log_weights, ReadOptions<ValueOptions>(json, "value"),
                     ReadOptions<LfiwOptions>(json, "options"));
    for (const Json& expect : json.at("expect")) {
      const auto horizon = expect.at("horizon").get<std::size_t>();
      SCOPED_TRACE(horizon);
      const LfiwEstimate& estimate = result.horizons.at(horizon);
      CheckValue(estimate, expect);
      CheckDiagnostics(estimate, expect);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lfiw, Conformance,
                         testing::Values("lfiw_closed_form", "lfiw_limits", "lfiw_extremes"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace lfiw
