#include "experiments/bench/bench_config.h"

#include <fmt/format.h>

#include <utility>

#include "core/config/config.h"
#include "core/error.h"
#include "envs/env_registry.h"
#include "envs/tabular_systems.h"

namespace lfiw::experiments {

namespace {

void CheckEndless(const BenchConfig& config, std::vector<std::string>& problems) {
  if (!config.tasks.empty()) {
    problems.emplace_back(
        "value.horizon: inf has no logs, rollouts and truths of environments; set a number of "
        "steps or leave tasks out");
  }
  if (!(config.value.discount < 1.0)) {
    problems.push_back(
        fmt::format("value.discount: {} over a horizon of inf, expected a number below 1",
                    config.value.discount));
  }
}

}  // namespace

BenchConfig::BenchConfig(FitRegistry known) : fits(std::move(known)) {
  const EvaluationConfig robust = DefaultsOf(Preset::kRobust);
  log = robust.log;
  dynamics = robust.dynamics;
  // each member skips a fold, so that every logged transition can correct the model
  log.cross_fit = dynamics.members;
  classifiers = robust.classifiers;
  rollout = robust.rollout;
}

BenchConfig LoadBenchConfig(const std::string& path, const std::vector<std::string>& overrides,
                            FitRegistry known) {
  BenchConfig config(std::move(known));
  ReadConfig(internal::LoadNode(path, overrides), config);
  return config;
}

void CheckConfig(const BenchConfig& config, const EstimatorRegistry& registry) {
  std::vector<std::string> problems;
  const auto check = [&](const auto& find) {
    try {
      find();
    } catch (const ConfigError& error) {
      problems.emplace_back(error.what());
    }
  };
  if (config.tabular.empty() && config.linear_gaussian == 0 && config.tasks.empty()) {
    problems.emplace_back(
        "bench: list systems in tabular, a number of linear_gaussian ones, or environments in "
        "tasks");
  }
  if (config.value.infinite()) CheckEndless(config, problems);
  if (config.log_episodes.empty()) {
    problems.emplace_back("log_episodes: the list needs at least one entry");
  }
  check([&] { MakeEstimators(config.estimators, registry, config.fits); });
  for (const std::string& name : config.tabular) check([&] { FindTabularProblem(name); });
  for (const BenchTask& task : config.tasks) check([&] { FindEnv(task.environment); });
  if (!problems.empty()) throw ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
}

}  // namespace lfiw::experiments
