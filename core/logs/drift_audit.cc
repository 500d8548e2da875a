#include "core/logs/drift_audit.h"

#include <Eigen/QR>
#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/logs/regressions.h"
#include "core/statistics.h"

namespace lfiw::core {
namespace {

constexpr std::size_t kSampleSize = 6'000;
constexpr std::int64_t kFewestEpisodes = 12;
constexpr Eigen::Index kFewestSteps = 300;
// Wider steps have no products of pairs, and the coefficients of still wider ones are too many.
constexpr Eigen::Index kMostForProducts = 8, kMostNumbers = 40;
constexpr int kPowers = 3;  // of the place
// What is left unexplained with coefficients that change, as a part of what is left without, and
// the share of the variance that they explain, for a drift to be clear and to be likely.
constexpr double kClearRest = 0.4, kLikelyRest = 0.7;
constexpr double kClearDriftGain = 0.03, kLikelyDriftGain = 0.02;
// First steps are odd where a fit leaves no more than this of the squared deviations of the other
// rewards, one to themselves leaves more than this, and the former is off by so many times as much.
constexpr std::ptrdiff_t kFewestFirsts = 30;
constexpr double kUsualRest = 0.05, kOddRest = 0.5, kOddFactor = 3.0;
// Where the others follow to the last digits, no curvature explains that first steps do not.
constexpr double kExactRest = 1e-6, kExactFactor = 100.0;

VectorD LeastSquares(const MatrixD& features, const VectorD& targets) {
  return Eigen::MatrixXd(features).completeOrthogonalDecomposition().solve(targets);
}

// The sum of squared deviations from the mean.
double Deviations(const VectorD& values) { return (values.array() - values.mean()).square().sum(); }

VectorD WithProducts(const VectorD& values) {
  const Eigen::Index n = values.size();
  if (n > kMostForProducts) return values;
  VectorD out(n + n * (n + 1) / 2);
  out.head(n) = values;
  Eigen::Index k = n;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = i; j < n; ++j) out[k++] = values[i] * values[j];
  }
  return out;
}

// A table of features, the same times powers of the place, and targets.
struct Table {
  MatrixD columns;
  ColumnList features, moving, targets;
};

class TableBuilder {
 public:
  TableBuilder(Eigen::Index rows, Eigen::Index features, Eigen::Index targets) {
    table_.columns.resize(rows, (features + 1) * (kPowers + 1) - 1 + targets);
    Eigen::Index at = 0;
    const auto take = [&at](ColumnList& into, Eigen::Index count) {
      for (Eigen::Index i = 0; i < count; ++i) into.push_back(at++);
    };
    take(table_.features, features);
    take(table_.moving, (features + 1) * kPowers);
    take(table_.targets, targets);
  }

  void Fill(Eigen::Index row, double place, const VectorD& features, const VectorD& targets) {
    auto out = table_.columns.row(row);
    const Eigen::Index n = features.size();
    out.head(n) = features.transpose();
    double power = 1.0;
    for (int k = 0; k < kPowers; ++k) {
      power *= place;
      const Eigen::Index at = n + k * (n + 1);
      out[at] = power;
      out.segment(at + 1, n) = power * features.transpose();
    }
    out.tail(targets.size()) = targets.transpose();
  }

  Table Take() { return std::move(table_); }

 private:
  Table table_;
};

// The shares of the variance of targets that stay unexplained, averaged over those that are
// explained in part.
struct Rests {
  double fixed = 0.0, moving = 0.0;
};

Rests Compare(Table table) {
  std::vector<int> folds;
  for (Eigen::Index i = 0; i < table.columns.rows(); ++i) {
    folds.push_back(static_cast<int>(i % Regressions::kFolds));
  }
  const ColumnList all = table.features + table.moving;
  const Regressions fits(std::move(table.columns), folds);
  const VectorD totals = fits.Totals(table.targets);
  const VectorD fixed = fits.Fit(table.features, table.targets).held_out;
  const VectorD moving = fits.Fit(all, table.targets).held_out;
  // the target that gains most: a drift of one is enough
  Rests best;
  for (Eigen::Index i = 0; i < totals.size(); ++i) {
    if (totals[i] == 0.0) continue;
    const Rests rests{std::min(fixed[i] / totals[i], 1.0), moving[i] / totals[i]};
    if (rests.fixed - rests.moving > best.fixed - best.moving) best = rests;
  }
  return best;
}

bool IsClear(const Rests& rests) {
  return rests.moving <= kClearRest * rests.fixed && rests.fixed - rests.moving >= kClearDriftGain;
}
bool IsLikely(const Rests& rests) {
  return rests.moving <= kLikelyRest * rests.fixed &&
         rests.fixed - rests.moving >= kLikelyDriftGain;
}

}  // namespace

VectorD DriftAuditor::FeaturesOf(const Step& step, Part part) {
  const bool whole = part == Part::kWhole;
  VectorD values(step.state.size() + step.action.size() + (whole ? step.state.size() : 0));
  values.head(step.state.size()) = step.state.cast<double>();
  values.segment(step.state.size(), step.action.size()) = step.action.cast<double>();
  if (whole) values.tail(step.state.size()) = step.next_state.cast<double>();
  return WithProducts(values);
}

