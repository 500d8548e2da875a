#include "experiments/presentation/open_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/run/atomic_file.h"
#include "experiments/presentation/subprocess.h"
#include "tests/core/test_dir.h"

namespace lfiw::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// A folder that is all of PATH while a test runs.
class OpenPageTest : public ::testing::Test {
 protected:
  OpenPageTest() : path_(std::getenv("PATH")) { setenv("PATH", (dir_ / "bin").c_str(), 1); }
  ~OpenPageTest() override { setenv("PATH", path_.c_str(), 1); }

  void Install(const std::string& script) {
    std::filesystem::create_directories(dir_ / "bin");
    const std::string program = dir_ / "bin/xdg-open";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  TestDir dir_;
  std::string path_;
};

TEST_F(OpenPageTest, HandsTheFileToXdgOpen) {
  Install("echo \"$1\" > " + (dir_ / "seen") + "\n");
  OpenPage("a page.html");
  EXPECT_EQ(ReadFile(dir_ / "seen"), "a page.html\n");
}

TEST_F(OpenPageTest, SaysWhatToOpenWhereThatFailsOrIsMissing) {
  EXPECT_THAT([] { OpenPage("page.html"); },
              ThrowsMessage<ProgramError>(HasSubstr("not found; open page.html")));
  Install("exit 3\n");
  EXPECT_THAT([] { OpenPage("page.html"); },
              ThrowsMessage<ProgramError>(HasSubstr("failed; open page.html")));
}

}  // namespace
}  // namespace lfiw::experiments
