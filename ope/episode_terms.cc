#include "ope/episode_terms.h"

#include <cmath>

#include "core/error.h"
#include "core/matrix.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"

namespace lfiw::ope {
namespace {

// Resamples that share one pass over the terms.
constexpr std::int64_t kBlock = 64;

using Table = Eigen::Map<const MatrixD>;

Table AsMatrix(const Array<double, 2>& array) {
  return {array.flat().data(), array.shape()[0], array.shape()[1]};
}

bool PlainMeans(const EpisodeTerms& terms) { return terms.denominators.shape()[1] == 0; }

// Sums over episodes, [K].
struct Sums {
  VectorD numerators, denominators;
};

Sums SumsOf(const EpisodeTerms& terms) {
  Sums sums{VectorD::Zero(terms.columns()),
            VectorD::Constant(terms.columns(), static_cast<double>(terms.episodes()))};
  if (!PlainMeans(terms)) sums.denominators.setZero();
  for (std::int64_t i = 0; i < terms.episodes(); ++i) {
    sums.numerators += AsMatrix(terms.numerators).row(i).transpose();
    if (!PlainMeans(terms)) sums.denominators += AsMatrix(terms.denominators).row(i).transpose();
  }
  return sums;
}

std::optional<double> SumOfRatios(const VectorD& numerators, const VectorD& denominators,
                                  EmptyColumns empty_columns) {
  double value = 0.0;
  for (Eigen::Index k = 0; k < numerators.size(); ++k) {
    if (denominators(k) > 0.0) {
      value += numerators(k) / denominators(k);
    } else if (denominators(k) != 0.0 || empty_columns == EmptyColumns::kUndefined) {
      return {};
    }
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<double> InfluenceFrom(const EpisodeTerms& terms, const Sums& sums) {
  // an empty column moves nothing
  const auto empty = sums.denominators.array() == 0.0;
  const VectorD ratios = empty.select(0.0, sums.numerators.cwiseQuotient(sums.denominators));
  const VectorD inverse_means =
      empty.select(0.0, static_cast<double>(terms.episodes()) * sums.denominators.cwiseInverse());
  const Table numerators = AsMatrix(terms.numerators), denominators = AsMatrix(terms.denominators);
  std::vector<double> out(static_cast<std::size_t>(terms.episodes()));
  for (std::int64_t i = 0; i < terms.episodes(); ++i) {
    const auto row = numerators.row(i).transpose();
    out[static_cast<std::size_t>(i)] =
        PlainMeans(terms)
            ? (row - ratios).dot(inverse_means)
            : (row - ratios.cwiseProduct(denominators.row(i).transpose())).dot(inverse_means);
  }
  return out;
}

}  // namespace

std::optional<double> ValueOf(const EpisodeTerms& terms) {
  if (terms.empty()) return {};
  const Sums sums = SumsOf(terms);
  return SumOfRatios(sums.numerators, sums.denominators, terms.empty_columns);
}

std::vector<double> Influence(const EpisodeTerms& terms) {
  return InfluenceFrom(terms, SumsOf(terms));
}

std::optional<double> StandardErrorOf(const EpisodeTerms& terms) {
  if (terms.episodes() < 2) return {};
  const Sums sums = SumsOf(terms);
  if (!SumOfRatios(sums.numerators, sums.denominators, terms.empty_columns)) return {};
  const double error = StandardError(InfluenceFrom(terms, sums));
  return std::isfinite(error) ? std::optional(error) : std::nullopt;
}

std::vector<double> BootstrapValues(const EpisodeTerms& terms, std::int64_t resamples,
                                    std::uint64_t seed) {
  const std::int64_t n = terms.episodes();
  std::vector<std::optional<double>> values(static_cast<std::size_t>(resamples));
  ParallelBlocks(resamples, kBlock, [&](std::int64_t begin, std::int64_t end) {
    MatrixD counts = MatrixD::Zero(end - begin, n);
    std::vector<std::uint64_t> drawn(static_cast<std::size_t>(n));
    for (std::int64_t r = begin; r < end; ++r) {
      Stream stream(seed, "episode bootstrap", {static_cast<std::uint64_t>(r)});
      double* row = counts.data() + (r - begin) * n;
      stream.FillBelow(static_cast<std::uint64_t>(n), drawn);
      for (const std::uint64_t episode : drawn) row[episode] += 1.0;
    }
    const MatrixD numerators = counts * AsMatrix(terms.numerators);
    const MatrixD denominators =
        PlainMeans(terms) ? MatrixD::Constant(end - begin, terms.columns(), static_cast<double>(n))
                          : MatrixD(counts * AsMatrix(terms.denominators));
    for (std::int64_t r = begin; r < end; ++r) {
      values[static_cast<std::size_t>(r)] =
          SumOfRatios(numerators.row(r - begin).transpose(),
                      denominators.row(r - begin).transpose(), terms.empty_columns);
    }
  });
  std::vector<double> out;
  for (const std::optional<double>& value : values) {
    if (value) out.push_back(*value);
  }
  return out;
}

}  // namespace lfiw::ope
