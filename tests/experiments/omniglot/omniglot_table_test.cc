#include "experiments/omniglot/omniglot_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A run with these test accuracies, in order of TrainingData, and two epochs.
OmniglotRun RunWith(const std::array<double, 5>& accuracies) {
  OmniglotRun run;
  for (std::size_t c = 0; c < accuracies.size(); ++c) {
    AugmentedFit& fit = run.columns[c].tried.emplace_back();
    fit.test_accuracy = accuracies[c];
    fit.history = {{"loss", "held_out_loss", "held_out_accuracy"},
                   {10, 20},
                   {1.0, 1.0, accuracies[c] / 2.0, 0.5, 0.5, accuracies[c]}};
  }
  run.ratios.weights.real = {1.0, 2.0, 3.0};
  run.ratios.weights.generated = {0.0, 0.0, std::log(2.0), std::log(4.0)};
  return run;
}

std::vector<OmniglotRun> Runs() {
  std::vector<OmniglotRun> runs;
  runs.push_back(RunWith({0.6, 0.4, 0.5, 0.6, 0.7}));
  runs.push_back(RunWith({0.8, 0.5, 0.6, 0.7, 0.8}));
  return runs;
}

// The classes of the generated drawings.
constexpr std::array<std::int64_t, 4> kLabels = {0, 0, 1, 1};

// Weights to the power alpha, as in the paper.
AugmentedOptions Power(double alpha) {
  AugmentedOptions options;
  options.balance = WeightBalance::kNone;
  options.tempered.clear();
  options.alpha = alpha;
  return options;
}

TEST(MakeTable, TemperedWeightsAreWorthTheirShareOfTheDrawings) {
  AugmentedOptions options;
  options.tempered = {0.9};
  options.balance = WeightBalance::kNone;
  const RunWeights weights = MakeTable(Runs(), kLabels, options).weights[0];
  EXPECT_NEAR(weights.ess, 0.9 * 4.0, 1e-6);
  EXPECT_LT(weights.alpha, 1.0);
}

TEST(MakeTable, AveragesOverRunsWithStandardErrors) {
  const OmniglotTable table = MakeTable(Runs(), kLabels, Power(1.0));
  EXPECT_EQ(table.columns[0].data, TrainingData::kReal);
  EXPECT_NEAR(table.columns[0].accuracy.value, 0.7, 1e-12);
  EXPECT_NEAR(table.columns[0].accuracy.standard_error, 0.1, 1e-12);
  EXPECT_EQ(table.columns[4].paper.value, 0.6818);
}

TEST(MakeTable, DifferencesArePairedSoThatCommonNoiseCancels) {
  const PairedDifference mixed = MakeTable(Runs(), kLabels, Power(1.0)).differences[1];
  EXPECT_EQ(mixed.left, TrainingData::kMixedWeighted);
  EXPECT_EQ(mixed.right, TrainingData::kMixed);
  EXPECT_NEAR(mixed.accuracy.value, 0.1, 1e-12);
  EXPECT_NEAR(mixed.accuracy.standard_error, 0.0, 1e-12);
}

TEST(MakeTable, EffectiveSamplesAreOfTheFlattenedWeights) {
  // weights 1, 1, 2, 4: 8^2 / 22
  EXPECT_NEAR(MakeTable(Runs(), kLabels, Power(1.0)).weights[0].ess, 64.0 / 22.0, 1e-12);
  EXPECT_NEAR(MakeTable(Runs(), kLabels, Power(1.0)).weights[0].max_weight, 0.5, 1e-12);
  EXPECT_NEAR(MakeTable(Runs(), kLabels, Power(0.0)).weights[0].ess, 4.0, 1e-12);
  EXPECT_EQ(MakeTable(Runs(), kLabels, Power(0.0)).weights[0].calibration.auc,
            MakeTable(Runs(), kLabels, Power(1.0)).weights[0].calibration.auc);
}

TEST(MakeTable, SaysWhatEachShareGaveAndWhichWasTaken) {
  std::vector<OmniglotRun> runs = Runs();
  for (OmniglotRun& run : runs) {
    ColumnFits& column = run.columns[static_cast<std::size_t>(TrainingData::kWeighted)];
    column.tried.push_back(column.tried.front());
    column.tried.back().validation_accuracy = 0.75;
    column.chosen = 1;
  }
  AugmentedOptions options;
  options.tempered = {1.0, 0.5};
  const OmniglotTable table = MakeTable(runs, kLabels, options);
  ASSERT_EQ(table.shares.size(), 3u) << "two of D_g w/ LFIW, one of the mixture";
  EXPECT_EQ(table.shares[0].chosen, 0);
  EXPECT_EQ(table.shares[1].share, 0.5);
  EXPECT_EQ(table.shares[1].chosen, 2);
  EXPECT_NEAR(table.shares[1].validation.value, 0.75, 1e-12);
  EXPECT_NEAR(table.shares[1].test.value, 0.55, 1e-12);
  EXPECT_EQ(table.weights[0].share, 0.5);
  EXPECT_EQ(table.weights[1].share, 1.0) << "of the mixture";
  EXPECT_THAT(TableText(table), HasSubstr("0.7500 ± 0.0000 with 0.5 (taken by 2 runs)"));
  EXPECT_THAT(SharesCsv(table), HasSubstr("\"D_g w/ LFIW\",0.5,0.75,0,0.55,"));
}

TEST(ValidationCurve, IsTheMeanOverRunsAfterEachEpoch) {
  const std::vector<RunMean> curve = ValidationCurve(Runs(), TrainingData::kReal);
  ASSERT_EQ(curve.size(), 2u);
  EXPECT_NEAR(curve[0].value, 0.35, 1e-12);
  EXPECT_NEAR(curve[1].value, 0.7, 1e-12);
  EXPECT_NEAR(curve[1].standard_error, 0.1, 1e-12);
}

TEST(TableText, HasTheColumnsThePaperAndTheDifferences) {
  const std::string text = TableText(MakeTable(Runs(), kLabels, Power(1.0)));
  EXPECT_THAT(text, HasSubstr("D_cl + D_g w/ LFIW  0.7500 ± 0.0500  0.6818 ± 0.0022"));
  EXPECT_THAT(text, HasSubstr("D_cl + D_g w/ LFIW less D_cl + D_g: +0.1000 ± 0.0000"));
}

TEST(OmniglotCsv, HasALinePerColumnAndRunAndPerQuantity) {
  EXPECT_THAT(RunsCsv(Runs()), HasSubstr("\"D_g w/ LFIW\",1,0,0,0.6,0,0,20\n"));
  EXPECT_THAT(TableCsv(MakeTable(Runs(), kLabels, Power(1.0))),
              HasSubstr("\"D_cl + D_g less D_cl\","));
  EXPECT_THAT(RunsCsv(Runs()), StartsWith("trained_on,run,generator,seed,test_accuracy,"
                                          "validation_accuracy,kept_step,steps\n"));
  EXPECT_THAT(TableCsv(MakeTable(Runs(), kLabels, Power(1.0))),
              StartsWith("quantity,value,stderr,paper_value,paper_stderr\n"));
  EXPECT_THAT(
      WeightsCsv(MakeTable(Runs(), kLabels, Power(1.0))),
      StartsWith("run,trained_on,tempered,auc,accuracy,ece,squared_error,brier,nll,alpha,ess,"
                 "max_weight\n0,"));
  EXPECT_THAT(WeightsCsv(MakeTable(Runs(), kLabels, Power(1.0))), HasSubstr("\n1,"));
}

}  // namespace
}  // namespace lfiw::experiments
