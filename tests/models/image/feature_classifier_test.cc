#include "models/image/feature_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "core/arrays/npz.h"
#include "core/error.h"
#include "core/rng.h"
#include "tests/core/test_dir.h"
#include "tests/models/change_fields.h"

namespace lfiw::models {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Rows of N(shift, 1) in the first column beside a constant.
MatrixF NormalRows(std::int64_t n, double shift, std::uint64_t seed) {
  Stream stream(seed, "rows");
  MatrixF rows(n, 2);
  for (Eigen::Index i = 0; i < n; ++i) {
    rows.row(i) << static_cast<float>(shift + stream.Normal()), 3.0f;
  }
  return rows;
}

std::vector<std::int64_t> Range(std::int64_t begin, std::int64_t end) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

FeatureClassifierOptions Small() {
  FeatureClassifierOptions options;
  options.network.width = 32;
  options.fit.steps = 800;
  options.fit.batch = 200;
  options.fit.validate_every = 100;
  options.fit.adam.learning_rate = 3e-3;
  return options;
}

struct Problem {
  MatrixF real = NormalRows(4000, 1.0, 1), generated = NormalRows(6000, 0.0, 2);
  std::vector<std::int64_t> train_real = Range(0, 3200), train_generated = Range(0, 4800);
  std::vector<std::int64_t> other_real = Range(3200, 4000), other_generated = Range(4800, 6000);

  FeatureClassifierData data() const {
    return {real, generated, {train_real, train_generated}, {other_real, other_generated}};
  }
};

std::vector<double> LogRatios(const FeatureClassifier& classifier, const MatrixF& rows) {
  std::vector<double> ratios(static_cast<std::size_t>(rows.rows()));
  classifier.LogRatios(rows, ratios);
  return ratios;
}

TEST(FeatureClassifier, LearnsTheLogRatioWhateverTheClassSizes) {
  // N(1, 1) against N(0, 1): log w = x - 1/2
  const Problem problem;
  const FeatureClassifier classifier =
      FitFeatureClassifier(problem.data(), Small(), 1, 0).classifier;
  const MatrixF points{{-1.0f, 3.0f}, {0.0f, 3.0f}, {1.0f, 3.0f}, {2.0f, 3.0f}};
  const std::vector<double> ratios = LogRatios(classifier, points);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(ratios[i], static_cast<double>(i) - 1.5, 0.25) << i;
  }
}

TEST(FeatureClassifier, WithNoiseItLearnsTheRatioOfTheSmoothedDensities) {
  // the rows' variance is 1 + 0.4 * 0.6, so unit noise on scaled rows makes N(1, 2.24) and
  // N(0, 2.24) of them: log w = (x - 1/2) / 2.24
  const Problem problem;
  FeatureClassifierOptions options = Small();
  options.input_noise = 1.0;
  const FeatureClassifier classifier =
      FitFeatureClassifier(problem.data(), options, 1, 0).classifier;
  const MatrixF points{{-1.0f, 3.0f}, {0.0f, 3.0f}, {1.0f, 3.0f}, {2.0f, 3.0f}};
  std::vector<double> ratios(4), again(4);
  classifier.SmoothedLogRatios(points, 1.0, 200, Stream(1, "noise"), ratios);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(ratios[i], (static_cast<double>(i) - 1.5) / 2.24, 0.15) << i;
  }
  classifier.SmoothedLogRatios(points, 0.0, 3, Stream(2, "noise"), again);
  const std::vector<double> plain = LogRatios(classifier, points);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(again[i], plain[i], 1e-6) << "no noise";
}

TEST(FeatureClassifier, KeepsTheParametersOfTheBestValidation) {
  const Problem problem;
  const FitSummary summary = FitFeatureClassifier(problem.data(), Small(), 1, 0).summary;
  // the cross-entropy of the exact ratio is 0.583
  EXPECT_NEAR(summary.best_validation_loss, 0.583, 0.02);
  EXPECT_EQ(summary.history.steps.size(), 8u);
}

TEST(FeatureClassifier, WithoutValidationRowsTrainsToTheLastStep) {
  const Problem problem;
  FeatureClassifierData data = problem.data();
  data.validation = {};
  const auto fit = FitFeatureClassifier(data, Small(), 1, 0);
  EXPECT_NEAR(LogRatios(fit.classifier, MatrixF{{0.5f, 3.0f}})[0], 0.0, 0.25);
}

TEST(FeatureClassifier, SurvivesItsFile) {
  const TestDir dir;
  const Problem problem;
  const FeatureClassifier classifier =
      FitFeatureClassifier(problem.data(), Small(), 1, 0).classifier;
  classifier.Save(dir / "c.npz");
  EXPECT_EQ(LogRatios(FeatureClassifier::Load(dir / "c.npz"), problem.real),
            LogRatios(classifier, problem.real));
}

TEST(FeatureClassifier, AFileThatDoesNotFitTogetherIsRefused) {
  const TestDir dir;
  NpzFile file;
  Scaler(VectorF::Zero(3), VectorF::Ones(3)).Save("features", file);
  Mlp(2, 1, {}, Stream(1, "weights")).Save("network", file);
  file.Write(dir / "c.npz");
  EXPECT_THAT([&] { FeatureClassifier::Load(dir / "c.npz"); },
              ThrowsMessage<DataError>(HasSubstr("expected 3 to 1")));
}

TEST(FeatureClassifier, OtherIndicesGiveOtherFitsAndTheSameIndexTheSame) {
  const Problem problem;
  FeatureClassifierOptions options = Small();
  options.fit.steps = 20;
  const auto fit = [&](std::int64_t index) {
    return LogRatios(FitFeatureClassifier(problem.data(), options, 1, index).classifier,
                     problem.real);
  };
  EXPECT_EQ(fit(0), fit(0));
  EXPECT_NE(fit(0), fit(1));
}

TEST(FeatureClassifier, ACheckpointOfOtherOptionsIsRefused) {
  const Problem problem;
  ExpectEveryFieldCounts(TinyFit<FeatureClassifierOptions>(),
                         [&](const auto& options, const FitRun& run) {
                           FitFeatureClassifier(problem.data(), options, 1, 0, run);
                         });
}

TEST(FeatureClassifier, ASideWithoutRowsIsRefused) {
  const Problem problem;
  FeatureClassifierData data = problem.data();
  data.train.generated = {};
  EXPECT_THAT([&] { FitFeatureClassifier(data, Small(), 1, 0); },
              ThrowsMessage<DataError>(HasSubstr("3200 real and 0 generated training rows")));
}

}  // namespace
}  // namespace lfiw::models
