#include "ope/estimators/doubly_robust.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/matrix.h"
#include "core/statistics.h"
#include "ope/judgement/selection.h"

namespace lfiw::ope {
namespace {

using Matrix = Array<double, 2>;
using Table = Eigen::Map<const MatrixD>;

Table TermTable(const Matrix& array) {
  return {array.flat().data(), array.shape()[0], array.shape()[1]};
}

void CheckRatios(const RatioOptions& ratios) {
  if (ratios.product == RatioProduct::kCumulated && ratios.finished == FinishedEpisodes::kCarry) {
    return;
  }
  Throw<ConfigError>(
      "doubly robust ratios: product {} and finished {}, expected cumulated and carry: others do "
      "not telescope",
      EnumName(ratios.product), EnumName(ratios.finished));
}

void CheckMagic(const MagicOptions& options) {
  CheckRatios(options.doubly_robust.ratios);
  if (options.doubly_robust.normalization == WeightNormalization::kSelf) return;
  Throw<ConfigError>("magic.doubly_robust.normalization: none, expected self");
}

// Whether nothing follows the last logged step of an episode: it terminated or the horizon ended.
bool NothingFollows(const EstimatorInputs& in, const Estimand& estimand, std::size_t i) {
  return in.terminated[i] != 0 || (estimand.horizon && in.lengths[i] >= *estimand.horizon);
}

// g^t [ r + g V_{t+1}(s') - Q_t(s, a) ] of the steps taken, after the
// column V_0(s_0), [n, 1 + K].
Matrix BaseAndCorrections(const EstimatorInputs& in, const ValueArrays& values,
                          std::span<const double> factors, const Estimand& estimand,
                          std::int64_t columns) {
  Matrix out({in.episodes(), columns});
  for (std::int64_t i = 0; i < in.episodes(); ++i) {
    const std::span<const double> rewards = in.rewards.Row(i);
    const std::span<const double> q = values.q.Row(i), v = values.v.Row(i);
    out(i, 0) = factors[0] * v[0];
    const std::span<double> row = out.Row(i).subspan(1);
    const auto episode = static_cast<std::size_t>(i);
    const auto length = static_cast<std::size_t>(in.lengths[episode]);
    for (std::size_t t = 0; t < length; ++t) {
      row[t] = factors[t] * (rewards[t] + estimand.discount * v[t + 1] - q[t]);
    }
    // whatever V says of the state in which it ended
    if (NothingFollows(in, estimand, episode)) {
      row[length - 1] = factors[length - 1] * (rewards[length - 1] - q[length - 1]);
    }
  }
  return out;
}

void NoteCutEpisodes(const EstimatorInputs& in, const Estimand& estimand, Estimate& estimate) {
  std::int64_t cut = 0;
  for (std::size_t i = 0; i < in.lengths.size(); ++i) {
    cut += !NothingFollows(in, estimand, i);
  }
  if (cut == 0) return;
  estimate.notes.push_back(
      fmt::format("a time limit cut {} of {} episodes before the horizon: the fitted values alone "
                  "stand for the rest",
                  cut, in.episodes()));
}

// The j-step returns g_j of weighted doubly robust terms, [J].
struct PartialReturns {
  std::vector<std::int64_t> columns;  // each sums the columns 0 .. columns[j]; the first is 0
  std::vector<double> values;
  MatrixD influence;  // [n, J], of each episode, of mean 0
};

// At most `count` columns, evenly from the first to the last.
std::vector<std::int64_t> SpreadColumns(std::int64_t columns, std::int64_t count) {
  count = std::min(count, columns);
  std::vector<std::int64_t> chosen;
  for (std::int64_t j = 0; j < count; ++j) {
    chosen.push_back(count == 1 ? 0 : j * (columns - 1) / (count - 1));
  }
  return chosen;
}

PartialReturns MakePartialReturns(const EpisodeTerms& terms, std::int64_t max_returns) {
  const auto numerators = TermTable(terms.numerators), denominators = TermTable(terms.denominators);
  const VectorD sums = denominators.colwise().sum();
  const VectorD ratios = VectorD(numerators.colwise().sum()).cwiseQuotient(sums);
  const VectorD inverse_means = static_cast<double>(terms.episodes()) * sums.cwiseInverse();

  PartialReturns out{SpreadColumns(terms.columns(), max_returns), {}, {}};
  const auto count = std::ssize(out.columns);
  out.influence = MatrixD::Zero(terms.episodes(), count);
  VectorD deviation;
  for (std::int64_t i = 0; i < terms.episodes(); ++i) {
    deviation =
        (numerators.row(i).transpose() - ratios.cwiseProduct(denominators.row(i).transpose()))
            .cwiseProduct(inverse_means);
    std::int64_t k = 0;
    double sum = 0.0;
    for (std::int64_t j = 0; j < count; ++j) {
      for (; k <= out.columns[static_cast<std::size_t>(j)]; ++k) sum += deviation(k);
      out.influence(i, j) = sum;
    }
  }
  for (const std::int64_t column : out.columns) out.values.push_back(ratios.head(column + 1).sum());
  return out;
}

// Omega + b b', [J, J].
Matrix ErrorMatrix(const PartialReturns& returns, double low, double high) {
  const auto n = static_cast<double>(returns.influence.rows());
  const MatrixD covariance = returns.influence.transpose() * returns.influence / (n * (n - 1.0));
  std::vector<double> bias;
  for (const double value : returns.values) {
    bias.push_back(value < low ? value - low : value > high ? value - high : 0.0);
  }
  const auto count = std::ssize(bias);
  Matrix errors({count, count});
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t k = 0; k < count; ++k) {
      errors(j, k) =
          covariance(j, k) + bias[static_cast<std::size_t>(j)] * bias[static_cast<std::size_t>(k)];
    }
  }
  return errors;
}

