#include "ope/fits/closed_form_inputs.h"

#include <optional>

namespace lfiw::ope {
namespace {

// Adds the fits for a source; `form` is the function of a FitMethod that takes it.
template <class Source, class Form>
void AddClosedForms(const Source& source, Form form, const FitRegistry& fits,
                    const std::set<std::string>& needs, FittedInputs& out) {
  AddFits(
      fits, needs, source.estimand,
      [&](const FitMethod& fit) -> std::optional<FitOutcome> {
        const auto& make = fit.*form;
        if (!make) return {};
        return Timed([&] { return make(source, fit.options); });
      },
      out);
}

}  // namespace

FittedInputs MakeInputs(const TabularSource& source, const FitRegistry& fits,
                        const std::set<std::string>& needs) {
  FittedInputs out;
  out.arrays.rewards = source.log.rewards;
  out.arrays.lengths = source.log.lengths;
  out.arrays.terminated = source.log.terminated;
  AddClosedForms(source, &FitMethod::on_tabular, fits, needs, out);
  return out;
}

FittedInputs MakeInputs(const LinearGaussianSource& source, const FitRegistry& fits,
                        const std::set<std::string>& needs) {
  FittedInputs out;
  out.arrays.rewards = source.log.rewards;
  out.arrays.lengths.assign(static_cast<std::size_t>(source.log.episodes()), source.log.steps());
  out.arrays.terminated.assign(out.arrays.lengths.size(), 0);
  AddClosedForms(source, &FitMethod::on_linear_gaussian, fits, needs, out);
  return out;
}

EstimatorInputs MakeTabularInputs(const TabularSystem& system, const TabularPolicy& behavior,
                                  const TabularPolicy& evaluation, const TabularLog& log,
                                  const Estimand& estimand, const ModelRolloutCounts& counts,
                                  std::uint64_t seed) {
  const FitRegistry fits = StandardFits();
  const TabularSource source(system, behavior, evaluation, log, estimand, counts, seed);
  return MakeInputs(source, fits, fits.Provided()).arrays;
}

EstimatorInputs MakeLinearGaussianInputs(const LinearGaussianSystem& system,
                                         const LinearGaussianPolicy& behavior,
                                         const LinearGaussianPolicy& evaluation,
                                         const LinearGaussianLog& log, const Estimand& estimand,
                                         const ModelRolloutCounts& counts, std::uint64_t seed) {
  const FitRegistry fits = StandardFits();
  const LinearGaussianSource source(system, behavior, evaluation, log, estimand, counts, seed);
  return MakeInputs(source, fits, fits.Provided()).arrays;
}

}  // namespace lfiw::ope
