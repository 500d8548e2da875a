#ifndef LFIW_TESTS_CONFORMANCE_SYSTEM_CASE_H_
#define LFIW_TESTS_CONFORMANCE_SYSTEM_CASE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/layers.h"
#include "envs/linear_gaussian.h"
#include "envs/linear_gaussian_log.h"
#include "envs/tabular.h"
#include "ope/fits/closed_form_inputs.h"
#include "ope/fits/linear_gaussian_fits.h"
#include "ope/fits/tabular_fits.h"
#include "tests/conformance/case_reader.h"
#include "tests/conformance/estimator_case.h"

// Cases of systems whose values are known: the values themselves, what is fitted to a log by
// counting, and estimates from a simulated log.
namespace lfiw::ope::system_case {

using estimator_case::ReadEstimand;

inline TabularSystem ReadTabular(const Json& json) {
  RequireKnownFields(json,
                     {"states", "actions", "initial", "terminal", "observations", "outcomes"});
  TabularSystem system = ZeroTabular(json.at("states"), json.at("actions"));
  system.initial = json.at("initial").get<std::vector<double>>();
  for (const Json& state : json.at("terminal")) system.terminal.at(state.get<std::size_t>()) = 1;
  system.observations = json.value("observations", system.observations);
  for (const Json& outcome : json.at("outcomes")) {
    const std::int64_t s = outcome.at(0), a = outcome.at(1), next = outcome.at(2);
    system.transitions(s, a, next) = outcome.at(3);
    system.rewards(s, a, next) = outcome.at(4);
  }
  Validate(system);
  return system;
}

// A row of probabilities for each observation, or one for all.
inline TabularPolicy ReadTabularPolicy(const Json& json, std::int64_t observations) {
  if (json.at(0).is_array()) return ReadArray<2>(json);
  TabularPolicy policy({observations, std::ssize(json)});
  for (std::int64_t o = 0; o < observations; ++o) {
    for (std::int64_t a = 0; a < std::ssize(json); ++a) {
      policy(o, a) = json.at(static_cast<std::size_t>(a));
    }
  }
  return policy;
}

inline MatrixD ReadMatrix(const Json& json) {
  const Array<double, 2> array = ReadArray<2>(json);
  return Eigen::Map<const MatrixD>(array.flat().data(), array.shape()[0], array.shape()[1]);
}

inline VectorD ReadVector(const Json& json) {
  const auto values = json.get<std::vector<double>>();
  return Eigen::Map<const VectorD>(values.data(), std::ssize(values));
}

// What is not given is zero.
inline LinearGaussianSystem ReadLinearGaussian(const Json& json) {
  static const std::map<std::string, MatrixD LinearGaussianSystem::*> matrices = {
      {"state_matrix", &LinearGaussianSystem::state_matrix},
      {"action_matrix", &LinearGaussianSystem::action_matrix},
      {"noise_covariance", &LinearGaussianSystem::noise_covariance},
      {"initial_covariance", &LinearGaussianSystem::initial_covariance},
      {"state_cost", &LinearGaussianSystem::state_cost},
      {"action_cost", &LinearGaussianSystem::action_cost}};
  static const std::map<std::string, VectorD LinearGaussianSystem::*> vectors = {
      {"offset", &LinearGaussianSystem::offset},
      {"initial_mean", &LinearGaussianSystem::initial_mean},
      {"next_state_reward", &LinearGaussianSystem::next_state_reward}};
  LinearGaussianSystem system = ZeroLinearGaussian(std::ssize(json.at("state_matrix")),
                                                   std::ssize(json.at("action_matrix").at(0)));
  for (const auto& [name, value] : json.items()) {
    if (matrices.contains(name)) {
      system.*matrices.at(name) = ReadMatrix(value);
    } else {
      system.*vectors.at(name) = ReadVector(value);
    }
  }
  Validate(system);
  return system;
}

inline LinearGaussianPolicy ReadLinearGaussianPolicy(const Json& json) {
  return {ReadMatrix(json.at("gain")), ReadVector(json.at("offset")),
          ReadMatrix(json.at("covariance"))};
}

inline double TruthOf(const TabularSystem& system, const TabularPolicy& policy,
                      const Estimand& estimand) {
  const double factor = StepFactors(estimand, 1).front();
  return factor *
         ExpectedValue(
             system, estimand.horizon
                         ? FiniteHorizonValues(system, policy, *estimand.horizon, estimand.discount)
                         : InfiniteHorizonValues(system, policy, estimand.discount));
}

inline double TruthOf(const LinearGaussianSystem& system, const LinearGaussianPolicy& policy,
                      const Estimand& estimand) {
  const double factor = StepFactors(estimand, 1).front();
  const QuadraticValue value =
      estimand.horizon ? FiniteHorizonValue(system, policy, *estimand.horizon, estimand.discount)
                       : InfiniteHorizonValue(system, policy, estimand.discount);
  return factor * value.Expected(system.initial_mean, system.initial_covariance);
}

// Estimates from a simulated log, each near a value within its own standard errors or a tolerance.
inline void CheckEstimates(const EstimatorInputs& inputs, const Json& json) {
  for (const Json& expect : json.at("expect").at("estimates")) {
    RequireKnownFields(expect, {"estimator", "value", "standard_errors", "tolerance"});
    for (const std::string& name : estimator_case::NamesOf(expect)) {
      SCOPED_TRACE(name);
      const Estimate estimate =
          RunEstimator(estimator_case::MakeEstimator(name, expect), inputs, ReadEstimand(json));
      ASSERT_TRUE(estimate.value.has_value()) << estimate.reason;
      const double tolerance =
          expect.contains("standard_errors")
              ? expect.at("standard_errors").get<double>() * estimate.standard_error.value()
              : expect.at("tolerance").get<double>();
      const Json& value = expect.contains("value") ? expect : json.at("expect");
      EXPECT_NEAR(*estimate.value, value.at("value").get<double>(), tolerance);
    }
  }
}

// Simulates the log of a case.
template <class System, class Policy>
auto LogOf(const System& system, const Policy& behavior, const Json& json) {
  const Json& log = json.at("log");
  RequireKnownFields(log, {"episodes", "steps", "seed"});
  const std::int64_t steps = log.contains("steps") ? log.at("steps").get<std::int64_t>()
                                                   : ReadEstimand(json).horizon.value();
  return SampleLog(system, behavior, log.at("episodes"), steps,
                   Stream(log.at("seed").get<std::uint64_t>(), "conformance"));
}

inline void CheckValue(double value, const Json& expect) {
  EXPECT_NEAR(value, expect.at("value").get<double>(), expect.value("tolerance", 1e-9));
}

inline void RunTabular(const Json& json) {
  const TabularSystem system = ReadTabular(json.at("tabular"));
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"value", "tolerance", "optimal", "estimates"});
  const Estimand estimand = ReadEstimand(json);
  if (expect.contains("optimal")) {
    const std::vector<double> best = OptimalValues(system, estimand.discount);
    for (std::size_t s = 0; s < best.size(); ++s) {
      EXPECT_NEAR(best[s], expect.at("optimal").at(s).get<double>(),
                  expect.value("tolerance", 1e-9));
    }
  }
  if (!json.contains("evaluation")) return;
  const std::int64_t seen = system.observation_count();
  const TabularPolicy evaluation = ReadTabularPolicy(json.at("evaluation"), seen);
  CheckValue(TruthOf(system, evaluation, estimand), expect);
  if (!json.contains("log")) return;
  const TabularPolicy behavior = ReadTabularPolicy(json.at("behavior"), seen);
  CheckEstimates(MakeTabularInputs(system, behavior, evaluation, LogOf(system, behavior, json),
                                   estimand, {}, json.at("log").at("seed")),
                 json);
}

