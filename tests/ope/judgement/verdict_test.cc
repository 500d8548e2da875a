#include "ope/judgement/verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace lfiw::ope {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
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

TEST(Judge, AFaultyLogRefusesAndADoubtfulOneCautions) {
  Evidence evidence = Good();
  evidence.log_warning = "every episode has one step";
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.log_error = "actions come one row too late";
  const Judgement judgement = Judge(evidence, {});
  EXPECT_EQ(judgement.verdict, Verdict::kDoNotUse);
  EXPECT_THAT(judgement.reasons, ElementsAre(HasSubstr("actions come one row too late"),
                                             HasSubstr("every episode has one step")));
}

TEST(Judge, OneEpisodeThatDecidesIsNotTrusted) {
  Evidence evidence = Good();
  evidence.influence = 0.3;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
  evidence.influence = 0.6;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.influence = 0.97;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
}

TEST(Judge, AnIntervalWithoutWidthCallsForCaution) {
  Evidence evidence = Good();
  evidence.width = 0.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.width = 1e-9;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
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

// One quantity that has limits: how to give it a value, and how its reason writes numbers.
struct Measured {
  const char* name;
  void (*set)(Evidence&, double);
  Threshold VerdictOptions::*limits;
  int worse;           // +1: large values are bad, -1: small ones are
  const char* format;  // of the number in the reason
  double unit = 1.0;   // what the number and its limit are multiplied by
  const char* unit_name = "";
  Verdict at_caution = Verdict::kTrust;  // of a value that equals the limit
  Verdict at_refuse = Verdict::kCaution;
};

constexpr std::int64_t kEpisodes = 1'000'000;  // from which caution starts at the k-hat of 0.7

const std::vector<Measured>& AllMeasured() {
  static const std::vector<Measured> all = {
      {"ess_fraction", [](Evidence& e, double x) { e.ess = x * kEpisodes; },
       &VerdictOptions::ess_fraction, -1, "{:.1f} effective", kEpisodes},
      {"ess",
       [](Evidence& e, double x) {
         e.episodes = 30;
         e.ess = x;
       },
       &VerdictOptions::ess, -1, "{:.1f} effective"},
      {"khat", [](Evidence& e, double x) { e.khat = x; }, &VerdictOptions::khat, 1, "k-hat {:.2f}",
       1.0, "", Verdict::kCaution, Verdict::kDoNotUse},
      {"clip_rate", [](Evidence& e, double x) { e.clip_rate = x; }, &VerdictOptions::clip_rate, 1,
       "{:.1f} %", 100.0, " %"},
      {"clamp_rate", [](Evidence& e, double x) { e.clamp_rate = x; }, &VerdictOptions::clamp_rate,
       1, "{:.1f} %", 100.0, " %"},
      {"ece", [](Evidence& e, double x) { e.ece = x; }, &VerdictOptions::ece, 1,
       "expected error {:.3f}"},
      {"auc", [](Evidence& e, double x) { e.auc = x; }, &VerdictOptions::auc, 1, "AUC {:.3f}"},
      {"model_auc", [](Evidence& e, double x) { e.model_auc = x; }, &VerdictOptions::model_auc, 1,
       "AUC {:.2f}"},
      {"lowest_auc", [](Evidence& e, double x) { e.auc = x; }, &VerdictOptions::lowest_auc, -1,
       "AUC {:.2f}"},
      {"log_mean_weight",
       [](Evidence& e, double x) {
         e.mean_weight = MeanWeight{.step = 4, .supported = true, .log_mean = -x};
       },
       &VerdictOptions::log_mean_weight, 1, "off by {:.2f} nats", 1.0, " nats"},
      {"outside",
       [](Evidence& e, double x) { e.support = SupportCheck{.outside = x, .worst_quarter = 0.0}; },
       &VerdictOptions::outside, 1, "{:.0f} %", 100.0, " %"},
      {"quarter",
       [](Evidence& e, double x) { e.support = SupportCheck{.outside = 0.0, .worst_quarter = x}; },
       &VerdictOptions::quarter, 1, "{:.0f} %", 100.0, " %"},
      {"correction",
       [](Evidence& e, double x) {
         e.uncorrected = 100.0;
         e.value = 100.0 - 100.0 * x;
       },
       &VerdictOptions::correction, 1, "by {:.1f} %", 100.0, " %"},
      {"back_test",
       [](Evidence& e, double x) {
         e.back_test = Backtest{.estimate = 100.0 + 100.0 * x, .logged = 100.0};
       },
       &VerdictOptions::back_test, 1, "off by {:.1f} %", 100.0, " %"},
      {"open_loop", [](Evidence& e, double x) { e.open_loop = x; }, &VerdictOptions::open_loop, 1,
       "up to {:.2g} standard"},
      {"reach", [](Evidence& e, double x) { e.reach = x; }, &VerdictOptions::reach, 1,
       "{:.1f} times"},
      {"influence", [](Evidence& e, double x) { e.influence = x; }, &VerdictOptions::influence, 1,
       "makes up {:.0f} %", 100.0, " %"}};
  return all;
}

Judgement JudgeValue(const Measured& measured, double value) {
  Evidence evidence;
  evidence.episodes = kEpisodes;
  measured.set(evidence, value);
  return Judge(evidence, {});
}

TEST(Judge, AValueJustBeyondALimitLowersTheVerdictAndNoneBefore) {
  for (const Measured& measured : AllMeasured()) {
    const Threshold limits = VerdictOptions().*measured.limits;
    const auto verdict = [&](double limit, double share) {
      return JudgeValue(measured, limit * (1.0 + measured.worse * share)).verdict;
    };
    EXPECT_EQ(verdict(limits.caution, -1e-6), Verdict::kTrust) << measured.name;
    EXPECT_EQ(verdict(limits.caution, 0.0), measured.at_caution) << measured.name;
    EXPECT_EQ(verdict(limits.caution, 1e-6), Verdict::kCaution) << measured.name;
    if (limits.refuse == 0.0) continue;  // nothing is below it
    EXPECT_EQ(verdict(limits.refuse, -1e-6), Verdict::kCaution) << measured.name;
    EXPECT_EQ(verdict(limits.refuse, 0.0), measured.at_refuse) << measured.name;
    EXPECT_EQ(verdict(limits.refuse, 1e-6), Verdict::kDoNotUse) << measured.name;
  }
}

TEST(Judge, AReasonNamesWhatWasMeasuredAndTheLimitThatItPassed) {
  for (const Measured& measured : AllMeasured()) {
    const Threshold limits = VerdictOptions().*measured.limits;
    const auto expect = [&](double limit, const char* word) {
      const double value = limit * (1.0 + measured.worse * 1e-6);
      EXPECT_THAT(
          JudgeValue(measured, value).reasons,
          ElementsAre(AllOf(
              HasSubstr(fmt::format(fmt::runtime(measured.format), measured.unit * value)),
              HasSubstr(word),
              EndsWith(fmt::format(" {:.6g}{})", measured.unit * limit, measured.unit_name)))))
          << measured.name;
    };
    expect(limits.caution, "(trusted ");
    if (limits.refuse > 0.0) expect(limits.refuse, "(refused ");
  }
}

TEST(Judge, ClippedWeightsAndClampedStatesHaveLimitsOfTheirOwn) {
  Evidence evidence;
  evidence.clip_rate = evidence.clamp_rate = 0.05;
  VerdictOptions options;
  options.clip_rate = {.caution = 0.1, .refuse = 0.5};
  EXPECT_THAT(Judge(evidence, options).reasons, ElementsAre(HasSubstr("model's states")));
  options.clamp_rate = {.caution = 0.1, .refuse = 0.5};
  EXPECT_THAT(Judge(evidence, options).reasons, IsEmpty());
}

TEST(Judge, FewEpisodesLowerTheKhatFromWhichCautionStarts) {
  Evidence evidence;
  evidence.episodes = 100;  // 1 - 1 / log10(100) = 0.5
  evidence.khat = 0.55;
  EXPECT_THAT(Judge(evidence, {}).reasons, ElementsAre(HasSubstr("(trusted below 0.5)")));
}

TEST(Judge, AValueBeyondAllLoggedReturnsOfAPolicyThatLeavesTheLogIsRefused) {
  Evidence evidence;
  evidence.seen = ReturnRange{-1.0, 2.0};
  evidence.support = SupportCheck{.outside = 0.05, .worst_quarter = 0.1};
  evidence.value = 2.05;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);  // within the log's states
  evidence.value = 2.5;
  evidence.support->outside = 0.2;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  EXPECT_THAT(Judge(evidence, {}).reasons,
              Contains(HasSubstr("2.5 lies outside all logged returns [-1, 2]")));
  evidence.value = 1.5;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
}

