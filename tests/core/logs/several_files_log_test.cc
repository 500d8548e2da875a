#include "core/logs/several_files_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/logs/open_log.h"
#include "core/run/atomic_file.h"
#include "tests/core/test_dir.h"

namespace lfiw::core {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class SeveralFilesLogTest : public testing::Test {
 protected:
  // A CSV file of one episode of two steps with that reward.
  void Write(const std::string& name, double reward, const std::string& columns = "obs_0") const {
    const std::string more = columns == "obs_0" ? "" : ",9";
    WriteFileAtomically(dir_ / name, fmt::format("episode,t,{1},action_0,reward,terminated\n0,0,0."
                                                 "5{2},0.1,{0},0\n0,1,{0}{2},0.2,{0},1\n",
                                                 reward, columns, more));
  }

  TestDir dir_;
};

TEST_F(SeveralFilesLogTest, FilesAreOneLogInTheOrderOfTheirNames) {
  Write("part_2.csv", 2.0);
  Write("part_1.csv", 1.0);
  Write("other.csv", 7.0);
  const LoadedLog log = LoadLog(dir_ / "part_*.csv");
  EXPECT_EQ(log.batch.episodes(), 2);
  EXPECT_THAT(log.batch.rewards, ElementsAre(1.0, 1.0, 2.0, 2.0));
  EXPECT_EQ(log.counts.file_steps, 4);
  EXPECT_THAT(log.info.notes, Contains(HasSubstr("2 files are read as one log")));
  EXPECT_THAT(LogFiles(dir_ / "part_?.csv"), ElementsAre(dir_ / "part_1.csv", dir_ / "part_2.csv"));
}

TEST_F(SeveralFilesLogTest, AFileOfThatNameIsNoPattern) {
  Write("a[1].csv", 3.0);
  EXPECT_THAT(LoadLog(dir_ / "a[1].csv").batch.rewards, ElementsAre(3.0, 3.0));
}

TEST_F(SeveralFilesLogTest, FilesOfOtherSizesAndPatternsWithoutFilesAreErrors) {
  Write("part_1.csv", 1.0);
  Write("part_2.csv", 2.0, "obs_0,obs_1");
  EXPECT_THAT([&] { LoadLog(dir_ / "part_*.csv"); },
              ThrowsMessage<DataError>(
                  AllOf(HasSubstr("part_2.csv: 2 observations"), HasSubstr("part_1.csv has 1"))));
  EXPECT_THAT([&] { LoadLog(dir_ / "none_*.csv"); },
              ThrowsMessage<DataError>(HasSubstr("no file matches")));
}

}  // namespace
}  // namespace lfiw::core
