#include "experiments/cli/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class UsageTest : public ::testing::Test {
 protected:
  UsageTest() : app_("program", "lfiw") {
    app_.require_subcommand(1);
    CLI::App* evaluate = app_.add_subcommand("evaluate", "evaluate a policy");
    evaluate->add_option("--data", data_, "log file")->required();
    evaluate->add_option("--horizon", horizon_, "steps")->check(AtLeastOne());
    evaluate->add_flag("--dry-run", dry_run_, "print and stop");
    CLI::App* cache = app_.add_subcommand("cache", "look into the cache");
    cache->require_subcommand(1);
    cache->add_subcommand("prune", "delete");
  }

  // The line that a command line without its program's name gets; empty if nothing is wrong.
  std::string ErrorOf(std::vector<std::string> arguments) {
    const std::string first = arguments.empty() ? "" : arguments.front();
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    try {
      app_.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return UsageErrorText(app_, first, error);
    }
    return "";
  }

  CLI::App app_;
  std::string data_;
  std::int64_t horizon_ = 0;
  bool dry_run_ = false;
};

TEST_F(UsageTest, AMisspelledVerbIsAskedAbout) {
  EXPECT_THAT(ErrorOf({"evalute", "--data", "x"}),
              AllOf(HasSubstr("no verb 'evalute'; did you mean evaluate?"), HasSubstr("--help"),
                    Not(HasSubstr("\n"))));
  EXPECT_THAT(ErrorOf({"frobnicate"}), Not(HasSubstr("did you mean")));
}

TEST_F(UsageTest, AMisspelledOptionIsAskedAboutWithItsVerb) {
  EXPECT_THAT(ErrorOf({"evaluate", "--data", "x", "--dryrun"}),
              AllOf(HasSubstr("evaluate: '--dryrun' is not expected; did you mean --dry-run?"),
                    HasSubstr("`lfiw evaluate --help`")));
}

TEST_F(UsageTest, WhatIsMissingIsNamed) {
  EXPECT_THAT(ErrorOf({"evaluate"}), HasSubstr("evaluate: --data is required"));
}

TEST_F(UsageTest, AVerbInsideAnotherIsNamedWithIt) {
  EXPECT_THAT(ErrorOf({"cache", "prune", "now"}), HasSubstr("cache prune: 'now' is not expected"));
}

TEST_F(UsageTest, StepsAreWholeNumbersOfOneOrMore) {
  for (const char* wrong : {"0", "-3", "2.5", "many", "99999999999999999999"}) {
    const std::string text = ErrorOf({"evaluate", "--data", "x", "--horizon", wrong});
    EXPECT_THAT(text, HasSubstr("is no whole number of 1 or more")) << wrong;
    EXPECT_LT(text.size(), 160u);
  }
  EXPECT_EQ(ErrorOf({"evaluate", "--data", "x", "--horizon", "12"}), "");
}

TEST(FirstSteps, NameTheThreeCommandsThatANewcomerNeeds) {
  for (const char* verb : {"lfiw inspect", "lfiw evaluate", "lfiw run"}) {
    EXPECT_THAT(FirstStepsText(), HasSubstr(verb));
  }
}

}  // namespace
}  // namespace lfiw::experiments
