// Situations that users of other tools reported, as logs that this file makes: what the program
// says of them from reading to verdict. README.md lists those that other tests hold.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/arrays/npz.h"
#include "core/layers.h"
#include "core/logs/open_log.h"
#include "core/rng.h"
#include "core/statistics.h"
#include "tests/core/test_dir.h"
#include "tests/evaluated_log.h"
#include "tests/small_logs.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;

class TrialsTest : public ::testing::Test {
 protected:
  TrialsTest() { SavePolicyFile(policy_, 0, dir_ / "policy.npz"); }

  StepTable Logged(std::int64_t episodes) const {
    Stream stream(1, "trial");
    return Collect(system_, behavior_, episodes, stream);
  }

  // Evaluates policy.npz.
  EvaluatedLog Evaluate(const std::string& data) const {
    return EvaluateLog(ProgramFile(), data, dir_ / "policy.npz", system_.horizon, dir_.path());
  }
  EvaluatedLog Evaluate(const StepTable& table, TableFormat format,
                        const TableNames& names = {}) const {
    return Evaluate(WriteTable(table, format, names, dir_.path()));
  }

  void ExpectValue(const EvaluatedLog& answer, const LinearPolicy& policy) const {
    Stream stream(2, "truth");
    const std::vector<double> returns = ReturnsOf(Collect(system_, policy, 10'000, stream));
    const double truth = Mean(returns);
    EXPECT_TRUE(IsNear(answer, truth, std::max(std::abs(truth), StandardDeviation(returns))))
        << truth << "\n"
        << answer.output;
    EXPECT_FALSE(answer.is_refused()) << answer.output;
  }
  static void ExpectRefused(const EvaluatedLog& answer, const std::string& why) {
    EXPECT_TRUE(answer.is_refused()) << answer.output;
    EXPECT_THAT(answer.reason, HasSubstr(why));
  }

  // Below a fence the environment ends episodes, and takes five.
  void AddFall() {
    system_.fall = 0.75;
    system_.fall_reward = -5.0;
  }

  TestDir dir_;
  LinearSystem system_;
  LinearPolicy behavior_{.gain = (MatrixD(1, 2) << -0.3, -0.5).finished()};
  LinearPolicy policy_;
};

TEST_F(TrialsTest, TerminalStepsWithoutANextObservationCount) {
  AddFall();
  ExpectValue(Evaluate(Logged(200), TableFormat::kFlatHdf5, {.next_observations = ""}), policy_);
}

TEST_F(TrialsTest, ABufferOfSeveralEnvironmentsIsReadAlongTime) {
  ExpectValue(Evaluate(Logged(160), TableFormat::kBuffer), policy_);
}

TEST_F(TrialsTest, FlagsOfAllEndsBesideTimeLimitsAreNotTrustedWrongly) {
  AddFall();
  StepTable table = Logged(200);
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    table.terminals[static_cast<std::size_t>(i)] = table.Ends(i) ? 1 : 0;
  }
  const EvaluatedLog answer = Evaluate(table, TableFormat::kFlatNpz);
  if (!answer.is_refused()) ExpectValue(answer, policy_);
  EXPECT_THAT(answer.output, HasSubstr("time limit"));
}

TEST_F(TrialsTest, TheFirstObservationOfTheNextEpisodeIsNoOutcome) {
  AddFall();
  StepTable table = Logged(200);
  for (std::int64_t i = 0; i < table.steps(); ++i) {
    if (!table.Ends(i)) continue;
    table.next_observations.row(i) = table.observations.row((i + 1) % table.steps());
  }
  const EvaluatedLog answer = Evaluate(table, TableFormat::kFlatNpz);
  ExpectValue(answer, policy_);
  EXPECT_EQ(answer.verdict, "caution");
  EXPECT_THAT(answer.reason, HasSubstr("first one of the next episode"));
}

// A walk with a reward where it ends alone: 10 above 1, -10 below -1. Steps up at a probability.
std::vector<double> Walk(double up, Stream& stream, std::string* csv, std::int64_t episode) {
  double x = 0.0, reward = 0.0;
  for (int t = 0; t < 40; ++t) {
    const double before = x;
    const int action = stream.Uniform() < up ? 1 : 0;
    x += 0.25 * action - 0.1 + 0.03 * stream.Normal();
    reward = x > 1.0 ? 10.0 : x < -1.0 ? -10.0 : 0.0;
    const bool ends = reward != 0.0;
    if (csv != nullptr) {
      *csv += fmt::format("{},{},{:.6f},{},{},{},{},{}\n", episode, t, before, t / 40.0, action,
                          reward, ends ? 1 : 0, !ends && t == 39 ? 1 : 0);
    }
    if (ends) break;
  }
  return {reward};
}

TEST_F(TrialsTest, ARewardOfTheTerminalStepAloneIsNotLost) {
  std::string csv = "episode,t,obs_0,obs_1,action,reward,terminated,truncated\n";
  Stream log(1, "walk"), truth(2, "walk");
  for (int e = 0; e < 300; ++e) Walk(0.5, log, &csv, e);
  std::ofstream(dir_ / "log.csv") << csv;
  double sum = 0.0;
  for (int e = 0; e < 20'000; ++e) sum += Walk(0.7, truth, nullptr, e)[0];
  policy_.gain = MatrixD::Zero(2, 2);
  policy_.offset = (VectorD(2) << std::log(0.3), std::log(0.7)).finished();
  SavePolicyFile(policy_, 2, dir_ / "policy.npz");
  system_.horizon = 40;
  const EvaluatedLog answer = Evaluate(dir_ / "log.csv");
  // a reward and an end that are learned apart pay some rewards twice; what was lost is all of it
  EXPECT_NEAR(answer.value.value_or(0.0), sum / 20'000, 2.5) << answer.output;
  EXPECT_FALSE(answer.is_refused()) << answer.output;
}

TEST_F(TrialsTest, ObservationsInOtherUnitsThanThePolicysAreRefused) {
  StepTable table = Logged(150);
  for (MatrixF* observations : {&table.observations, &table.next_observations}) {
    observations->col(0) = (observations->col(0).array() * 20.0f + 100.0f).matrix();
    observations->col(1) = (observations->col(1).array() * 5.0f - 30.0f).matrix();
  }
  EXPECT_TRUE(Evaluate(table, TableFormat::kOwn).is_refused());
}

TEST_F(TrialsTest, APolicyOfRawObservationsOnANormalisedLogIsRefused) {
  LinearPolicy raw = policy_;
  raw.gain = (MatrixD(1, 2) << -0.4 / 20.0, -0.6 / 5.0).finished();
  raw.offset << 0.4 * 100.0 / 20.0 - 0.6 * 30.0 / 5.0;
  SavePolicyFile(raw, 0, dir_ / "policy.npz");
  EXPECT_TRUE(Evaluate(Logged(150), TableFormat::kOwn).is_refused());
}

TEST_F(TrialsTest, RewardsThatAreScaledAnewWhileTheLogIsWrittenAreRefused) {
  StepTable table = Logged(200);
  for (std::size_t i = 0; i < table.rewards.size(); ++i) {
    table.rewards[i] /= 3.0 + 10.0 * std::exp(-static_cast<double>(table.episodes[i]) / 20.0);
  }
  ExpectRefused(Evaluate(table, TableFormat::kOwn), "reward");
}

TEST_F(TrialsTest, RewardsThatAreAllZeroAreRefused) {
  StepTable table = Logged(150);
  std::ranges::fill(table.rewards, 0.0);
  ExpectRefused(Evaluate(table, TableFormat::kOwn), "every reward is 0");
}

TEST_F(TrialsTest, ARowThatHoldsWhatLedToItIsRefused) {
  StepTable table = Logged(150);
  for (std::int64_t i = table.steps() - 1; i > 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    if (table.times[at] > 0) {
      table.actions.row(i) = table.actions.row(i - 1);
      table.rewards[at] = table.rewards[at - 1];
    } else {
      table.actions.row(i).setZero();
      table.rewards[at] = 0.0;
    }
  }
  ExpectRefused(Evaluate(table, TableFormat::kFlatNpz), "actions seem to come one row too late");
}

TEST_F(TrialsTest, APolicyThatIsUndefinedSomewhereIsAnErrorThatNamesTheObservation) {
  // infinity less infinity where the sum of both states is large
  NpzFile file;
  file.Put("format", std::string("lfiw network policy 1"));
  file.Put("output", std::string("mean"));
  file.Put("activation", std::string("relu"));
  file.Put("weight_0", MatrixF(MatrixF::Constant(2, 2, 3e38f)));
  file.Put("bias_0", VectorF(VectorF::Zero(2)));
  file.Put("weight_1", MatrixF{{1.0f}, {-1.0f}});
  file.Put("bias_1", VectorF(VectorF::Zero(1)));
  file.Put("log_std", VectorF(VectorF::Zero(1)));
  file.Write(dir_ / "policy.npz");
  const EvaluatedLog answer = Evaluate(Logged(100), TableFormat::kOwn);
  EXPECT_EQ(answer.status, 2) << answer.output;
  EXPECT_THAT(answer.error, HasSubstr("the policy gives NaN at the observation"));
}

TEST_F(TrialsTest, SessionsCutAtRandomCountWhileTheyRun) {
  system_.fall = 0.75;
  system_.horizon = 30;
  const StepTable whole = Logged(600);
  const std::vector<std::int64_t> starts = whole.Starts();
  Stream stream(3, "cuts");
  std::vector<std::int64_t> rows;
  for (std::size_t e = 0; e + 1 < starts.size(); ++e) {
    std::int64_t kept = starts[e + 1] - starts[e];
    const auto cut = 3 + static_cast<std::int64_t>(stream.Below(28));
    if (stream.Uniform() < 0.9) kept = std::min(kept, cut);
    for (std::int64_t t = 0; t < kept; ++t) rows.push_back(starts[e] + t);
  }
  SavePolicyFile(behavior_, 0, dir_ / "policy.npz");
  const EvaluatedLog answer = Evaluate(whole.Rows(rows), TableFormat::kOwn);
  ExpectValue(answer, behavior_);
  EXPECT_NEAR(answer.logged.value(), Mean(ReturnsOf(whole)), 2.0);
}

TEST_F(TrialsTest, ABlankRewardIsAnErrorWithItsLine) {
  std::ofstream(dir_ / "log.csv") << "episode,t,obs_0,obs_1,action_0,reward\n"
                                     "0,0,0.5,0.25,1,1\n0,1,0.5,0.5,0.5,\n0,2,0.5,1,0.5,1\n";
  const EvaluatedLog answer = Evaluate(dir_ / "log.csv");
  EXPECT_EQ(answer.status, 2);
  EXPECT_THAT(answer.error, HasSubstr("log.csv, line 3"));
  EXPECT_THAT(answer.error, HasSubstr("reward"));
}

TEST_F(TrialsTest, AContextualBanditHasAValue) {
  // reward 1 where the action is the sign of the context, which a uniform policy hits half the time
  std::string csv = "episode,t,obs_0,obs_1,action,reward,terminated\n";
  Stream stream(4, "bandit");
  for (int e = 0; e < 2000; ++e) {
    const double x = stream.Normal(), y = stream.Normal();
    const int action = stream.Uniform() < 0.5 ? 0 : 1;
    csv += fmt::format("{},0,{:.6f},{:.6f},{},{},1\n", e, x, y, action,
                       (x > 0.0) == (action == 1) ? 1 : 0);
  }
  std::ofstream(dir_ / "log.csv") << csv;
  policy_.gain = (MatrixD(2, 2) << 0.0, 0.0, 2.0, 0.0).finished();
  policy_.offset = VectorD::Zero(2);
  SavePolicyFile(policy_, 2, dir_ / "policy.npz");
  system_.horizon = 1;
  double truth = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    truth += 1.0 / (1.0 + std::exp(-2.0 * std::abs(stream.Normal()))) / 100'000;
  }
  const EvaluatedLog answer = Evaluate(dir_ / "log.csv");
  EXPECT_NEAR(answer.value.value_or(0.0), truth, 0.05) << answer.output;
  EXPECT_FALSE(answer.is_refused()) << answer.output;
}

TEST_F(TrialsTest, D3rlpysFirstFormatHasItsEpisodes) {
  AddFall();
  const StepTable table = Logged(200);
  const LoadedLog log =
      LoadLog(WriteTable(table, TableFormat::kD3rlpy1, {}, dir_.path()), {}, kAllTransitions, 0);
  EXPECT_EQ(log.batch.episodes(), 200);
  EXPECT_EQ(std::ranges::count(log.batch.terminated, 1), std::ranges::count(table.terminals, 1));
}

TEST_F(TrialsTest, EveryFormatGivesTheSameEpisodes) {
  AddFall();
  const StepTable table = Logged(40);
  for (const TableFormat format :
       {TableFormat::kOwn, TableFormat::kFlatNpz, TableFormat::kFlatHdf5, TableFormat::kCsv,
        TableFormat::kJson, TableFormat::kMinari, TableFormat::kPadded}) {
    const LoadedLog log =
        LoadLog(WriteTable(table, format, {}, dir_.path()), {}, kAllTransitions, 0);
    EXPECT_EQ(log.batch.offsets, table.Starts()) << FormatName(format);
    EXPECT_EQ(log.batch.rewards.size(), table.rewards.size()) << FormatName(format);
    EXPECT_EQ(std::ranges::count(log.batch.terminated, 1), std::ranges::count(table.terminals, 1))
        << FormatName(format);
  }
}

}  // namespace
}  // namespace lfiw::experiments
