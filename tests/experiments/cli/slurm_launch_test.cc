#include "experiments/cli/slurm_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run/atomic_file.h"
#include "core/run/sha256.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A launch of four tasks, all of which have been submitted as array 17; task 0 is done.
class SlurmLaunchTest : public ::testing::Test {
 protected:
  SlurmLaunchTest() {
    launch_.folder = dir_ / "sweep";
    launch_.name = "quick start";
    for (int t = 0; t < 4; ++t) {
      const std::string run = launch_.folder + "/" + std::to_string(t);
      launch_.tasks.push_back(
          {"lfiw run 'my file.yaml' seed=" + std::to_string(t), run, Sha256Hex("seed: 0\n")});
    }
    launch_.collect = "lfiw run 'my file.yaml' -m 'seed=range(0,4)'";
    launch_.collected = launch_.folder + "/sweep.csv";
    launch_.jobs = {"17"};
    launch_.submitted = {0, 1, 2, 3};
    launch_.collect_job = "18";
    EndRun(0, "seed: 0\n");
  }

  void EndRun(int task, const std::string& settings) const {
    const std::string run = launch_.tasks[static_cast<std::size_t>(task)].run;
    std::filesystem::create_directories(run);
    WriteFileAtomically(run + "/config.yaml", settings);
    WriteFileAtomically(run + "/manifest.json", "{}");
  }
  std::vector<std::string> StatesOf(const SlurmQueue& queue) const {
    std::vector<std::string> names;
    for (const TaskStatus& status : StatusOf(launch_, queue)) {
      names.emplace_back(EnumName(status.state));
    }
    return names;
  }

  TestDir dir_;
  SlurmLaunch launch_;
};

TEST_F(SlurmLaunchTest, TellsTasksApartByTheQueueAndTheirRuns) {
  const SlurmQueue queue = ParseQueue("17|1|RUNNING|node3\n17|2|PENDING|\n18|N/A|PENDING|\n");
  EXPECT_TRUE(queue.contains("18"));
  EXPECT_THAT(StatesOf(queue), ElementsAre("done", "running", "queued", "failed"));
  EXPECT_EQ(StatusOf(launch_, queue)[1].node, "node3");
  // an array of somebody else
  EXPECT_THAT(StatesOf(ParseQueue("171|1|RUNNING|node3\n")),
              ElementsAre("done", "failed", "failed", "failed"));
  launch_.submitted = {};
  EXPECT_THAT(StatesOf({}), ElementsAre("done", "to do", "to do", "to do"));
}

TEST_F(SlurmLaunchTest, ARunOfOtherSettingsIsNotDone) {
  EndRun(1, "seed: 1\n");
  EXPECT_FALSE(IsDone(launch_, 1));
  EndRun(1, "seed: 0\n");
  EXPECT_TRUE(IsDone(launch_, 1));
}

TEST_F(SlurmLaunchTest, AWorkerIsDoneByItsMark) {
  EXPECT_FALSE(IsDone(launch_, 2));
  std::filesystem::create_directories(launch_.folder + "/slurm");
  WriteFileAtomically(launch_.File("2.done"), launch_.tasks[2].settings + "\n");
  EXPECT_TRUE(IsDone(launch_, 2));
  WriteFileAtomically(launch_.File("2.done"), "of other settings\n");
  EXPECT_FALSE(IsDone(launch_, 2));
}

TEST_F(SlurmLaunchTest, AFailedTaskHasTheLastLineOfItsLog) {
  std::filesystem::create_directories(launch_.folder + "/slurm");
  WriteFileAtomically(launch_.LogOf(3), "fit 10 %\rfit 20 %\nlfiw: the disk is full\n\n");
  EXPECT_EQ(StatusOf(launch_, {})[3].last_line, "lfiw: the disk is full");
  EXPECT_EQ(StatusOf(launch_, {})[2].last_line, "");
}

TEST_F(SlurmLaunchTest, IsReadAsItWasWritten) {
  launch_.Save();
  const SlurmLaunch read = SlurmLaunch::Load(launch_.folder);
  EXPECT_EQ(read.tasks.size(), 4u);
  EXPECT_EQ(read.tasks[2].command, launch_.tasks[2].command);
  EXPECT_EQ(read.jobs, launch_.jobs);
  EXPECT_EQ(read.submitted, launch_.submitted);
  EXPECT_EQ(read.collect_job, "18");
  EXPECT_THROW(SlurmLaunch::Load(dir_ / "other"), DataError);
  WriteFileAtomically(launch_.File("launch.json"), "{}");
  EXPECT_THROW(SlurmLaunch::Load(launch_.folder), DataError);
}

TEST_F(SlurmLaunchTest, TheScriptHasWhatWasAsked) {
  SlurmOptions options;
  options.partition = "short";
  options.account = "rl";
  options.time = "4:00:00";
  options.memory = "8G";
  options.cpus_per_task = 2;
  options.array_parallelism = 3;
  options.sbatch = {"--constraint=avx512"};
  options.prelude = {"module load gcc"};
  const std::string script =
      ArrayScript(launch_, options, std::vector<std::int64_t>{0, 1, 3}, "/home/me");
  for (const char* line :
       {"--partition=short", "--account=rl", "--time=4:00:00", "--mem=8G", "--cpus-per-task=2",
        "--array=0-1,3%3", "--constraint=avx512", "--requeue", "--signal=B:USR1@",
        "--job-name=lfiw_quick_start", "\nmodule load gcc\n", "\ncd /home/me "}) {
    EXPECT_THAT(script, HasSubstr(line));
  }
  const std::string collect = CollectScript(launch_, options, "/home/me");
  EXPECT_THAT(collect, Not(HasSubstr("--array")));
  EXPECT_THAT(collect, HasSubstr("'lfiw run '\\''my file.yaml'\\'' -m"));
}

TEST(RangeText, JoinsNeighbors) {
  EXPECT_EQ(RangeText(std::vector<std::int64_t>{0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
  EXPECT_EQ(RangeText(std::vector<std::int64_t>{4}), "4");
}

TEST(ShellWord, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(ShellWord("seed=1"), "seed=1");
  EXPECT_EQ(ShellWord("seed=range(0,2)"), "'seed=range(0,2)'");
  EXPECT_EQ(ShellWord("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellWord(""), "''");
}

}  // namespace
}  // namespace lfiw::experiments
