#include "models/calibration.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/index_list.h"

namespace lfiw::models {
namespace {

void RequireBothClasses(std::span<const double> logits, std::span<const std::uint8_t> labels) {
  LFIW_ASSERT(logits.size() == labels.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!std::isfinite(logits[i])) {
      Throw<DataError>("calibration: logit {} is {}, expected a finite number", i, logits[i]);
    }
  }
  const auto positives = std::count_if(labels.begin(), labels.end(), [](auto y) { return y != 0; });
  if (positives == 0 || positives == std::ssize(labels)) {
    Throw<DataError>("calibration: {} of {} labels are positive, expected both classes", positives,
                     labels.size());
  }
}

double Probability(double logit) {
  const double tail = std::exp(-std::abs(logit));
  return (logit >= 0.0 ? 1.0 : tail) / (1.0 + tail);
}

// cross-entropy of one row without overflow
double RowNll(double logit, double label) {
  return std::max(logit, 0.0) - label * logit + std::log1p(std::exp(-std::abs(logit)));
}

// Mann-Whitney statistic from mid-ranks.
double Auc(std::span<const double> logits, std::span<const std::uint8_t> labels) {
  std::vector<std::size_t> order = IndexList(logits.size());
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return logits[a] < logits[b]; });
  double won = 0.0, negatives = 0.0, positives = 0.0;
  for (std::size_t begin = 0; begin < order.size();) {
    // one run of equal logits
    std::size_t end = begin;
    double run_positives = 0.0;
    for (; end < order.size() && logits[order[end]] == logits[order[begin]]; ++end) {
      run_positives += labels[order[end]] != 0 ? 1.0 : 0.0;
    }
    const double run_negatives = static_cast<double>(end - begin) - run_positives;
    won += run_positives * (negatives + 0.5 * run_negatives);
    positives += run_positives;
    negatives += run_negatives;
    begin = end;
  }
  return won / (positives * negatives);
}

void FillBins(std::span<const double> logits, std::span<const std::uint8_t> labels,
              Calibration& out) {
  const auto count = static_cast<double>(out.bins.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double p = Probability(logits[i]);
    const auto bin = std::min(out.bins.size() - 1, static_cast<std::size_t>(p * count));
    ++out.bins[bin].count;
    out.bins[bin].mean_probability += p;
    out.bins[bin].positive_fraction += labels[i] != 0 ? 1.0 : 0.0;
  }
  for (ReliabilityBin& bin : out.bins) {
    if (bin.count == 0) continue;
    bin.mean_probability /= static_cast<double>(bin.count);
    bin.positive_fraction /= static_cast<double>(bin.count);
    const double share = static_cast<double>(bin.count) / static_cast<double>(logits.size());
    const double gap = bin.mean_probability - bin.positive_fraction;
    out.ece += share * std::abs(gap);
    out.squared_error += share * gap * gap;
  }
}

}  // namespace

Calibration MeasureCalibration(std::span<const double> logits, std::span<const std::uint8_t> labels,
                               std::int64_t bins) {
  LFIW_ASSERT(bins >= 1);
  RequireBothClasses(logits, labels);
  Calibration out;
  out.bins.resize(static_cast<std::size_t>(bins));
  FillBins(logits, labels, out);
  const auto n = static_cast<double>(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double y = labels[i] != 0 ? 1.0 : 0.0;
    out.brier += std::pow(Probability(logits[i]) - y, 2) / n;
    out.nll += RowNll(logits[i], y) / n;
    const double vote = logits[i] > 0.0 ? 1.0 : logits[i] < 0.0 ? 0.0 : 0.5;
    out.accuracy += (1.0 - std::abs(vote - y)) / n;
  }
  out.auc = Auc(logits, labels);
  return out;
}

}  // namespace lfiw::models