TEST(Judge, AValueThatNoLoggedEpisodeEarnedIsNotTrusted) {
  Evidence evidence;
  evidence.seen = ReturnRange{-10.0, 10.0};
  evidence.value = 10.4;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);  // within the noise of a good estimate
  evidence.value = 11.5;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  EXPECT_THAT(Judge(evidence, {}).reasons,
              Contains(HasSubstr("11.5 lies beyond all logged returns [-10, 10], by 13.0 %")));
  evidence.value = -11.5;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kCaution);
  evidence.value = 25.0;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  // near 0 the spread of returns is their size
  evidence = {};
  evidence.seen = ReturnRange{-1.0, 0.01};
  evidence.value = 0.02;
  evidence.spread = 0.5;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust);
}

TEST(Judge, AValueThatTheLoggedRewardsCannotAddUpToIsRefused) {
  Evidence evidence;
  evidence.possible = ReturnRange{-1.0, 2.0};
  for (const double inside : {-1.0, 0.0, 2.0}) {
    evidence.value = inside;
    EXPECT_EQ(VerdictOf(evidence), Verdict::kTrust) << inside;
  }
  evidence.value = 2.5;
  EXPECT_EQ(VerdictOf(evidence), Verdict::kDoNotUse);
  EXPECT_THAT(Judge(evidence, {}).reasons, ElementsAre(HasSubstr("2.5 lies outside [-1, 2]")));
}

}  // namespace
}  // namespace lfiw::ope
