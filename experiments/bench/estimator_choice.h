#ifndef LFIW_EXPERIMENTS_BENCH_ESTIMATOR_CHOICE_H_
#define LFIW_EXPERIMENTS_BENCH_ESTIMATOR_CHOICE_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/config/config.h"
#include "core/layers.h"
#include "ope/estimator.h"
#include "ope/fit.h"

namespace lfiw::experiments {

// A registered estimator as a configuration names it: `wis`, or with some of its options,
// `{name: wis, ratios: {max_weight: 20}}`.
struct EstimatorChoice {
  std::string name;
  ConfigNode options = ConfigNode::Map();  // read when the registry is known
  std::string place = {};                  // "file.yaml:12"; empty if it is of no file

  EstimatorChoice() = default;
  EstimatorChoice(std::string estimator)  // NOLINT(google-explicit-constructor)
      : name(std::move(estimator)) {}
  EstimatorChoice(const char* estimator)  // NOLINT(google-explicit-constructor)
      : name(estimator) {}
  // Takes the options from YAML text, "{ratios: {max_weight: 20}}".
  EstimatorChoice(std::string estimator, const std::string& yaml);

  void ReadNode(const ConfigNode& node, const std::string& path,
                internal::ConfigProblems& problems);
  ConfigNode WriteNode() const;
};

// Returns the chosen estimators, all that are registered where none is chosen. Throws ConfigError
// with a line per problem: names that the registry does not know, wrong options, the same estimator
// with the same options twice, needs that no fit provides.
std::vector<Estimator> MakeEstimators(std::span<const EstimatorChoice> choices,
                                      const EstimatorRegistry& registry, const FitRegistry& fits);

}  // namespace lfiw::experiments

#endif  // LFIW_EXPERIMENTS_BENCH_ESTIMATOR_CHOICE_H_
