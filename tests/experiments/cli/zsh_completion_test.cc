#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/cli/completions.h"
#include "experiments/presentation/subprocess.h"
#include "tests/experiments/cli/small_program.h"

namespace lfiw::experiments {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ZshCompletionTest : public ::testing::Test {
 protected:
  std::string script_ = ZshCompletion(SmallProgram().Read());
};

TEST_F(ZshCompletionTest, HasAFunctionForEveryVerb) {
  EXPECT_THAT(script_, StartsWith("#compdef small\n"));
  for (const char* function : {"_small()", "_small_run()", "_small_cache()", "_small_cache_prune()",
                               "_small_cache_size()"}) {
    EXPECT_THAT(script_, HasSubstr(function));
  }
}

TEST_F(ZshCompletionTest, SaysWhatOptionsAndArgumentsTake) {
  EXPECT_THAT(script_, HasSubstr("'run:Run a file: it'\\''s [quick]'"));
  EXPECT_THAT(script_, HasSubstr("':FILE:_files'"));
  EXPECT_THAT(script_, HasSubstr("'*:KEY=VALUE: '"));
  EXPECT_THAT(script_, HasSubstr("'(-m --many)-m[one after the other]'"));
  EXPECT_THAT(script_, HasSubstr("'(--env)--env[environment]:ENVIRONMENT:(Ant Hopper-v5)'"));
  EXPECT_THAT(script_, HasSubstr("'(--out)--out[folder]:DIR:_files -/'"));
  EXPECT_THAT(script_, HasSubstr(":learned|FILE:{compadd -- learned; _files}'"));
  EXPECT_THAT(script_, HasSubstr("'*--policy[policies]:FILE:_files'"));
}

TEST_F(ZshCompletionTest, IsReadByZsh) {
  try {
    RunProgram({"zsh", "-n"}, "", 20.0);
  } catch (const ProgramError&) {
    GTEST_SKIP() << "zsh is not installed";
  }
  EXPECT_NO_THROW(RunProgram({"zsh", "-n"}, script_, 20.0));
}

}  // namespace
}  // namespace lfiw::experiments