// Scales each column by the weight of the returns that hold it.
void Blend(const std::vector<std::int64_t>& columns, const std::vector<double>& weights,
           EpisodeTerms& terms) {
  std::vector<double> share(static_cast<std::size_t>(terms.columns()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (std::int64_t k = 0; k <= columns[j]; ++k) {
      share[static_cast<std::size_t>(k)] += weights[j];
    }
  }
  for (std::int64_t i = 0; i < terms.episodes(); ++i) {
    const std::span<double> row = terms.numerators.Row(i);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] *= share[k];
  }
}

}  // namespace

Estimate EstimateDoublyRobust(const EstimatorInputs& inputs, const Estimand& estimand,
                              const DoublyRobustOptions& options) {
  CheckRatios(options.ratios);
  const ValueArrays& values = inputs.values.at(options.values);
  const std::vector<double> factors = StepFactors(estimand, inputs.steps());
  const std::vector<std::int64_t> rows = IndexList(inputs.episodes());
  ImportanceWeights weights = MakeImportanceWeights(inputs, rows, options.ratios, 1);

  const std::int64_t all = weights.log_weights.shape()[1];
  WeightedColumns columns{std::move(weights.log_weights),
                          BaseAndCorrections(inputs, values, factors, estimand, all), 1};
  Estimate estimate = options.normalization == WeightNormalization::kSelf
                          ? SelfNormalizedSum(std::move(columns))
                          : PlainSum(std::move(columns));
  AddDiagnostics(weights.last, estimate);
  estimate.notes = std::move(weights.notes);
  NoteCutEpisodes(inputs, estimand, estimate);
  return estimate;
}

Estimate EstimateMagic(const EstimatorInputs& inputs, const Estimand& estimand,
                       const MagicOptions& options) {
  CheckMagic(options);
  Estimate estimate = EstimateDoublyRobust(inputs, estimand, options.doubly_robust);
  if (!estimate.reason.empty()) return estimate;
  if (inputs.episodes() < 2) return Refuse("a single episode has no spread");
  const std::vector<double> replicates =
      BootstrapValues(estimate.terms, options.resamples, options.seed);
  const std::optional<double> weighted = ValueOf(estimate.terms);
  if (replicates.empty() || !weighted) return Refuse("no support in any bootstrap resample");

  // the interval holds WDR itself whatever the resamples
  const double tail = 0.5 - 0.5 * options.level;
  const double low = std::min(*weighted, Quantile(replicates, tail));
  const double high = std::max(*weighted, Quantile(replicates, 1.0 - tail));
  const PartialReturns returns = MakePartialReturns(estimate.terms, options.max_returns);
  const std::vector<double> blend = MinimizeOnSimplex(ErrorMatrix(returns, low, high));
  Blend(returns.columns, blend, estimate.terms);
  estimate.notes.push_back(
      fmt::format("{:.0f} % the fitted values alone, whose own error its spread does not count, "
                  "{:.0f} % corrected at every step",
                  100.0 * blend.front(), 100.0 * blend.back()));
  return estimate;
}

Estimator DoublyRobust(const DoublyRobustOptions& options) {
  CheckRatios(options.ratios);
  const bool self = options.normalization == WeightNormalization::kSelf;
  std::string name = fmt::format("{}_{}", self ? "wdr" : "dr", options.values);
  if (const std::string ratios = Describe(options.ratios); !ratios.empty()) name += " " + ratios;
  return {.name = std::move(name),
          .summary = fmt::format("{} with values of {}",
                                 self ? "weighted doubly robust (Thomas and Brunskill 2016)"
                                      : "doubly robust (Jiang and Li 2016)",
                                 options.values),
          .horizons = HorizonSupport::kBoth,
          .needs = {options.values, options.ratios.ratio},
          .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
            return EstimateDoublyRobust(inputs, estimand, options);
          }};
}

Estimator Magic(const MagicOptions& options) {
  CheckMagic(options);
  const DoublyRobustOptions& base = options.doubly_robust;
  std::string name = "magic_" + base.values;
  if (const std::string ratios = Describe(base.ratios); !ratios.empty()) name += " " + ratios;
  return {
      .name = std::move(name),
      .summary = fmt::format("MAGIC (Thomas and Brunskill 2016) with values of {}", base.values),
      .horizons = HorizonSupport::kBoth,
      .needs = {base.values, base.ratios.ratio},
      .estimate = [options](const EstimatorInputs& inputs, const Estimand& estimand) {
        return EstimateMagic(inputs, estimand, options);
      }};
}

}  // namespace lfiw::ope
