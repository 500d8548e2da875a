#include "ope/support.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "models/episode_split.h"
#include "models/scaler.h"

namespace lfiw {
namespace {

// Queried rows of one task; their distances to all reference rows are in memory at once.
constexpr std::int64_t kBlock = 64;

std::vector<std::int64_t> Iota(std::int64_t count) {
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), std::int64_t{0});
  return values;
}

// The (s, a) rows of at most `count` steps of the episodes, [rows, obs_dim + action_dim].
MatrixF DrawPairs(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                  std::int64_t count, const Stream& stream) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;  // of observations, of actions
  for (const std::int64_t e : episodes) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      rows.emplace_back(log.ObservationRow(e, t), log.offsets[static_cast<std::size_t>(e)] + t);
    }
  }
  const auto chosen = Subsample(Iota(std::ssize(rows)), count, stream);
  MatrixF pairs(std::ssize(chosen), log.obs_dim() + log.action_dim());
  Eigen::Index i = 0;
  for (const std::int64_t k : chosen) {
    const auto& [observation, action] = rows[static_cast<std::size_t>(k)];
    pairs.row(i++) << log.observations.row(observation), log.actions.row(action);
  }
  return pairs;
}

MatrixF DrawQueries(const MatrixF& states, const MatrixF& actions, std::int64_t count,
                    const Stream& stream) {
  const auto chosen = Subsample(Iota(states.rows()), count, stream);
  MatrixF pairs(std::ssize(chosen), states.cols() + actions.cols());
  Eigen::Index i = 0;
  for (const std::int64_t k : chosen) pairs.row(i++) << states.row(k), actions.row(k);
  return pairs;
}

// The scales of the log, and how far its constant dimensions stray from their means.
class PairScaler {
 public:
  explicit PairScaler(const MatrixF& logged)
      : scaler_(Scaler::Fit(logged)), constant_(scaler_.Constant()) {
    const ScalerOptions rounding;
    for (const std::int64_t j : constant_) {
      const float mean = scaler_.mean()(j);
      const double stray = (logged.col(j).array() - mean).abs().maxCoeff();
      tolerance_.push_back(2.0 * stray + std::max(rounding.absolute_floor,
                                                  rounding.relative_floor * std::abs(mean)));
    }
  }

  MatrixD Scale(const MatrixF& pairs) const {
    MatrixF scaled(pairs.rows(), scaler_.active_dim());
    scaler_.Scale(pairs, scaled);
    return scaled.cast<double>();
  }

  bool DiffersWhereConstant(const MatrixF& pairs, Eigen::Index row) const {
    for (std::size_t k = 0; k < constant_.size(); ++k) {
      const std::int64_t j = constant_[k];
      const double distance = std::abs(static_cast<double>(pairs(row, j)) - scaler_.mean()(j));
      if (distance > tolerance_[k]) return true;
    }
    return false;
  }

 private:
  Scaler scaler_;
  std::vector<std::int64_t> constant_;
  std::vector<double> tolerance_;
};

// Finds nearest neighbours among fixed rows by |x|^2 + |y|^2 - 2 x y. The cancellation is
// bounded: each candidate that may be the nearest within the bound is measured again by
// differences.
class NearestRow {
 public:
  explicit NearestRow(MatrixD rows)
      : rows_(std::move(rows)),
        squares_(rows_.rowwise().squaredNorm()),
        largest_square_(squares_.maxCoeff()) {}

  // Distances [queries.rows()] of the query rows.
  std::vector<double> Distances(const MatrixD& queries) const {
    std::vector<double> distances(static_cast<std::size_t>(queries.rows()));
    ParallelBlocks(queries.rows(), kBlock, [&](std::int64_t begin, std::int64_t end) {
      const auto block = queries.middleRows(begin, end - begin);
      const MatrixD products = block * rows_.transpose();
      for (std::int64_t i = begin; i < end; ++i) {
        distances[static_cast<std::size_t>(i)] = Distance(queries.row(i), products.row(i - begin));
      }
    });
    return distances;
  }

 private:
  using RowD = Eigen::Ref<const Eigen::RowVectorXd>;

