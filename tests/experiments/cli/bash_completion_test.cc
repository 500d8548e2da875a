#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "experiments/cli/completions.h"
#include "experiments/presentation/subprocess.h"
#include "tests/core/test_dir.h"
#include "tests/experiments/cli/small_program.h"

namespace lfiw::experiments {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class BashCompletionTest : public ::testing::Test {
 protected:
  BashCompletionTest() {
    std::ofstream(script_) << BashCompletion(SmallProgram().Read());
    std::filesystem::create_directory(dir_ / "folder of runs");
    std::ofstream(dir_ / "log file.npz") << "x";
  }

  // What bash offers for the last of the words; `words` are those of bash, for which "=" is one.
  std::vector<std::string> Offered(const std::string& words) const {
    const std::string commands = "cd '" + dir_.path() + "' && . '" + script_ +
                                 "' || exit 1\nCOMP_WORDS=(" + words +
                                 ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_small\n"
                                 "for word in \"${COMPREPLY[@]}\"; do echo \"$word\"; done\n";
    std::istringstream lines(RunProgram({"bash", "--norc", "-uc", commands}, "", 20.0));
    std::vector<std::string> offered;
    for (std::string line; std::getline(lines, line);) offered.push_back(line);
    return offered;
  }

  core::TestDir dir_;
  std::string script_ = dir_ / "small.bash";
};

TEST_F(BashCompletionTest, OffersVerbs) {
  EXPECT_THAT(Offered("small ''"), ElementsAre("run", "cache"));
  EXPECT_THAT(Offered("small ca"), ElementsAre("cache"));
  EXPECT_THAT(Offered("small --h"), ElementsAre("--help"));
  EXPECT_THAT(Offered("small cache ''"), ElementsAre("prune", "size"));
}

TEST_F(BashCompletionTest, OffersTheOptionsOfAVerb) {
  EXPECT_THAT(Offered("small run --f"), ElementsAre("--format"));
  EXPECT_THAT(Offered("small run -"), Contains("-m"));
  EXPECT_THAT(Offered("small run -"), Not(Contains("--cache")));
  EXPECT_THAT(Offered("small cache prune --c"), ElementsAre("--cache"));
  EXPECT_THAT(Offered("small cache size ''"), ElementsAre("-h", "--help"));
}

TEST_F(BashCompletionTest, OffersTheWordsThatAnOptionTakes) {
  EXPECT_THAT(Offered("small run --format ''"), ElementsAre("npz", "csv"));
  EXPECT_THAT(Offered("small run x.yaml --env H"), ElementsAre("Hopper-v5"));
  EXPECT_THAT(Offered("small run --env = A"), ElementsAre("Ant"));
  EXPECT_THAT(Offered("small run --env ="), ElementsAre("Ant", "Hopper-v5"));
  EXPECT_THAT(Offered("small run --threads ''"), IsEmpty());
}

TEST_F(BashCompletionTest, OffersPathsWhereTheyAreTaken) {
  EXPECT_THAT(Offered("small run l"), ElementsAre("log file.npz"));
  EXPECT_THAT(Offered("small run --reward l"), UnorderedElementsAre("learned", "log file.npz"));
  EXPECT_THAT(Offered("small run --out ''"), ElementsAre("folder of runs"));
  EXPECT_THAT(Offered("small cache prune --cache fol"), ElementsAre("folder of runs"));
}

}  // namespace
}  // namespace lfiw::experiments