inline void RunLinearGaussian(const Json& json) {
  const LinearGaussianSystem system = ReadLinearGaussian(json.at("linear_gaussian"));
  const LinearGaussianPolicy evaluation = ReadLinearGaussianPolicy(json.at("evaluation"));
  RequireKnownFields(json.at("expect"), {"value", "tolerance", "estimates"});
  const Estimand estimand = ReadEstimand(json);
  CheckValue(TruthOf(system, evaluation, estimand), json.at("expect"));
  if (!json.contains("log")) return;
  const LinearGaussianPolicy behavior = ReadLinearGaussianPolicy(json.at("behavior"));
  CheckEstimates(
      MakeLinearGaussianInputs(system, behavior, evaluation, LogOf(system, behavior, json),
                               estimand, {}, json.at("log").at("seed")),
      json);
}

inline Array<std::int64_t, 2> ReadIndices(const Json& json, std::int64_t columns) {
  const Array<double, 2> numbers = ReadRagged(json, columns);
  Array<std::int64_t, 2> out(numbers.shape());
  std::transform(numbers.flat().begin(), numbers.flat().end(), out.flat().begin(),
                 [](double number) { return static_cast<std::int64_t>(number); });
  return out;
}

inline TabularLog ReadLog(const Json& json) {
  RequireKnownFields(json, {"observations", "actions", "rewards", "terminated"});
  TabularLog log;
  log.lengths = estimator_case::ReadLengths(json);
  const std::int64_t steps = *std::ranges::max_element(log.lengths);
  log.observations = ReadIndices(json.at("observations"), steps + 1);
  log.states = log.observations;
  log.actions = ReadIndices(json.at("actions"), steps);
  log.rewards = ReadRagged(json.at("rewards"), steps);
  log.terminated = json.at("terminated").get<std::vector<std::uint8_t>>();
  return log;
}

// Fitted Q evaluation by counting on the steps of a log.
inline void RunFit(const Json& json) {
  const TabularLog log = ReadLog(json.at("logged"));
  const Json& expect = json.at("expect");
  RequireKnownFields(expect, {"value", "tolerance", "q"});
  const Estimand estimand = ReadEstimand(json);
  const std::int64_t seen = *std::ranges::max_element(log.observations.flat()) + 1;
  const ValueArrays values = ValuesAtSteps(
      FitTabularQ(log, ReadTabularPolicy(json.at("evaluation"), seen), estimand), log);
  double mean = 0.0;
  for (std::int64_t i = 0; i < log.episodes(); ++i) {
    mean += values.v(i, 0) / static_cast<double>(log.episodes());
  }
  CheckValue(mean, expect);
  if (!expect.contains("q")) return;
  const Array<double, 2> q = ReadRagged(expect.at("q"), log.steps());
  for (std::size_t k = 0; k < q.flat().size(); ++k) {
    EXPECT_NEAR(values.q.flat()[k], q.flat()[k], expect.value("tolerance", 1e-9)) << k;
  }
}

inline bool IsSystemCase(const Json& json) {
  return json.contains("tabular") || json.contains("linear_gaussian") || json.contains("logged");
}

inline void RunCase(const Json& json) {
  RequireKnownFields(json, {"name", "shows", "tabular", "linear_gaussian", "logged", "behavior",
                            "evaluation", "value", "log", "expect"});
  if (json.contains("tabular")) return RunTabular(json);
  if (json.contains("linear_gaussian")) return RunLinearGaussian(json);
  RunFit(json);
}

}  // namespace lfiw::ope::system_case

#endif  // LFIW_TESTS_CONFORMANCE_SYSTEM_CASE_H_