void DriftAuditor::Add(const EpisodeBatch& batch) {
  if (batch.obs_dim() + batch.action_dim() > kMostNumbers) return;
  for (std::int64_t e = 0; e < batch.episodes(); ++e, ++episodes_) {
    // a terminal step may have a reward and an observation of its own kind
    const bool ended = batch.terminated[static_cast<std::size_t>(e)] != 0;
    const std::int64_t end = std::min(batch.Outcomes(e), batch.Length(e) - (ended ? 1 : 0));
    for (std::int64_t t = 0; t < end; ++t) {
      const std::uint64_t draw = stream_.Below(static_cast<std::uint64_t>(++steps_));
      const bool fits = sample_.size() < kSampleSize;
      if (!fits && draw >= kSampleSize) continue;
      const std::int64_t row = batch.ObservationRow(e, t);
      const std::int64_t step = batch.offsets[static_cast<std::size_t>(e)] + t;
      Step kept{.place = static_cast<double>(episodes_),
                .first = t == 0,
                .state = batch.observations.row(row).transpose(),
                .action = batch.actions.row(step).transpose(),
                .next_state = batch.observations.row(row + 1).transpose(),
                .reward = batch.rewards[static_cast<std::size_t>(step)]};
      if (fits) {
        sample_.push_back(std::move(kept));
      } else {
        sample_[draw] = std::move(kept);
      }
    }
  }
}

void DriftAuditor::FindOddFirstRewards(std::vector<Finding>& findings) const {
  std::vector<const Step*> first, others;
  for (const Step& step : sample_) (step.first ? first : others).push_back(&step);
  const Eigen::Index features = FeaturesOf(sample_[0], Part::kWhole).size();
  const auto fewest = std::max<std::ptrdiff_t>(kFewestFirsts, 3 * features);
  if (std::ssize(first) < fewest || std::ssize(others) < std::ssize(first)) return;
  const auto features_of = [features](const std::vector<const Step*>& steps) {
    MatrixD out(std::ssize(steps), features + 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      out.row(static_cast<Eigen::Index>(i)) << FeaturesOf(*steps[i], Part::kWhole).transpose(), 1.0;
    }
    return out;
  };
  const auto rewards_of = [](const std::vector<const Step*>& steps) {
    VectorD out(std::ssize(steps));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      out[static_cast<Eigen::Index>(i)] = steps[i]->reward;
    }
    return out;
  };
  const MatrixD of_first = features_of(first), of_others = features_of(others);
  const VectorD first_rewards = rewards_of(first), other_rewards = rewards_of(others);
  if (!of_first.allFinite() || !of_others.allFinite()) return;
  // what the others tell of themselves and of first steps, and those of themselves
  const VectorD coefficients = LeastSquares(of_others, other_rewards);
  const VectorD usual = (other_rewards - of_others * coefficients).cwiseAbs();
  const VectorD odd = (first_rewards - of_first * coefficients).cwiseAbs();
  const double own_rest =
      (first_rewards - of_first * LeastSquares(of_first, first_rewards)).squaredNorm();
  const double typical = Quantile(std::vector<double>(odd.begin(), odd.end()), 0.5);
  const double largest = Quantile(std::vector<double>(usual.begin(), usual.end()), 0.99);
  const bool follow = usual.squaredNorm() <= kUsualRest * Deviations(other_rewards);
  const bool exactly = usual.squaredNorm() <= kExactRest * Deviations(other_rewards) &&
                       typical > kExactFactor * largest;
  const bool are_odd = exactly || own_rest > kOddRest * Deviations(first_rewards);
  if (!follow || !are_odd || !(typical > kOddFactor * largest) || largest == 0.0) return;
  findings.push_back(
      {Severity::kError, "odd_first_rewards",
       fmt::format("the rewards of first steps do not follow from observations and action as the "
                   "others do: they are off by {:.3g}, 99 % of those by less than {:.3g}",
                   typical, largest),
       "reward t must be that of the step from observation t to t + 1: check that rewards do not "
       "stand one row too late"});
}

std::vector<Finding> DriftAuditor::Findings() const {
  std::vector<Finding> findings;
  if (episodes_ < kFewestEpisodes || std::ssize(sample_) < kFewestSteps) return findings;
  const Eigen::Index rows = std::ssize(sample_);
  const auto compare = [&](Part part, const auto& target_of) {
    const Eigen::Index features = FeaturesOf(sample_[0], part).size();
    const Eigen::Index targets = target_of(sample_[0]).size();
    if (rows < 5 * (features + 1) * (kPowers + 1)) return Rests();
    TableBuilder builder(rows, features, targets);
    for (Eigen::Index i = 0; i < rows; ++i) {
      const Step& step = sample_[static_cast<std::size_t>(i)];
      const double place = 2.0 * step.place / static_cast<double>(episodes_) - 1.0;
      builder.Fill(i, place, FeaturesOf(step, part), target_of(step));
    }
    Table table = builder.Take();
    return table.columns.allFinite() ? Compare(std::move(table)) : Rests();
  };
  const auto add = [&](const Rests& rests, const char* code, const std::string& what) {
    if (!IsLikely(rests)) return;
    findings.push_back(
        {IsClear(rests) ? Severity::kError : Severity::kWarning, code,
         fmt::format("{} {} with the place in the log: a fit explains R^2 {:.3f}, one whose "
                     "coefficients follow the place {:.3f}",
                     what, IsClear(rests) ? "change" : "may change", 1.0 - rests.fixed,
                     1.0 - rests.moving),
         "log raw numbers, not ones divided by a deviation that is measured on the way"});
  };
  add(compare(Part::kWhole,
              [](const Step& step) { return VectorD::Constant(1, step.reward).eval(); }),
      "reward_drifts", "the rewards of equal steps");
  add(compare(
          Part::kBefore,
          [](const Step& step) { return (step.next_state - step.state).cast<double>().eval(); }),
      "dynamics_drift", "the outcomes of equal states and actions");
  if (findings.empty()) FindOddFirstRewards(findings);
  return findings;
}

}  // namespace lfiw::core
