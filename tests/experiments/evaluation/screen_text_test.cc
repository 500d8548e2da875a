#include "experiments/evaluation/screen_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/experiments/evaluation/hand_made_report.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ScreenTextTest : public HandMadeReport {
 protected:
  std::string Text() const { return ScreenText(Inputs()); }
};

// The lines of a text that hold a word.
std::string LinesWith(const std::string& text, const std::string& word) {
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin) + 1;
    const std::string line = text.substr(begin, end - begin);
    if (line.find(word) != std::string::npos) lines += line;
    begin = end;
  }
  return lines;
}

TEST_F(ScreenTextTest, OfOnePolicyIsTheAnswerWithWhatItRestsOn) {
  EXPECT_THAT(
      Text(),
      HasSubstr("\n\nlog: 20 episodes, 600 steps of LinearGaussian; the logged policy is worth "
                "8.000 +- 0.40\n"
                "value of new: 12.00 +- 0.2500, 90 % [11.00, 14.00] (by_hand; "
                "lfiw_trajectory at H = 2)\n"
                "new - logged: +4 ["));
  EXPECT_THAT(Text(),
              HasSubstr("back-test: for the logged policy the same method says 8.500 +- 0.3000, "
                        "off by +0.5\n"
                        "truth: 12.50 +- 0.20 (50 episodes)\n"
                        "verdict: caution: few episodes count\n"
                        "what each reason means and what helps: docs/evaluate.md\n"));
}

TEST_F(ScreenTextTest, OfOnePolicyTheTableStandsAboveTheAnswer) {
  const std::string text = Text();
  const std::string table = text.substr(0, text.find("\n\n") + 1);
  EXPECT_THAT(LinesWith(table, "model"), HasSubstr(" 9"));
  EXPECT_THAT(LinesWith(table, "lfiw_trajectory"),
              AllOf(HasSubstr(" 11"), HasSubstr(" 12"), HasSubstr("no support")));
}

TEST_F(ScreenTextTest, SaysNothingOfWhatIsNotKnown) {
  logged_.reset();
  PolicyEvaluation& evaluation = evaluations_.front();
  evaluation.measured.truth.reset();
  for (JudgedRow& judged : evaluation.rows) judged.evidence.back_test.reset();
  evaluation.rows[3].row.verdict = "trust";
  evaluation.rows[3].row.reason = "";
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("\nlog: 20 episodes, 600 steps of LinearGaussian\nvalue of new"));
  EXPECT_THAT(text, EndsWith("\nverdict: trust\n"));
  EXPECT_THAT(text, Not(HasSubstr("new - logged")));
  EXPECT_THAT(text, Not(HasSubstr("back-test")));
  EXPECT_THAT(text, Not(HasSubstr("truth:")));
}

TEST_F(ScreenTextTest, ThePlainModelIsNamedWithoutAHorizon) {
  evaluations_.front().measured.sweeps[0].result.horizons[1].khat = 0.9;
  EXPECT_THAT(Text(), HasSubstr("; model)\n"));
}

TEST_F(ScreenTextTest, OfSeveralPoliciesIsOneLineForEachInTheirOrder) {
  evaluations_.push_back(Evaluation("other", -1.0));
  for (JudgedRow& judged : evaluations_[1].rows) {
    judged.row.verdict = "trust";
    judged.row.reason = "";
  }
  config_.truth.enabled = true;
  const std::string text = Text();
  EXPECT_THAT(LinesWith(text, "policy  "),
              MatchesRegex("policy +estimator +value +\\+- +interval +new - logged +truth +error "
                           "+verdict\n"));
  EXPECT_THAT(
      LinesWith(text, "at H = 2"),
      MatchesRegex("new +lfiw_trajectory at H = 2 +12.00 +0.2500 +\\[11.00, 14.00\\] +\\+4 "
                   "\\[[^]]*\\] +12.50 +-0.5000 +caution\n"
                   "other +lfiw_trajectory at H = 2 +11.00 +0.2500 +\\[10.00, 13.00\\] +\\+3 "
                   "\\[[^]]*\\] +12.50 +-1.500 +trust\n"));
  // the reasons below, of those that have some
  EXPECT_THAT(text, HasSubstr("\nnew: caution: few episodes count\n"));
  EXPECT_THAT(text, Not(HasSubstr("other: ")));
  config_.truth.enabled = false;
  EXPECT_THAT(LinesWith(Text(), "policy  "), Not(HasSubstr("truth")));
  EXPECT_THAT(LinesWith(Text(), "at H = 2"), Not(HasSubstr("12.50")));
}

TEST_F(ScreenTextTest, APolicyWithoutAnEstimateHasDashesForNumbers) {
  evaluations_.push_back(Evaluation("other", -1.0));
  ResultRow& row = evaluations_[1].rows[3].row;
  row.value.reset();
  row.standard_error.reset();
  row.ci_low.reset();
  row.verdict = "do not use";
  row.reason = "no support";
  const std::string line = LinesWith(Text(), "other  ");
  EXPECT_THAT(line, HasSubstr("\xE2\x80\x93"));
  EXPECT_THAT(line, Not(HasSubstr("11")));
  EXPECT_THAT(Text(), HasSubstr("\nother: do not use: no support\n"));
}

}  // namespace
}  // namespace lfiw::experiments
