#include "core/logs/outlier_audit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "core/error.h"
#include "core/statistics.h"

namespace lfiw::core {
namespace {

constexpr std::size_t kSampleSize = 1000;
// Fewer numbers have no proportion.
constexpr std::int64_t kFewestNumbers = 50;
// Distances from the median in widths of the middle 98 %. Normal numbers reach about 1, counts and
// contact forces some tens; a fit that squares distances follows one in ten thousand from here on.
constexpr double kOddDistance = 1e3, kAbsurdDistance = 1e6;
// A log-density beyond this is none: it would take hundreds of dimensions of deviation 1e-8.
constexpr double kLargestLogDensity = 1e4;
constexpr std::size_t kMaxNamed = 3;

}  // namespace

void OutlierAuditor::Consider(Column& column, const Place& place, std::uint64_t draw) {
  if (!std::isfinite(place.value)) return;
  if (column.count == 0) column.low = column.high = place;
  if (place.value < column.low.value) column.low = place;
  if (place.value > column.high.value) column.high = place;
  ++column.count;
  // reservoir sampling; the columns of a row share a draw
  if (column.sample.size() < kSampleSize) {
    column.sample.push_back(static_cast<float>(place.value));
  } else if (draw < kSampleSize) {
    column.sample[draw] = static_cast<float>(place.value);
  }
}

void OutlierAuditor::Add(const EpisodeBatch& batch) {
  observations_.resize(static_cast<std::size_t>(batch.obs_dim()));
  actions_.resize(static_cast<std::size_t>(batch.action_dim()));
  for (std::int64_t e = 0; e < batch.episodes(); ++e) {
    for (std::int64_t t = 0; t <= batch.Length(e); ++t) {
      const auto seen =
          static_cast<std::uint64_t>(observations_.empty() ? 0 : observations_[0].count);
      const std::uint64_t draw = stream_.Below(seen + 1);
      const auto place = [&](double value) { return Place{value, episodes_ + e, t}; };
      for (std::size_t k = 0; k < observations_.size(); ++k) {
        const float value =
            batch.observations(batch.ObservationRow(e, t), static_cast<Eigen::Index>(k));
        Consider(observations_[k], place(static_cast<double>(value)), draw);
      }
      if (t == batch.Length(e)) break;
      const std::int64_t row = batch.offsets[static_cast<std::size_t>(e)] + t;
      for (std::size_t k = 0; k < actions_.size(); ++k) {
        Consider(actions_[k],
                 place(static_cast<double>(batch.actions(row, static_cast<Eigen::Index>(k)))),
                 draw);
      }
      Consider(reward_, place(batch.rewards[static_cast<std::size_t>(row)]), draw);
      if (batch.behavior_log_density.empty()) continue;
      Consider(density_, place(batch.behavior_log_density[static_cast<std::size_t>(row)]), draw);
    }
  }
  episodes_ += batch.episodes();
}

void OutlierAuditor::Judge(const std::string& name, const Column& column,
                           std::vector<std::pair<double, std::string>>& found) {
  if (column.count < kFewestNumbers) return;
  std::vector<double> sample(column.sample.begin(), column.sample.end());
  const double median = Quantile(sample, 0.5);
  double width = Quantile(sample, 0.99) - Quantile(sample, 0.01);
  const bool is_high = column.high.value - median > median - column.low.value;
  const Place& worst = is_high ? column.high : column.low;
  const double distance = std::abs(worst.value - median);
  if (width == 0.0) {
    // of a column that hardly varies: what the other numbers' own size is, at least 1
    width = std::max(std::abs(median), 1.0);
  }
  const double widths = distance / width;
  if (!(widths > kOddDistance)) return;
  found.emplace_back(widths,
                     fmt::format("{} is {:.6g} in episode {}, step {}, where the middle 98 % lie "
                                 "within {:.3g} around {:.3g}",
                                 name, worst.value, worst.episode, worst.step, width, median));
}

std::vector<Finding> OutlierAuditor::Findings() const {
  std::vector<std::pair<double, std::string>> found;
  for (std::size_t k = 0; k < observations_.size(); ++k) {
    Judge(fmt::format("observation[{}]", k), observations_[k], found);
  }
  for (std::size_t k = 0; k < actions_.size(); ++k) {
    Judge(fmt::format("action[{}]", k), actions_[k], found);
  }
  Judge("the reward", reward_, found);
  std::vector<Finding> findings;
  const Place& extreme =
      std::abs(density_.high.value) > std::abs(density_.low.value) ? density_.high : density_.low;
  if (density_.count > 0 && std::abs(extreme.value) > kLargestLogDensity) {
    findings.push_back({Severity::kError, "extreme_density",
                        fmt::format("the behavior log-density is {:.4g} in episode {}, step {}",
                                    extreme.value, extreme.episode, extreme.step),
                        "log the density of the action that was drawn, as a natural logarithm"});
  }
  if (found.empty()) return findings;
  std::ranges::sort(found, std::ranges::greater());
  std::string text;
  for (std::size_t i = 0; i < found.size() && i < kMaxNamed; ++i) {
    text += (i > 0 ? "; " : "") + found[i].second;
  }
  if (found.size() > kMaxNamed)
    text += fmt::format("; and {} more columns", found.size() - kMaxNamed);
  const bool absurd = found.front().first > kAbsurdDistance;
  findings.push_back({absurd ? Severity::kError : Severity::kWarning, "outlier", std::move(text),
                      "drop these episodes, or repair the numbers"});
  return findings;
}

}  // namespace lfiw::core