  double Distance(const RowD& query, const RowD& products) const {
    const VectorD rough = squares_ - 2.0 * products.transpose();
    const double square = query.squaredNorm();
    // of the three sums, each of as many terms as there are dimensions
    const double error = 4.0 * std::numeric_limits<double>::epsilon() *
                         static_cast<double>(rows_.cols() + 2) * (square + largest_square_);
    const double limit = rough.minCoeff() + 2.0 * error;
    double nearest = std::numeric_limits<double>::infinity();
    for (Eigen::Index k = 0; k < rough.size(); ++k) {
      if (rough(k) <= limit) nearest = std::min(nearest, (query - rows_.row(k)).squaredNorm());
    }
    return std::sqrt(nearest);
  }

  MatrixD rows_;
  VectorD squares_;
  double largest_square_;
};

void RequireQueries(const EpisodeBatch& log, const MatrixF& states, const MatrixF& actions) {
  if (states.rows() == 0 || states.rows() != actions.rows()) {
    Throw<DataError>("support: {} states and {} actions, expected as many of each and at least 1",
                     states.rows(), actions.rows());
  }
  if (states.cols() != log.obs_dim() || actions.cols() != log.action_dim()) {
    Throw<DataError>("support: pairs of {} + {} dimensions, the log has {} + {}", states.cols(),
                     actions.cols(), log.obs_dim(), log.action_dim());
  }
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    if (!states.row(i).allFinite() || !actions.row(i).allFinite()) {
      Throw<DataError>("support: pair {} is not finite, expected finite states and actions", i);
    }
  }
}

double MedianRatio(std::span<const double> queried, std::span<const double> logged) {
  // of an infinite distance the interpolation of order statistics would make NaN
  const auto median = [](std::span<const double> values) {
    std::vector<double> sorted(values.begin(), values.end());
    std::ranges::sort(sorted);
    const std::size_t n = sorted.size();
    return n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
  };
  const double above = median(queried), below = median(logged);
  if (below > 0.0) return above / below;
  return above > 0.0 ? std::numeric_limits<double>::infinity() : 1.0;
}

}  // namespace

SupportCheck MeasureSupport(const EpisodeBatch& log, const MatrixF& states, const MatrixF& actions,
                            const SupportOptions& options, std::uint64_t seed) {
  RequireQueries(log, states, actions);
  std::vector<std::int64_t> episodes = Iota(log.episodes());
  std::erase_if(episodes, [&](std::int64_t e) { return log.Length(e) == 0; });
  // held-out episodes in proportion to the rows wanted of them
  const double share = static_cast<double>(options.query_rows) /
                       static_cast<double>(options.query_rows + options.reference_rows);
  const EpisodeSplit split =
      SplitEpisodes(episodes, share, Stream(seed, "support episodes"), "support");
  const MatrixF reference =
      DrawPairs(log, split.train, options.reference_rows, Stream(seed, "support reference"));
  const MatrixF held_out =
      DrawPairs(log, split.validation, options.query_rows, Stream(seed, "support held-out"));
  const MatrixF queries =
      DrawQueries(states, actions, options.query_rows, Stream(seed, "support queries"));

  MatrixF logged(reference.rows() + held_out.rows(), reference.cols());
  logged << reference, held_out;
  const PairScaler scaler(logged);
  const NearestRow nearest(scaler.Scale(reference));
  const std::vector<double> own = nearest.Distances(scaler.Scale(held_out));
  std::vector<double> distances = nearest.Distances(scaler.Scale(queries));
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (scaler.DiffersWhereConstant(queries, static_cast<Eigen::Index>(i))) {
      distances[i] = std::numeric_limits<double>::infinity();
    }
  }

  const double limit = Quantile(own, options.quantile);
  const auto outside = std::ranges::count_if(distances, [&](double d) { return d > limit; });
  return {.outside = static_cast<double>(outside) / static_cast<double>(distances.size()),
          .median_ratio = MedianRatio(distances, own),
          .queries = std::ssize(distances)};
}

}  // namespace lfiw
