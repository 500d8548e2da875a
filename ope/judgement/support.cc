#include "ope/judgement/support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/index_list.h"
#include "core/parallel.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "models/episode_split.h"
#include "models/scaler.h"

namespace lfiw::ope {
namespace {

// Queried rows of one task; their distances to all reference rows are in memory at once.
constexpr std::int64_t kBlock = 64;

// Returns the (s, a) rows of at most `count` steps of the episodes, [rows, obs_dim + action_dim].
MatrixF DrawPairs(const EpisodeBatch& log, const std::vector<std::int64_t>& episodes,
                  std::int64_t count, const Stream& stream) {
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;  // of observations, of actions
  for (const std::int64_t e : episodes) {
    for (std::int64_t t = 0; t < log.Length(e); ++t) {
      rows.emplace_back(log.ObservationRow(e, t), log.offsets[static_cast<std::size_t>(e)] + t);
    }
  }
  const auto chosen = Subsample(IndexList(std::ssize(rows)), count, stream);
  MatrixF pairs(std::ssize(chosen), log.obs_dim() + log.action_dim());
  Eigen::Index i = 0;
  for (const std::int64_t k : chosen) {
    const auto& [observation, action] = rows[static_cast<std::size_t>(k)];
    pairs.row(i++) << log.observations.row(observation), log.actions.row(action);
  }
  return pairs;
}

// Returns the (s, a) rows `chosen` of what a policy visits, [rows, obs_dim + action_dim].
MatrixF GatherQueries(const VisitedPairs& visited, const std::vector<std::int64_t>& chosen) {
  MatrixF pairs(std::ssize(chosen), visited.states.cols() + visited.actions.cols());
  Eigen::Index i = 0;
  for (const std::int64_t k : chosen) {
    pairs.row(i++) << visited.states.row(k), visited.actions.row(k);
  }
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

// Finds nearest neighbors among fixed rows by |x|^2 + |y|^2 - 2 x y. The cancellation is
// bounded: each candidate that may be the nearest within the bound is measured again by
// differences.
class NearestRow {
 public:
  explicit NearestRow(MatrixD rows)
      : rows_(std::move(rows)),
        squares_(rows_.rowwise().squaredNorm()),
        largest_square_(squares_.maxCoeff()) {}

  // Returns the distances [queries.rows()] of the query rows.
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

void RequireQueries(const VisitedPairs& visited, std::int64_t obs_dim, std::int64_t action_dim) {
  const MatrixF& states = visited.states;
  const MatrixF& actions = visited.actions;
  if (states.rows() == 0 || states.rows() != actions.rows() ||
      states.rows() != std::ssize(visited.steps)) {
    Throw<DataError>(
        "support: {} states, {} actions and {} steps, expected as many of each and at least 1",
        states.rows(), actions.rows(), visited.steps.size());
  }
  if (states.cols() != obs_dim || actions.cols() != action_dim) {
    Throw<DataError>("support: pairs of {} + {} dimensions, the log has {} + {}", states.cols(),
                     actions.cols(), obs_dim, action_dim);
  }
  for (Eigen::Index i = 0; i < states.rows(); ++i) {
    if (!states.row(i).allFinite() || !actions.row(i).allFinite()) {
      Throw<DataError>("support: pair {} is not finite, expected finite states and actions", i);
    }
  }
}

// Returns the largest share of distances beyond the limit among the quarters of the horizon.
double WorstQuarter(const VisitedPairs& visited, const std::vector<std::int64_t>& chosen,
                    std::span<const double> distances, double limit) {
  std::array<double, 4> outside = {}, all = {};
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const std::int64_t step = visited.steps[static_cast<std::size_t>(chosen[i])];
    const auto quarter =
        static_cast<std::size_t>(std::clamp<std::int64_t>(4 * step / visited.horizon, 0, 3));
    all[quarter] += 1.0;
    if (distances[i] > limit) outside[quarter] += 1.0;
  }
  double worst = 0.0;
  for (std::size_t q = 0; q < all.size(); ++q) {
    if (all[q] > 0.0) worst = std::max(worst, outside[q] / all[q]);
  }
  return worst;
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

// Pairs of the log: neighbors to look for, and others that show how far they usually are.
struct LoggedPairs {
  MatrixF reference, held_out;
};

LoggedPairs DrawLoggedPairs(const EpisodeBatch& log, const SupportOptions& options,
                            std::uint64_t seed) {
  std::vector<std::int64_t> episodes = IndexList(log.episodes());
  std::erase_if(episodes, [&](std::int64_t e) { return log.Length(e) == 0; });
  // held-out episodes in proportion to the rows wanted of them
  const double share = static_cast<double>(options.query_rows) /
                       static_cast<double>(options.query_rows + options.reference_rows);
  const EpisodeSplit split =
      SplitEpisodes(episodes, share, Stream(seed, "support episodes"), "support");
  return {DrawPairs(log, split.train, options.reference_rows, Stream(seed, "support reference")),
          DrawPairs(log, split.validation, options.query_rows, Stream(seed, "support held-out"))};
}

PairScaler ScalerOf(const LoggedPairs& pairs) {
  MatrixF all(pairs.reference.rows() + pairs.held_out.rows(), pairs.reference.cols());
  all << pairs.reference, pairs.held_out;
  return PairScaler(all);
}

}  // namespace

struct LogSupport::Reference {
  Reference(const EpisodeBatch& log, const SupportOptions& wanted, std::uint64_t root_seed)
      : Reference(log, wanted, root_seed, DrawLoggedPairs(log, wanted, root_seed)) {}
  Reference(const EpisodeBatch& log, const SupportOptions& wanted, std::uint64_t root_seed,
            const LoggedPairs& pairs)
      : options(wanted),
        seed(root_seed),
        obs_dim(log.obs_dim()),
        action_dim(log.action_dim()),
        scaler(ScalerOf(pairs)),
        nearest(scaler.Scale(pairs.reference)),
        own(nearest.Distances(scaler.Scale(pairs.held_out))) {}

  SupportOptions options;
  std::uint64_t seed;
  std::int64_t obs_dim, action_dim;
  PairScaler scaler;
  NearestRow nearest;
  std::vector<double> own;  // distances of the held-out pairs
};

LogSupport::LogSupport(const EpisodeBatch& log, const SupportOptions& options, std::uint64_t seed)
    : reference_(std::make_unique<const Reference>(log, options, seed)) {}
LogSupport::~LogSupport() = default;
LogSupport::LogSupport(LogSupport&&) noexcept = default;

SupportCheck LogSupport::Measure(const VisitedPairs& visited) const {
  const Reference& logged = *reference_;
  RequireQueries(visited, logged.obs_dim, logged.action_dim);
  const std::vector<std::int64_t> chosen =
      Subsample(IndexList(visited.states.rows()), logged.options.query_rows,
                Stream(logged.seed, "support queries"));
  const MatrixF queries = GatherQueries(visited, chosen);
  std::vector<double> distances = logged.nearest.Distances(logged.scaler.Scale(queries));
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (logged.scaler.DiffersWhereConstant(queries, static_cast<Eigen::Index>(i))) {
      distances[i] = std::numeric_limits<double>::infinity();
    }
  }

  const double limit = Quantile(logged.own, logged.options.quantile);
  const auto outside = std::ranges::count_if(distances, [&](double d) { return d > limit; });
  return {.outside = static_cast<double>(outside) / static_cast<double>(distances.size()),
          .median_ratio = MedianRatio(distances, logged.own),
          .worst_quarter = WorstQuarter(visited, chosen, distances, limit),
          .queries = std::ssize(distances)};
}

}  // namespace lfiw::ope
