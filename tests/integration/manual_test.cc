// The manual page and the completions of the program itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "experiments/presentation/subprocess.h"
#include "tests/core/test_dir.h"
#include "tests/test_paths.h"

namespace lfiw::experiments {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ProgramOutput(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {ProgramFile()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command, "", 60.0);
}

TEST(ManualOfTheProgram, HasASectionForEveryVerbOfTheHelp) {
  const std::string page = ProgramOutput({"manual", "page"});
  std::istringstream help(ProgramOutput({"--help"}));
  std::string line;
  while (std::getline(help, line) && line != "Subcommands:") continue;
  std::int64_t verbs = 0;
  while (std::getline(help, line) && line.starts_with("  ")) {
    if (line[2] == ' ') continue;  // a description that goes on
    std::string section = ".SS lfiw ";
    for (const char c : line.substr(2, line.find(' ', 2) - 2)) {
      section += c == '-' ? "\\-" : std::string(1, c);
    }
    EXPECT_THAT(page, HasSubstr(section + "\n"));
    ++verbs;
  }
  EXPECT_GE(verbs, 12);
  EXPECT_THAT(page, Not(HasSubstr(".SS lfiw manual")));
}

TEST(ManualOfTheProgram, IsShownByManWithoutWarnings) {
  const core::TestDir dir;
  std::ofstream(dir / "lfiw.1") << ProgramOutput({"manual", "page"});
  try {
    RunProgram({"man", "--version"}, "", 20.0);
    RunProgram({"groff", "--version"}, "", 20.0);
  } catch (const ProgramError&) {
    GTEST_SKIP() << "man or groff is not installed";
  }
  const std::string warnings =
      "man --warnings -E UTF-8 -l '" + (dir / "lfiw.1") + "' 2>&1 >'" + (dir / "text") + "'";
  EXPECT_EQ(RunProgram({"sh", "-c", warnings}, "", 60.0), "");
  const std::string text = RunProgram({"cat", dir / "text"}, "", 20.0);
  EXPECT_THAT(text, AllOf(HasSubstr("lfiw evaluate --data FILE --policy FILE ..."),
                          HasSubstr("EXIT STATUS"), HasSubstr("LFIW_PRODUCTS")));
}

TEST(ManualOfTheProgram, IsWhatBashCompletes) {
  const core::TestDir dir;
  std::ofstream(dir / "lfiw.bash") << ProgramOutput({"manual", "bash"});
  const auto offered = [&](const std::string& words) {
    const std::string commands = ". '" + (dir / "lfiw.bash") + "' || exit 1; COMP_WORDS=(" + words +
                                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lfiw; "
                                 "for word in \"${COMPREPLY[@]}\"; do echo \"$word\"; done";
    std::istringstream lines(RunProgram({"bash", "--norc", "-uc", commands}, "", 20.0));
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) found.push_back(line);
    return found;
  };
  EXPECT_THAT(offered("lfiw eva"), ElementsAre("evaluate"));
  EXPECT_THAT(offered("lfiw ''"), Not(Contains("manual")));
  EXPECT_THAT(offered("lfiw list e"), ElementsAre("environments", "estimators"));
  EXPECT_THAT(offered("lfiw truth --env HalfC"), Contains("HalfCheetah"));
  EXPECT_THAT(offered("lfiw collect --format ''"), ElementsAre("npz", "d4rl", "minari", "csv"));
  EXPECT_THAT(offered("lfiw evaluate --data x --reward e"), Contains("environment"));
  EXPECT_THAT(offered("lfiw evaluate --ho"), ElementsAre("--horizon"));
}

}  // namespace
}  // namespace lfiw::experiments
