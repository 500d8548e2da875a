#include "ope/estimators/direct_method.h"

#include <utility>
#include <vector>

namespace lfiw::ope {

Estimate EstimateDirect(const EstimatorInputs& inputs, const Estimand& estimand,
                        const std::string& values) {
  const std::int64_t n = inputs.episodes();
  const double factor = StepFactors(estimand, 1).front();
  Estimate estimate;
  estimate.terms = {Array<double, 2>({n, 1}), Array<double, 2>({n, 0})};
  const Array<double, 2>& v = inputs.values.at(values).v;
  for (std::int64_t i = 0; i < n; ++i) estimate.terms.numerators(i, 0) = factor * v(i, 0);
  estimate.notes.emplace_back("its spread is that of first states alone, not of the fitted values");
  return estimate;
}

Estimator DirectMethod(std::string name, std::string values, std::string source) {
  return {.name = std::move(name),
          .summary = "mean value of first states, " + std::move(source),
          .horizons = HorizonSupport::kBoth,
          .needs = {values},
          .estimate = [values](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateDirect(inputs, estimand, values);
          }};
}

}  // namespace lfiw::ope
