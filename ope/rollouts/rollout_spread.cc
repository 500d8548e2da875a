#include "ope/rollouts/rollout_spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// Means over classifiers of each repetition, [R], and over repetitions of each classifier, [C].
struct Margins {
  std::vector<double> repetitions, classifiers;
};

template <class At>
Margins MarginsOf(std::int64_t repetitions, std::int64_t classifiers, const At& at) {
  Margins out{std::vector<double>(static_cast<std::size_t>(repetitions), 0.0),
              std::vector<double>(static_cast<std::size_t>(classifiers), 0.0)};
  for (std::int64_t r = 0; r < repetitions; ++r) {
    for (std::int64_t c = 0; c < classifiers; ++c) {
      out.repetitions[static_cast<std::size_t>(r)] += at(r, c) / static_cast<double>(classifiers);
      out.classifiers[static_cast<std::size_t>(c)] += at(r, c) / static_cast<double>(repetitions);
    }
  }
  return out;
}

// Covariance of the means of two samples of the same draws; 0 for a single draw.
double MeanCovariance(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  if (a.size() < 2) return 0.0;
  const double mean_a = Mean(a), mean_b = Mean(b);
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / (n * (n - 1.0));
}

}  // namespace

std::optional<RolloutSpread> SpreadOf(const Array<double, 2>& estimates) {
  const std::int64_t repetitions = estimates.shape()[0], classifiers = estimates.shape()[1];
  if (repetitions < 2 && classifiers < 2) return {};
  const Margins margins = MarginsOf(
      repetitions, classifiers, [&](std::int64_t r, std::int64_t c) { return estimates(r, c); });
  const double by_repetition = MeanCovariance(margins.repetitions, margins.repetitions);
  const double by_classifier = MeanCovariance(margins.classifiers, margins.classifiers);
  const double variance = by_repetition + by_classifier;
  RolloutSpread out{.standard_error = std::sqrt(variance), .degrees = 1.0, .covers = {}};
  const auto share = [variance](double part, std::int64_t count) {
    return count < 2 ? 0.0 : part * part / (variance * variance * static_cast<double>(count - 1));
  };
  const auto most = static_cast<double>(std::max(repetitions, classifiers) - 1);
  out.degrees = variance > 0.0
                    ? 1.0 / (share(by_repetition, repetitions) + share(by_classifier, classifiers))
                    : most;
  out.covers = classifiers < 2   ? "rollouts, given the fitted model"
               : repetitions < 2 ? "classifiers, given the fitted model and its rollouts"
                                 : "rollouts and classifiers, given the fitted model";
  return out;
}

Array<double, 2> SpreadCovariance(const Array<double, 3>& estimates) {
  const std::int64_t m = estimates.shape()[0];
  std::vector<Margins> margins;
  for (std::int64_t k = 0; k < m; ++k) {
    margins.push_back(
        MarginsOf(estimates.shape()[1], estimates.shape()[2],
                  [&](std::int64_t r, std::int64_t c) { return estimates(k, r, c); }));
  }
  Array<double, 2> out({m, m});
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      const Margins& a = margins[static_cast<std::size_t>(i)];
      const Margins& b = margins[static_cast<std::size_t>(j)];
      out(i, j) = MeanCovariance(a.repetitions, b.repetitions) +
                  MeanCovariance(a.classifiers, b.classifiers);
    }
  }
  return out;
}

}  // namespace lfiw::ope
