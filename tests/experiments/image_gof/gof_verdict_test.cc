#include "experiments/image_gof/gof_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "core/rng.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Log-weights of exact ratios between N(shift, 1) and N(0, 1).
CrossFit ExactFit(std::int64_t n, std::int64_t m, double shift) {
  CrossFit fit;
  Stream stream(1, "exact fit");
  const auto ratio = [shift](double x) { return shift * x - shift * shift / 2.0; };
  for (std::int64_t i = 0; i < n; ++i) fit.real.push_back(ratio(shift + stream.Normal()));
  for (std::int64_t i = 0; i < m; ++i) fit.generated.push_back(ratio(stream.Normal()));
  return fit;
}

std::vector<GofRow> KidRow(double value, double standard_error) {
  return {{.metric = kKid,
           .weights = "none",
           .params = "",
           .value = value,
           .standard_error = standard_error}};
}

GofJudgement Judge(const CrossFit& fit, const std::vector<GofRow>& rows) {
  return JudgeFit(GatherEvidence(fit), rows, {}, 100);
}

TEST(GatherEvidence, ExactWeightsAreCalibratedWhateverTheSizes) {
  const WeightEvidence evidence = GatherEvidence(ExactFit(3000, 9000, 1.0));
  EXPECT_LT(evidence.calibration.ece, 0.02);
  // Phi(1 / sqrt 2)
  EXPECT_NEAR(evidence.calibration.auc, 0.760, 0.02);
  EXPECT_NEAR(evidence.ess / 9000.0, std::exp(-1.0), 0.06);
  EXPECT_NEAR(evidence.partition.value, 0.0, 4.0 * *evidence.partition.standard_error);
}

TEST(JudgeFit, EqualSetsShowNoDifference) {
  CrossFit fit = ExactFit(1000, 1000, 0.0);
  Stream stream(2, "noise");
  for (double& value : fit.real) value = 0.1 * stream.Normal();
  for (double& value : fit.generated) value = 0.1 * stream.Normal();
  EXPECT_EQ(Judge(fit, KidRow(0.001, 0.001)).resemblance, Resemblance::kSame);
}

TEST(JudgeFit, TheSizeOfTheDifferenceDecidesBetweenCloseAndDifferent) {
  EXPECT_EQ(Judge(ExactFit(5000, 5000, 0.2), {}).resemblance, Resemblance::kClose);
  EXPECT_EQ(Judge(ExactFit(5000, 5000, 1.0), {}).resemblance, Resemblance::kDifferent);
}

TEST(JudgeFit, AKidFarFromZeroIsADifferenceThatTheClassifierMissed) {
  const CrossFit fit = ExactFit(1000, 1000, 0.0);
  EXPECT_EQ(Judge(fit, KidRow(0.02, 0.001)).resemblance, Resemblance::kClose);
}

TEST(JudgeFit, GoodWeightsRaiseNoDoubts) {
  EXPECT_THAT(Judge(ExactFit(5000, 5000, 0.5), {}).doubts, IsEmpty());
}

TEST(JudgeFit, WrongWeightsAreDoubted) {
  CrossFit fit = ExactFit(3000, 3000, 1.0);
  for (double& value : fit.real) value *= 8.0;
  for (double& value : fit.generated) value *= 8.0;
  const GofJudgement judgement = Judge(fit, {});
  EXPECT_THAT(judgement.doubts, Contains(HasSubstr("away from the data")));
  EXPECT_THAT(judgement.doubts, Contains(HasSubstr("few samples carry the weight")));
  EXPECT_THAT(judgement.doubts, Contains(HasSubstr("off by")));
}

}  // namespace
}  // namespace lfiw::experiments
