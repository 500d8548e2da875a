#include "ope/judgement/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::ope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Evidence Good() {
  Evidence evidence;
  evidence.episodes = 100;
  evidence.ess = 60.0;
  evidence.khat = 0.3;
  evidence.clip_rate = 0.0;
  evidence.clamp_rate = 0.001;
  evidence.ece = 0.01;
  evidence.auc = 0.6;
  evidence.mean_weight = MeanWeight{.step = 3, .supported = true, .log_mean = 0.05};
  evidence.improves = ImprovementCheck{.holds = true, .margin = 0.1};
  return evidence;
}

Verdict VerdictOf(const Evidence& evidence) { return Judge(evidence, {}).verdict; }

TEST(Judge, GoodEvidenceIsTrustedWithoutReasons) {
  const Judgement judgement = Judge(Good(), {});
  EXPECT_EQ(judgement.verdict, Verdict::kTrust);
  EXPECT_THAT(judgement.reasons, IsEmpty());
}

TEST(Judge, UnmeasuredEvidenceIsNotHeldAgainstAnEstimate) {
  Evidence evidence;
  evidence.episodes = 100;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
}

TEST(Judge, AMissingEstimateIsNeverUsable) {
  Evidence evidence = Good();
  evidence.missing_value = "no support";
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, FewEffectiveEpisodesLowerTheVerdict) {
  Evidence evidence = Good();
  evidence.ess = 15.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.ess = 1.2;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, KhatIsHeldAgainstTheThresholdOfTheSampleSize) {
  Evidence evidence = Good();
  evidence.khat = 0.6;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.episodes = 1000;
  evidence.ess = 600.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.khat = 1.1;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, ClampsCalibrationAndMeanWeightsCount) {
  Evidence evidence = Good();
  evidence.clamp_rate = 0.05;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence = Good();
  evidence.ece = 0.3;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  evidence = Good();
  evidence.auc = 0.995;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  evidence.auc = 0.4;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence = Good();
  evidence.mean_weight->log_mean = -0.4;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.mean_weight->log_stderr = 0.2;  // within its noise
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
}

TEST(Judge, WithoutWeightsAModelThatIsToldFromDataIsNotTrusted) {
  Evidence evidence;
  evidence.model_auc = 0.55;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kTrust);
  evidence.model_auc = 0.7;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kCaution);
  evidence.model_auc = 0.95;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kDoNotUse);
}

TEST(Judge, OneQuarterOfTheEpisodeFarFromTheLogIsEnough) {
  Evidence evidence = Good();
  evidence.support = SupportCheck{.outside = 0.05, .worst_quarter = 0.2};
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.support->worst_quarter = 0.3;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.support->worst_quarter = 0.8;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, PredictedStatesThatLeaveTheLoggedOnesCount) {
  Evidence evidence = Good();
  evidence.open_loop = 1.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.open_loop = 2.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.open_loop = HUGE_VAL;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, AHorizonFarBeyondTheLoggedEpisodesIsRefused) {
  Evidence evidence = Good();
  evidence.reach = 1.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.reach = 2.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.reach = 5.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  EXPECT_THAT(Judge(evidence, {}).reasons, ElementsAre(HasSubstr("5.0 times as long")));
}

TEST(Judge, AViolatedPropositionCallsForCautionBeyondItsNoise) {
  Evidence evidence = Good();
  evidence.improves = ImprovementCheck{.holds = false, .margin = -0.1, .standard_error = 0.08};
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.improves->standard_error = 0.01;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
}

TEST(Judge, ReasonsArePlainAndWorstFirst) {
  Evidence evidence = Good();
  evidence.ess = 1.0;
  evidence.clamp_rate = 0.05;
  EXPECT_THAT(Judge(evidence, {}).reasons,
              ElementsAre(HasSubstr("1.0 effective of 100 episodes"), HasSubstr("5.0 %")));
}

TEST(EvidenceOf, CarriesWhatTheEstimateKnows) {
  LfiwEstimate estimate;
  estimate.value = 1.0;
  estimate.ess = 7.0;
  estimate.khat = 0.4;
  estimate.clip_rate = 0.1;
  const Evidence evidence = EvidenceOf(estimate, 50);
  EXPECT_TRUE(evidence.missing_value.empty());
  EXPECT_EQ(evidence.ess, 7.0);
  EXPECT_EQ(evidence.khat, 0.4);
  EXPECT_EQ(evidence.clip_rate, 0.1);
  EXPECT_EQ(evidence.episodes, 50);
}

TEST(Judge, IsCautiousWhereTheLogMovesTheModelsValue) {
  Evidence evidence;
  evidence.episodes = 100;
  evidence.value = 100.0;
  evidence.uncorrected = 97.0;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kTrust);
  evidence.uncorrected = 80.0;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kCaution);
  evidence.uncorrected = -80.0;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kDoNotUse);
  evidence.value = evidence.uncorrected = 0.0;
  EXPECT_EQ(Judge(evidence, {}).verdict, Verdict::kTrust);
}

}  // namespace
}  // namespace lfiw::ope
