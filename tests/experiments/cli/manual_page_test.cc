#include "experiments/cli/manual_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "experiments/presentation/subprocess.h"
#include "tests/experiments/cli/small_program.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ManualPageTest : public ::testing::Test {
 protected:
  std::string page_ = ManualPage(SmallProgram().Read(), "1.2.3");
};

TEST_F(ManualPageTest, HasEveryVerbWithOptionsAndExamples) {
  for (const char* text :
       {".TH SMALL 1 \"\" \"small 1.2.3\"", ".SS small run\n", ".SS small cache prune\n",
        "\\fB\\-m\\fR, \\fB\\-\\-many\\fR\none after the other\n",
        "\\fB\\-\\-threads\\fR \\fIINT\\fR\nthreads (nonnegative)\n",
        "\\fBsmall run\\fR \\fB\\-\\-format\\fR \\fInpz|csv\\fR [\\fIoptions\\fR] \\fIconfig\\fR "
        "[\\fIoverrides\\fR ...]\n"}) {
    EXPECT_THAT(page_, HasSubstr(text));
  }
  EXPECT_THAT(page_, Not(HasSubstr("secret")));
}

TEST_F(ManualPageTest, PrintsWhatRoffWouldTakeForItself) {
  EXPECT_THAT(page_, HasSubstr("  small run \\(aqa\\-b.yaml\\(aq \\e\n"));
  EXPECT_THAT(
      ManualPage({.name = "p", .description = ".d", .examples = "", .options = {}, .verbs = {}},
                 "1"),
      HasSubstr("\n\\&.d\n"));
}

TEST_F(ManualPageTest, HasTheExitStatusOfTheDocumentation) {
  std::ifstream docs(SourceFile("docs/results.md"));
  std::string line;
  while (std::getline(docs, line) && line != "## Exit status") continue;
  std::int64_t rows = 0;
  while (std::getline(docs, line) && !line.starts_with("## ")) {
    if (!line.starts_with("| ") || line.starts_with("| ---") || line.starts_with("| status")) {
      continue;
    }
    const std::size_t middle = line.find(" | ");
    std::string expected = "\\fB" + line.substr(2, middle - 2) + "\\fR\n";
    for (const char c : line.substr(middle + 3, line.size() - middle - 5)) {
      expected += c == '-' ? "\\-" : std::string(1, c);
    }
    EXPECT_THAT(page_, HasSubstr(expected + "\n"));
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

TEST_F(ManualPageTest, IsFormattedWithoutWarnings) {
  try {
    RunProgram({"groff", "--version"}, "", 20.0);
  } catch (const ProgramError&) {
    GTEST_SKIP() << "groff is not installed";
  }
  // what is wrong goes to standard error, which is the output here
  const std::string command = "groff -man -Tutf8 -ww -z 2>&1 -";
  EXPECT_EQ(RunProgram({"sh", "-c", command}, page_, 20.0), "");
}

}  // namespace
}  // namespace lfiw::experiments
