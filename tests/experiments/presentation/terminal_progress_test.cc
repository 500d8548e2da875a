#include "experiments/presentation/terminal_progress.h"

#include <gtest/gtest.h>

namespace lfiw::experiments {
namespace {

TEST(WorkCount, DoesNotCountWhatWasFoundDoneInItsRate) {
  const WorkCount work{.total = 1000, .done = 700, .resumed = 600};
  EXPECT_DOUBLE_EQ(work.Share(), 0.7);
  EXPECT_DOUBLE_EQ(work.Rate(50.0), 2.0);
  EXPECT_DOUBLE_EQ(work.SecondsLeft(50.0), 150.0);
}

TEST(WorkCount, SaysNothingOfTheTimeLeftBeforeAnythingWasDone) {
  EXPECT_EQ((WorkCount{.total = 10, .done = 5, .resumed = 5}).SecondsLeft(3.0), 0.0);
  EXPECT_EQ((WorkCount{.total = 10}).Rate(0.0), 0.0);
}

TEST(WorkCount, MoreThanTheTotalIsAllOfIt) {
  const WorkCount work{.total = 10, .done = 12};
  EXPECT_EQ(work.Share(), 1.0);
  EXPECT_EQ(work.SecondsLeft(1.0), 0.0);
}

TEST(ProgressLine, IsNoWiderThanTheTerminal) {
  const auto line = [](std::size_t columns) {
    return ProgressLine("fit dynamics", 0.5, "1234 gradient steps/s", "loss 0.1234", "2m 03s left",
                        columns);
  };
  EXPECT_EQ(line(200),
            "  fit dynamics                 [############............]  50%  1234 gradient "
            "steps/s, loss 0.1234  2m 03s left");
  for (const std::size_t columns : {110u, 100u, 90u, 80u, 60u, 20u}) {
    EXPECT_LT(line(columns).size(), columns) << columns;
  }
  EXPECT_NE(line(80).find("2m 03s left"), std::string::npos);
  EXPECT_EQ(line(80).find("loss"), std::string::npos);
}

TEST(FormatDuration, ChoosesItsUnits) {
  EXPECT_EQ(FormatDuration(4.12), "4.1s");
  EXPECT_EQ(FormatDuration(200.0), "3m 20s");
  EXPECT_EQ(FormatDuration(3720.0), "1h 02m");
}

}  // namespace
}  // namespace lfiw::experiments
