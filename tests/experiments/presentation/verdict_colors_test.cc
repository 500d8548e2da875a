#include "experiments/presentation/verdict_colors.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace lfiw::experiments {
namespace {

TEST(WithVerdictColors, ColorsTheVerdictOfTheAnswer) {
  EXPECT_EQ(WithVerdictColors("value: 3\nverdict: trust\n"),
            "value: 3\nverdict: \x1b[1;32mtrust\x1b[0m\n");
  EXPECT_EQ(WithVerdictColors("verdict: do not use: the model does not trust"),
            "verdict: \x1b[1;31mdo not use\x1b[0m: the model does not trust");
}

TEST(WithVerdictColors, ColorsTheLastCellOfATable) {
  EXPECT_EQ(WithVerdictColors("model  0  15.2  caution\nmodel  1  15.3  trust\n"),
            "model  0  15.2  \x1b[1;33mcaution\x1b[0m\nmodel  1  15.3  \x1b[1;32mtrust\x1b[0m\n");
}

TEST(WithVerdictColors, LeavesOtherTextAlone) {
  for (const char* text :
       {"", "\n", "trust", "a model to trust\n", "caution  is due\n", "new verdict: trust me\n"}) {
    EXPECT_EQ(WithVerdictColors(text), text);
  }
}

// Output of tests goes to a pipe or a file.
TEST(ShowsColors, NotWhereNoOneLooks) {
  if (isatty(STDOUT_FILENO) != 0) GTEST_SKIP() << "standard output is a terminal";
  EXPECT_FALSE(ShowsColors());
}

}  // namespace
}  // namespace lfiw::experiments
