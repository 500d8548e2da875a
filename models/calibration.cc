#include "models/calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.h"

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
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
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

// Keeps the slope of separable data finite; far below statistical error otherwise.
constexpr double kRidge = 1e-9;

struct Objective {
  std::span<const double> logits;
  std::span<const std::uint8_t> labels;

  double Nll(double slope, double intercept) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      sum += RowNll(slope * logits[i] + intercept, labels[i] != 0 ? 1.0 : 0.0);
    }
    return sum / static_cast<double>(logits.size());
  }
  double Penalized(double slope, double intercept) const {
    return Nll(slope, intercept) + 0.5 * kRidge * slope * slope;
  }
};

// First and second derivatives of the penalized mean loss by (slope, intercept).
struct Derivatives {
  double g0 = 0.0, g1 = 0.0, h00 = kRidge, h01 = 0.0, h11 = 0.0;
};

Derivatives Differentiate(const Objective& f, double slope, double intercept) {
  Derivatives d;
  d.g0 = kRidge * slope;
  const double share = 1.0 / static_cast<double>(f.logits.size());
  for (std::size_t i = 0; i < f.logits.size(); ++i) {
    const double z = f.logits[i];
    const double p = Probability(slope * z + intercept);
    const double residual = share * (p - (f.labels[i] != 0 ? 1.0 : 0.0));
    const double curvature = share * p * (1.0 - p);
    d.g0 += residual * z;
    d.g1 += residual;
    d.h00 += curvature * z * z;
    d.h01 += curvature * z;
    d.h11 += curvature;
  }
  return d;
}

enum class Intercept { kFitted, kZero };

PlattScale Minimize(const Objective& f, Intercept kind) {
  double slope = 1.0, intercept = 0.0;
  double value = f.Penalized(slope, intercept);
  for (int iteration = 0; iteration < 100; ++iteration) {
    Derivatives d = Differentiate(f, slope, intercept);
    if (kind == Intercept::kZero) d.g1 = d.h01 = 0.0;
    d.h11 += kRidge;
    const double determinant = d.h00 * d.h11 - d.h01 * d.h01;
    const double step0 = (d.h11 * d.g0 - d.h01 * d.g1) / determinant;
    const double step1 = (d.h00 * d.g1 - d.h01 * d.g0) / determinant;
    // halve until the loss falls
    double scale = 1.0;
    while (scale > 1e-10 &&
           !(f.Penalized(slope - scale * step0, intercept - scale * step1) < value)) {
      scale *= 0.5;
    }
    if (scale <= 1e-10) break;
    slope -= scale * step0;
    intercept -= scale * step1;
    const double before = value;
    value = f.Penalized(slope, intercept);
    if (before - value < 1e-14) break;
  }
  return {slope, intercept, f.Nll(slope, intercept)};
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

PlattScale FitPlatt(std::span<const double> logits, std::span<const std::uint8_t> labels) {
  RequireBothClasses(logits, labels);
  return Minimize({logits, labels}, Intercept::kFitted);
}

PlattScale FitTemperature(std::span<const double> logits, std::span<const std::uint8_t> labels) {
  RequireBothClasses(logits, labels);
  return Minimize({logits, labels}, Intercept::kZero);
}

}  // namespace lfiw::models
