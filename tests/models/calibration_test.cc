#include "models/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "core/rng.h"

namespace lfiw::models {
namespace {

struct Labeled {
  std::vector<double> logits;
  std::vector<std::uint8_t> labels;
};

// Labels drawn from sigmoid(slope * logit + intercept).
Labeled Draw(std::size_t n, double slope, double intercept) {
  Labeled data;
  Stream stream(4, "calibration");
  for (std::size_t i = 0; i < n; ++i) {
    data.logits.push_back(2.0 * stream.Normal());
    const double p = 1.0 / (1.0 + std::exp(-(slope * data.logits.back() + intercept)));
    data.labels.push_back(stream.Uniform() < p ? 1 : 0);
  }
  return data;
}

TEST(MeasureCalibration, AucEqualsCountedPairs) {
  // ties across and within classes
  const Labeled data{{0.0, 1.0, 1.0, 1.0, -2.0, 3.0, 0.0}, {0, 1, 0, 1, 0, 1, 1}};
  double won = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < 7; ++i) {
    for (std::size_t j = 0; j < 7; ++j) {
      if (data.labels[i] != 1 || data.labels[j] != 0) continue;
      pairs += 1.0;
      won += data.logits[i] > data.logits[j] ? 1.0 : data.logits[i] == data.logits[j] ? 0.5 : 0.0;
    }
  }
  EXPECT_DOUBLE_EQ(MeasureCalibration(data.logits, data.labels).auc, won / pairs);
}

TEST(MeasureCalibration, ByHandOnFourRows) {
  const double high = std::log(4.0);  // probability 0.8
  const Labeled data{{high, high, -high, -high}, {1, 0, 0, 0}};
  const Calibration c = MeasureCalibration(data.logits, data.labels);
  ASSERT_EQ(c.bins.size(), 10u);
  std::int64_t counted = 0;
  for (const ReliabilityBin& bin : c.bins) counted += bin.count;
  EXPECT_EQ(counted, 4);
  // half the rows at .8 with fraction .5, half at .2 with fraction 0
  EXPECT_NEAR(c.ece, 0.5 * 0.3 + 0.5 * 0.2, 1e-12);
  EXPECT_NEAR(c.squared_error, 0.5 * 0.09 + 0.5 * 0.04, 1e-12);
  EXPECT_NEAR(c.brier, (0.04 + 0.64 + 0.04 + 0.04) / 4.0, 1e-12);
  EXPECT_NEAR(c.nll, -(3.0 * std::log(0.8) + std::log(0.2)) / 4.0, 1e-12);
  EXPECT_DOUBLE_EQ(c.accuracy, 0.75);
}

TEST(MeasureCalibration, CertainLogitsAreCountedInTheOuterBins) {
  const Labeled data{{1000.0, -1000.0}, {1, 0}};
  const Calibration c = MeasureCalibration(data.logits, data.labels);
  EXPECT_EQ(c.bins.front().count, 1);
  EXPECT_EQ(c.bins.back().count, 1);
  EXPECT_EQ(c.ece, 0.0);
  EXPECT_EQ(c.auc, 1.0);
}

TEST(MeasureCalibration, TrueProbabilitiesAreCalibrated) {
  const Labeled data = Draw(100'000, 1.0, 0.0);
  // a bin of 10,000 rows has a fraction within .005; 3 of these
  EXPECT_LT(MeasureCalibration(data.logits, data.labels).ece, 0.015);
}

TEST(MeasureCalibration, OneClassOrNaNIsAnError) {
  const std::vector<double> logits = {0.0, 1.0};
  EXPECT_THROW(MeasureCalibration(logits, std::vector<std::uint8_t>{1, 1}), DataError);
  const std::vector<double> broken = {0.0, std::nan("")};
  EXPECT_THROW(MeasureCalibration(broken, std::vector<std::uint8_t>{1, 0}), DataError);
}

}  // namespace
}  // namespace lfiw::models
